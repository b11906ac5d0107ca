//===- HostTarget.cpp - the targets that run in this process --------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Artifact/BuildPlan.h"
#include "dialect/RayTention/RayTention.h"
#include "passes/Pipelines/ReferencePipeline.h"
#include "runtime/api/AttendBuilder.h"
#include "runtime/api/CompileTarget.h"
#include "runtime/api/HostCode.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace raytention;

namespace {

/// What the two have in common.
class HostTarget : public CompileTarget {
public:
  llvm::Error check(const CompileOptions &) const override {
    return llvm::Error::success();
  }

  llvm::Expected<bool> isFinished(ModuleOp module) const override {
    if (isPlan(module))
      return llvm::createStringError(
          "expected a module that a target on the CPU can compile, got a plan "
          "with kernels; use target simt or cuda");
    return false;
  }

  StringRef findNextStage(ModuleOp module,
                          const CompileOptions &options) const override {
    auto func =
        dyn_cast_or_null<func::FuncOp>(module.lookupSymbol(kAttendName));
    if (!func)
      return "";
    if (module.lookupSymbol((kAttendName + "_entry").str()))
      return "llvm";
    if (func.getNumResults() == 0)
      return "cpu";
    return findTensorStage(module, options);
  }

private:
  virtual StringRef findTensorStage(ModuleOp module,
                                    const CompileOptions &options) const = 0;
};

class CpuTarget : public HostTarget {
public:
  bool isStreaming() const override { return true; }

  llvm::Expected<Schedules>
  chooseSchedules(ArrayAttr channels, const AttentionSpec &spec,
                  const CompileOptions &options,
                  const KeyStatistics &keys) const override {
    return buildSchedules(channels, spec, options, keys);
  }

  SmallVector<PipelineStage>
  getStages(const CompileOptions &options) const override {
    return SmallVector<PipelineStage>(options.backward ? getCpuGradientStages()
                                                       : getCpuStages());
  }

  llvm::Expected<std::unique_ptr<BackEnd>>
  compile(ModuleOp module, const CompileOptions &options) const override {
    return HostCode::compile(module, options, OptimizationEffort::Full);
  }

private:
  StringRef findTensorStage(ModuleOp module,
                            const CompileOptions &options) const override {
    return findStreamingStage(module, options);
  }
};

class ReferenceTarget : public HostTarget {
public:
  bool isStreaming() const override { return false; }

  llvm::Error check(const CompileOptions &options) const override {
    if (int64_t rows = options.schedule.queryChunk)
      return llvm::createStringError("expected no query chunk for target "
                                     "reference, got " +
                                     Twine(rows));
    if (options.schedule.space == Schedule::Space::Folded)
      return llvm::createStringError("expected schedule auto or direct for "
                                     "target reference, got folded");
    if (options.schedule.family != Schedule::Family::Stored)
      return llvm::Error::success();
    return llvm::createStringError("expected schedule family auto or fused for "
                                   "target reference, got stored");
  }

  llvm::Expected<Schedules>
  chooseSchedules(ArrayAttr, const AttentionSpec &, const CompileOptions &,
                  const KeyStatistics &) const override {
    return Schedules();
  }

  /// With gradients, the first stage differentiates.
  SmallVector<PipelineStage>
  getStages(const CompileOptions &options) const override {
    SmallVector<PipelineStage> stages(getReferenceStages());
    if (options.backward)
      stages.front().build = buildReferenceGradientPipeline;
    return stages;
  }

  llvm::Expected<std::unique_ptr<BackEnd>>
  compile(ModuleOp module, const CompileOptions &options) const override {
    return HostCode::compile(module, options, OptimizationEffort::Quick);
  }

private:
  StringRef findTensorStage(ModuleOp, const CompileOptions &) const override {
    return "reference";
  }
};

} // namespace

StringRef raytention::findStreamingStage(ModuleOp module,
                                         const CompileOptions &options) {
  if (options.backward && !module.lookupSymbol(kBackwardName))
    return "gradient";
  bool hasAttend = false;
  module.lookupSymbol(kAttendName)->walk([&](AttendOp) { hasAttend = true; });
  return hasAttend ? "sweeps" : "products";
}

const CompileTarget &raytention::getCpuTarget() {
  static const CpuTarget target;
  return target;
}

const CompileTarget &raytention::getReferenceTarget() {
  static const ReferenceTarget target;
  return target;
}

const CompileTarget &raytention::getCompileTarget(TargetKind kind) {
  switch (kind) {
  case TargetKind::Cpu:
    return getCpuTarget();
  case TargetKind::Reference:
    return getReferenceTarget();
  case TargetKind::Simt:
    return getSimtTarget();
  case TargetKind::Cuda:
    return getCudaTarget();
  }
  llvm_unreachable("every target is listed");
}
