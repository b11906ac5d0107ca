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

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace raytention {

/// Emits scf, memref and vector ops; index arithmetic folds constants.
class KernelBuilder {
public:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<mlir::Value>;

  KernelBuilder(mlir::OpBuilder &b, mlir::Location loc,
                const TileLayout &layout)
      : b(b), loc(loc), layout(layout) {}

  mlir::OpBuilder &b;
  mlir::Location loc;
  const TileLayout &layout;

  Value index(int64_t value);
  Value add(Value a, Value c);
  Value add(Value a, int64_t c);
  Value mul(Value a, int64_t c);
  Value min(Value a, Value c);
  /// a / c and a % c for a >= 0.
  Value div(Value a, int64_t c);
  Value rem(Value a, int64_t c);
  /// ceil(a / c) for a >= 0.
  Value ceilDiv(Value a, int64_t c);
  Value toIndex(Value integer);
  Value toI32(Value index);

  /// for (iv = lower; iv < upper; iv += step) body(iv)
  void loop(Value lower, Value upper, int64_t step,
            llvm::function_ref<void(Value)> body);
  /// The same with values carried from step to step.
  Values carry(Value lower, Value upper, int64_t step, mlir::ValueRange init,
               llvm::function_ref<Values(Value, mlir::ValueRange)> body);
  void ifThen(Value condition, llvm::function_ref<void()> body);
  void ifElse(Value condition, llvm::function_ref<void()> thenBody,
              llvm::function_ref<void()> elseBody);
  /// thenBody's value where the condition holds, else elseBody's.
  Value ifElseValue(Value condition, mlir::Type type,
                    llvm::function_ref<Value()> thenBody,
                    llvm::function_ref<Value()> elseBody);

  Value load(Value memref, mlir::ValueRange indices);
  void store(Value value, Value memref, mlir::ValueRange indices);
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
