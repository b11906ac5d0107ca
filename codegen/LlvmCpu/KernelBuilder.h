//===- KernelBuilder.h - loops and vectors for the CPU kernels ------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_CODEGEN_LLVMCPU_KERNELBUILDER_H
#define RAYTENTION_CODEGEN_LLVMCPU_KERNELBUILDER_H

#include "codegen/LlvmCpu/TileLayout.h"
#include "dialect/RayTention/LoopBuilder.h"

namespace raytention {

/// Emits scf, memref and vector ops; index arithmetic folds constants.
class KernelBuilder : public LoopBuilder {
public:
  KernelBuilder(mlir::OpBuilder &b, mlir::Location loc,
                const TileLayout &layout)
      : LoopBuilder(b, loc), layout(layout) {}

  const TileLayout &layout;

  /// `lanes` elements, widened to the accumulators' type.
  Value loadVector(Value memref, mlir::ValueRange indices);
  /// `lanes` positions (i32), as they stand.
  Value loadPositions(Value memref, mlir::ValueRange indices);
  /// Asks for what stands there, to be read soon; it need not exist.
  void prefetch(Value memref, mlir::ValueRange indices);
  void storeVector(Value value, Value memref, mlir::ValueRange indices);
  /// A scalar float in the accumulators' type.
  Value widen(Value value);
  Value splat(Value scalar);
  Value zero();        ///< scalar
  Value zeroVector();  ///< vector
  Value laneIndices(); ///< 0, 1, ... as i32
  /// The sum of a vector's elements, pairwise: a chain of additions would wait
  /// for each in turn.
  Value sumLanes(Value vector);
};

} // namespace raytention

#endif // RAYTENTION_CODEGEN_LLVMCPU_KERNELBUILDER_H
