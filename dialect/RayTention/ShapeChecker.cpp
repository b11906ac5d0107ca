//===- ShapeChecker.cpp - named sizes for verifiers ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/ShapeChecker.h"
#include "dialect/RayTention/RayTention.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace raytention;

int64_t ShapeChecker::getSize(StringRef name) const {
  auto it = sizes.find(name);
  return it == sizes.end() ? ShapedType::kDynamic : it->second;
}

LogicalResult ShapeChecker::check(StringRef constraint, StringRef what,
                                  Value value, ArrayRef<StringRef> dims,
                                  Type element) {
  if (!value)
    return success();
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getRank() != static_cast<int64_t>(dims.size()) ||
      (element && type.getElementType() != element)) {
    InFlightDiagnostic error = op->emitOpError()
                               << constraint << ": expected " << what << " ["
                               << llvm::join(dims, ", ") << "]";
    if (element)
      error << " of " << element;
    return error << ", got " << type;
  }
  for (auto [name, size] : llvm::zip(dims, type.getShape())) {
    if (ShapedType::isDynamic(size) && llvm::isLower(name.front()))
      return op->emitOpError() << constraint << ": expected " << what
                               << " with a static " << name << ", got " << type;
    auto [it, isNew] = sizes.insert({name, size});
    if (isNew || ShapedType::isDynamic(size))
      continue;
    if (ShapedType::isDynamic(it->second))
      it->second = size;
    if (it->second != size)
      return op->emitOpError()
             << constraint << ": expected " << what << " with " << name << " = "
             << it->second << ", got " << type;
  }
  return success();
}

Type raytention::getStoredType(Value rows, Type element) {
  if (!rows || !element.isF32())
    return element;
  Type stored = cast<RankedTensorType>(rows.getType()).getElementType();
  return stored.isBF16() ? stored : element;
}

LogicalResult raytention::verifyChannelList(Operation *op, StringRef constraint,
                                            ArrayAttr channels) {
  for (auto [index, attr] : llvm::enumerate(channels))
    if (!isa<ChannelInterface>(attr))
      return op->emitOpError() << constraint << ": expected a channel at index "
                               << index << " of the list, got " << attr;
  return success();
}

LogicalResult raytention::verifyGammas(Operation *op, StringRef constraint,
                                       ArrayAttr channels, Value gammas) {
  auto type = cast<RankedTensorType>(gammas.getType());
  int64_t count = type.getRank() == 1 ? type.getDimSize(0) : 0;
  for (Attribute channel : channels)
    if (failed(cast<ChannelInterface>(channel).verifyChannel(
            [&] { return op->emitOpError() << constraint << ": "; }, count)))
      return failure();
  return success();
}

LogicalResult raytention::verifyMask(Operation *op, StringRef constraint,
                                     Attribute mask) {
  if (!mask || isa<CausalAttr>(mask))
    return success();
  return op->emitOpError() << constraint
                           << ": expected the mask #rt.causal, got " << mask
                           << ", which is not supported yet";
}
