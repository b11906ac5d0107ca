//===- TaskShape.h - what a parallel loop works on ------------------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_CODEGEN_LLVMCPU_TASKSHAPE_H
#define RAYTENTION_CODEGEN_LLVMCPU_TASKSHAPE_H

#include "dialect/RayTention/RayTention.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace raytention {

/// What the ops of a task show of it.
struct TaskShape {
  PairSide side;           ///< whose tiles the last loop counts
  mlir::FloatType element; ///< accumulators
  int64_t width;           ///< D; 1 where no op has rows of that width
};

/// Fails, with an error, where two ops show different things.
mlir::FailureOr<TaskShape> findTaskShape(mlir::scf::ForallOp loop);

} // namespace raytention

#endif // RAYTENTION_CODEGEN_LLVMCPU_TASKSHAPE_H
