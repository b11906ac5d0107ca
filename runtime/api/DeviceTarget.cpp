//===- DeviceTarget.cpp - the targets that run plans ----------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Artifact/BuildPlan.h"
#include "codegen/CudaCpp/CudaCpp.h"
#include "codegen/Pipelines/CudaPipeline.h"
#include "dialect/RayTile/RayTile.h"
#include "kernels_gen/prelude/Prelude.h"
#include "runtime/api/AttendBuilder.h"
#include "runtime/api/CompileTarget.h"
#include "runtime/api/CompilerContext.h"
#include "runtime/api/DeviceCode.h"
#include "runtime/api/DeviceSchedule.h"
#include "runtime/api/StatusError.h"
#include "runtime/device/Devices.h"
#include "runtime/device/cuda/CudaDevice.h"
#include "runtime/device/simt/SimtDevice.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace raytention;

/// Whether `op` holds ops on tiles in buffers.
static bool hasTiles(Operation *op) {
  return op->walk([](tile::ComputeOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

namespace {

/// CUDA C++ on any device that loads it.
class DeviceTarget : public CompileTarget {
public:
  explicit DeviceTarget(StringRef name) : name(name) {}

  llvm::Error check(const CompileOptions &options) const override {
    if (options.backward)
      return makeError(StatusCode::Unsupported,
                       "target " + name +
                           ": expected no gradients, got backward, "
                           "which is not there yet; use target cpu");
    return checkMachine();
  }

  bool isStreaming() const override { return true; }

  llvm::Expected<Schedules>
  chooseSchedules(ArrayAttr channels, const AttentionSpec &spec,
                  const CompileOptions &options,
                  const KeyStatistics &keys) const override {
    auto schedule = chooseDeviceSchedule(channels, spec, options, keys.numKeys);
    if (!schedule)
      return schedule.takeError();
    return Schedules{*schedule, {}};
  }

  SmallVector<PipelineStage> getStages(const CompileOptions &) const override {
    return SmallVector<PipelineStage>(getCudaStages());
  }

  llvm::Expected<bool> isFinished(ModuleOp module) const override {
    return isPlan(module);
  }

  StringRef findNextStage(ModuleOp module,
                          const CompileOptions &options) const override {
    auto func =
        dyn_cast_or_null<func::FuncOp>(module.lookupSymbol(kAttendName));
    if (func && hasTiles(func))
      return "kernels";
    if (hasTiles(module))
      return "plan";
    // Without results it is on buffers: a plan, or code for the CPU.
    if (!func || func.getNumResults() == 0)
      return "";
    return findStreamingStage(module, options);
  }

  llvm::Expected<std::unique_ptr<BackEnd>>
  compile(ModuleOp module, const CompileOptions &options) const override;

private:
  virtual llvm::Error checkMachine() const = 0;
  virtual llvm::Expected<std::shared_ptr<device::Device>> open() const = 0;

  StringRef name;
};

class SimtTarget : public DeviceTarget {
public:
  SimtTarget() : DeviceTarget("simt") {}

private:
  llvm::Error checkMachine() const override { return llvm::Error::success(); }
  llvm::Expected<std::shared_ptr<device::Device>> open() const override {
    device::SimtOptions options;
    options.launch.profile = false;
    return device::createSimtDevice(options);
  }
};

class CudaTarget : public DeviceTarget {
public:
  CudaTarget() : DeviceTarget("cuda") {}

private:
  llvm::Error checkMachine() const override {
    return device::findCudaDriver().takeError();
  }
  llvm::Expected<std::shared_ptr<device::Device>> open() const override {
    return device::openDevice(device::DeviceKind::Cuda);
  }
};

} // namespace

/// The CUDA C++ of each module, in their order.
static llvm::Expected<std::vector<nvrtc::Source>>
printSources(const BuiltPlan &built, MLIRContext *context) {
  DiagnosticCapture diagnostics(context);
  std::vector<nvrtc::Source> sources;
  for (gpu::GPUModuleOp kernels : built.modules) {
    FailureOr<std::string> text = printCuda(kernels);
    if (failed(text))
      return diagnostics.takeError("expected kernels with a form in CUDA C++");
    sources.push_back(makeKernelSource(std::move(*text)));
  }
  return sources;
}

llvm::Expected<std::unique_ptr<BackEnd>>
DeviceTarget::compile(ModuleOp module, const CompileOptions &options) const {
  if (!isPlan(module))
    return llvm::createStringError(
        "target " + name +
        ": expected a plan with kernels after its stages, got a module without "
        "any; give an attention, or a plan");
  DiagnosticCapture diagnostics(module.getContext());
  FailureOr<BuiltPlan> built = buildPlan(module, kAttendName);
  if (failed(built))
    return diagnostics.takeError("expected a plan");
  auto sources = printSources(*built, module.getContext());
  if (!sources)
    return sources.takeError();
  auto device = open();
  if (!device)
    return device.takeError();
  auto runner =
      plan::PlanRunner::compile(*device, std::move(built->plan), *sources);
  if (!runner)
    return runner.takeError();
  return std::make_unique<DeviceCode>(std::move(*runner), options.workspaceCap);
}

const CompileTarget &raytention::getSimtTarget() {
  static const SimtTarget target;
  return target;
}

const CompileTarget &raytention::getCudaTarget() {
  static const CudaTarget target;
  return target;
}
