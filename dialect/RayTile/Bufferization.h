//===- Bufferization.h - buffers for the ops of rt ----------------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_DIALECT_RAYTILE_BUFFERIZATION_H
#define RAYTENTION_DIALECT_RAYTILE_BUFFERIZATION_H

namespace mlir {
class DialectRegistry;
class OpOperand;
class Operation;
} // namespace mlir

namespace raytention::tile {

/// Ops of rt bufferize to rt_tile.compute: a result with an initial value is
/// written to that one's buffer, any other one to a new buffer.
void registerBufferization(mlir::DialectRegistry &registry);

/// The operand that a result of an op of rt starts from, or null: it starts from
/// nothing.
mlir::OpOperand *getInit(mlir::Operation *op, unsigned result);

} // namespace raytention::tile

#endif // RAYTENTION_DIALECT_RAYTILE_BUFFERIZATION_H
