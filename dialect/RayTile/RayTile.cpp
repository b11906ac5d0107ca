//===- RayTile.cpp - the rt_tile dialect --------------------------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTile/RayTile.h"
#include "dialect/RayTile/Bufferization.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace raytention::tile;

#include "dialect/RayTile/RayTileDialect.cpp.inc"

#define GET_OP_CLASSES
#include "dialect/RayTile/RayTileOps.cpp.inc"

void RayTileDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialect/RayTile/RayTileOps.cpp.inc"
      >();
}

Value ComputeOp::getBuffer(Value operand) {
  auto argument = dyn_cast<BlockArgument>(operand);
  if (!argument || argument.getOwner() != &getBody().front())
    return {};
  return (*this)->getOperand(argument.getArgNumber());
}

LogicalResult ComputeOp::verify() {
  Block &block = getBody().front();
  if (block.getNumArguments() != getNumOperands())
    return emitOpError() << "C1: expected one block argument per buffer, got "
                         << block.getNumArguments() << " for "
                         << getNumOperands();
  for (auto [argument, buffer] :
       llvm::zip(block.getArguments(), getOperands())) {
    Type tensor = memref::getTensorTypeFromMemRefType(buffer.getType());
    if (argument.getType() != tensor)
      return emitOpError() << "C1: expected a block argument of type " << tensor
                           << ", got " << argument.getType();
  }
  return success();
}

LogicalResult ComputeOp::verifyRegions() {
  Block &block = getBody().front();
  if (!llvm::hasNItems(block, 2))
    return emitOpError() << "C2: expected one op and a yield in its body";
  ValueRange yielded = block.getTerminator()->getOperands();
  if (!llvm::equal(yielded, getOp()->getResults()))
    return emitOpError() << "C2: expected all results of the op to be yielded";
  auto outs = block.getArguments().take_back(getOutputs().size());
  if (TypeRange(yielded) != TypeRange(ValueRange(outs)))
    return emitOpError() << "C2: expected results of the types of the buffers";
  for (Value operand : getOp()->getOperands())
    if (isa<TensorType>(operand.getType()) && !getBuffer(operand))
      return emitOpError()
             << "C3: expected the op to read block arguments, got " << operand;
  for (auto [number, argument] : llvm::enumerate(outs))
    if (OpOperand *init = getInit(getOp(), number))
      if (init->get() != argument)
        return emitOpError() << "C4: expected result " << number
                             << " of the op to start from its own buffer";
  return success();
}

void ComputeOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &operand : (*this)->getOpOperands()) {
    effects.emplace_back(MemoryEffects::Read::get(), &operand);
    if (operand.getOperandNumber() >= getInputs().size())
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
  }
}
