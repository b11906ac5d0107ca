//===- LoopBuilder.h - loops on buffers ---------------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_DIALECT_LOOPBUILDER_H
#define RAYTENTION_DIALECT_LOOPBUILDER_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace raytention {

/// Writes index arithmetic, loops and accesses to buffers: the frame of element
/// programs, for every target.
class LoopBuilder {
public:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<mlir::Value>;

  LoopBuilder(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}

  mlir::OpBuilder &b;
  mlir::Location loc;

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
};

} // namespace raytention

#endif // RAYTENTION_DIALECT_LOOPBUILDER_H
