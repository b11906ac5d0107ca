//===- CompileTarget.h - how one kind of target compiles --------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_API_COMPILETARGET_H
#define RAYTENTION_RUNTIME_API_COMPILETARGET_H

#include "codegen/Pipelines/CpuPipeline.h"
#include "dialect/RayTention/RayTention.h"
#include "runtime/api/AttendBuilder.h"
#include "runtime/api/BackEnd.h"
#include "runtime/api/KeyStatistics.h"

#include "mlir/IR/BuiltinOps.h"

namespace raytention {

/// What depends on the target between a module and code that runs.
class CompileTarget {
public:
  virtual ~CompileTarget() = default;

  /// Errors: the options ask for what this target does not do; the machine
  /// lacks what it needs.
  virtual llvm::Error check(const CompileOptions &options) const = 0;
  /// Whether it streams over key chunks, by a schedule: then gradients read
  /// log-sums that the forward function saves.
  virtual bool isStreaming() const = 0;
  /// Its schedules of an attention for such keys. Errors:
  /// sizes that do not fit it.
  virtual llvm::Expected<Schedules>
  chooseSchedules(mlir::ArrayAttr channels, const AttentionSpec &spec,
                  const CompileOptions &options,
                  const KeyStatistics &keys) const = 0;
  /// The stages, in their order.
  virtual llvm::SmallVector<PipelineStage>
  getStages(const CompileOptions &options) const = 0;
  /// Whether a module that is given stands as it is: its names stay, and no
  /// schedule is added. An error where it is made for another kind of target.
  virtual llvm::Expected<bool> isFinished(mlir::ModuleOp module) const = 0;
  /// The first stage that `module` has not been through; "" after all.
  virtual llvm::StringRef
  findNextStage(mlir::ModuleOp module, const CompileOptions &options) const = 0;
  /// Code of a module that has been through all stages.
  virtual llvm::Expected<std::unique_ptr<BackEnd>>
  compile(mlir::ModuleOp module, const CompileOptions &options) const = 0;
};

const CompileTarget &getCompileTarget(TargetKind kind);

/// The next stage of a streaming target while the module has tensors.
llvm::StringRef findStreamingStage(mlir::ModuleOp module,
                                   const CompileOptions &options);

/// The targets whose code is that of this process.
const CompileTarget &getCpuTarget();
const CompileTarget &getReferenceTarget();
/// The targets that run plans.
const CompileTarget &getSimtTarget();
const CompileTarget &getCudaTarget();

} // namespace raytention

#endif // RAYTENTION_RUNTIME_API_COMPILETARGET_H
