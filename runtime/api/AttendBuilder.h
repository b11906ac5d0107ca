//===- AttendBuilder.h - the module of an attention -------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_API_ATTENDBUILDER_H
#define RAYTENTION_RUNTIME_API_ATTENDBUILDER_H

#include "dialect/RayTention/RayTention.h"
#include "raytention/Attention.h"
#include "runtime/api/ChooseSchedule.h"
#include "runtime/api/KeyStatistics.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace raytention {

/// The name of the function that an attention is compiled from.
constexpr llvm::StringLiteral kAttendName = "attend";
/// The name of its gradient, once differentiated.
constexpr llvm::StringLiteral kBackwardName = "attend_backward";
/// The attribute on it that holds its schedule.
constexpr llvm::StringLiteral kScheduleName = "rt.schedule";
/// That of its gradient, where it is another one.
constexpr llvm::StringLiteral kBackwardScheduleName = "rt.backward_schedule";

/// The schedules of an attention and of its gradient; null where a target has
/// none.
struct Schedules {
  ScheduleAttr forward, backward;

  bool operator==(const Schedules &other) const {
    return forward == other.forward && backward == other.backward;
  }
  /// Puts them on the function.
  void set(mlir::Operation *func) const;
};

/// The channels of `spec` as attributes; an error lists the known ones. Also
/// checks that everything else of the spec is in range.
llvm::Expected<mlir::ArrayAttr> buildChannels(mlir::MLIRContext &context,
                                              const AttentionSpec &spec);

/// The default schedules for `channels` and `numKeys` keys, 0: not known, on
/// the CPU under the options.
llvm::Expected<Schedules> buildSchedules(mlir::ArrayAttr channels,
                                         const AttentionSpec &spec,
                                         const CompileOptions &options,
                                         const KeyStatistics &keys);

/// A module with @attend(queries, table, ids, tau, gammas, offset, lengths) ->
/// (signals, norm, indices), and log_sums where they are saved for a gradient;
/// B, Tq, T and V dynamic.
mlir::OwningOpRef<mlir::ModuleOp> buildAttendModule(mlir::ArrayAttr channels,
                                                    const Schedules &schedules,
                                                    const AttentionSpec &spec,
                                                    bool savesLogSums);

} // namespace raytention

#endif // RAYTENTION_RUNTIME_API_ATTENDBUILDER_H
