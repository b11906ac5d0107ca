//===- Schedule.h - what the tiling passes read from a function -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_PASSES_TILE_SCHEDULE_H
#define RAYTENTION_PASSES_TILE_SCHEDULE_H

#include "dialect/RayTention/RayTention.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace raytention {

/// The option `scores`: a plan, or the function's own.
enum class ScoreChoice { FromSchedule, Keep, Recompute };

/// The schedule on a function, `rt.schedule`, or the default one; an error if
/// the attribute is something else.
mlir::FailureOr<ScheduleAttr> getSchedule(mlir::func::FuncOp func);

/// Whether a function's schedule is of the family `fused`, or it has none.
bool isFused(mlir::func::FuncOp func);

/// A size given as an option (0: not given) or by the schedule; an error for
/// negative ones, naming the option.
mlir::FailureOr<int64_t> chooseSize(mlir::func::FuncOp func,
                                    llvm::StringRef option, int64_t given,
                                    int64_t (ScheduleAttr::*scheduled)() const);

} // namespace raytention

#endif // RAYTENTION_PASSES_TILE_SCHEDULE_H
