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
class Attribute;
class DialectRegistry;
class Operation;
} // namespace mlir

namespace raytention::tile {

/// Ops of rt bufferize to rt_tile.compute. One with initial values writes their
/// buffers; one without gets new ones.
void registerBufferization(mlir::DialectRegistry &registry);

/// The memory space of a buffer that is made where `op` stands: shared memory
/// in the body of an scf.forall, which is a kernel's; else none, global memory.
mlir::Attribute getMemorySpace(mlir::Operation *op);

} // namespace raytention::tile

#endif // RAYTENTION_DIALECT_RAYTILE_BUFFERIZATION_H
