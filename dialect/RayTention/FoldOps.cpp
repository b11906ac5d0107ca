//===- FoldOps.cpp - verifiers of the ops on token lists ------ -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/RayTention.h"
#include "dialect/RayTention/ShapeChecker.h"
#include "dialect/RayTention/SweepLayout.h"

using namespace mlir;
using namespace raytention;

static Type elementOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType();
}

MutableOperandRange FoldKeysOp::getDpsInitsMutable() {
  auto [begin, size] = getODSOperandIndexAndLength(4);
  return MutableOperandRange(*this, begin, size + 1);
}

LogicalResult DistinctOp::verify() {
  ShapeChecker shapes(*this);
  Type i32 = IntegerType::get(getContext(), 32), id = elementOf(getIds());
  if (!id.isInteger(32) && !id.isInteger(64))
    return emitOpError() << "C1: expected ids of i32 or i64, got " << id;
  return success(
      succeeded(shapes.check("C1", "ids", getIds(), {"B", "T"}, id)) &&
      succeeded(shapes.check("C1", "slots", getSlots(), {"B", "T"}, i32)) &&
      succeeded(shapes.check("C1", "tokens", getTokens(), {"B", "T"}, id)) &&
      succeeded(shapes.check("C1", "seen", getSeen(), {"T"}, i32)));
}

LogicalResult FoldKeysOp::verify() {
  Type element = elementOf(getMasses());
  if (!element.isF32() && !element.isF64())
    return emitOpError() << "C2: expected masses of f32 or f64, got "
                         << element;
  ShapeChecker shapes(*this);
  if (failed(verifyChannelList(*this, "C1", getChannels())) ||
      failed(shapes.check("C1", "gammas", getGammas(), {"n"}, element)) ||
      failed(verifyGammas(*this, "C1", getChannels(), getGammas())))
    return failure();
  SweepLayout layout = SweepLayout::get(getChannels());
  shapes.bind("K", layout.numPositions + 1);
  shapes.bind("M", layout.numMasses);
  Type i32 = IntegerType::get(getContext(), 32);
  Type i64 = IntegerType::get(getContext(), 64);
  return success(
      succeeded(shapes.check("C2", "slots", getSlots(), {"B", "T"}, i32)) &&
      succeeded(shapes.check("C2", "positions", getPositions(), {"B", "K", "U"},
                             i32)) &&
      succeeded(shapes.check("C2", "masses", getMasses(), {"B", "M", "U"},
                             element)) &&
      succeeded(shapes.check("C2", "lengths", getLengths(), {"B"}, i64)));
}
