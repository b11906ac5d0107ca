//===- SimtDevice.cpp - the PTX machine as a device -----------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/SimtDevice.h"

#include "runtime/device/HostQueue.h"
#include "runtime/device/LazyCompiler.h"
#include "runtime/device/simt/TensorMap.h"

#include <limits>

using namespace llvm;
using namespace raytention;
using namespace raytention::device;

char FindingsError::ID;

/// Of the findings of a launch, those that its error shows.
static constexpr size_t kShownFindings = 5;

namespace {

class SimtDevice : public HostDevice {
public:
  explicit SimtDevice(SimtOptions options);

  LoadedModule loadCuda(const nvrtc::Source &source, StringRef arch) override;
  LoadedModule loadPtx(StringRef text) override;

  /// One launch at a time: each uses all workers, and memory stands still.
  Expected<simt::Report> run(const simt::Module &module, StringRef entry,
                             const LaunchShape &shape,
                             ArrayRef<uint8_t> arguments);
  void free(void *memory);
  int setWorkers(int threads);

private:
  Expected<std::unique_ptr<Buffer>> doAllocate(int64_t bytes) override;
  Expected<EncodedTensorMap>
  doEncodeTensorMap(const TensorMap &map) const override;
  LoadedModule load(StringRef text, std::optional<nvrtc::Compiled> compiled);

  SimtOptions options;
  LazyCompiler compiler;
  std::mutex mutex;
  simt::Memory memory;
  int64_t buffers = 0; ///< so far: their names in findings
};

class SimtBuffer : public HostBuffer {
public:
  using HostBuffer::HostBuffer;
  ~SimtBuffer() override { static_cast<SimtDevice &>(device()).free(memory()); }
};

class SimtKernel : public Kernel {
public:
  SimtKernel(std::shared_ptr<Device> owner, simt::Module code,
             const simt::Entry &entry)
      : Kernel(std::move(owner), infoOf(entry)), code(std::move(code)),
        entry(entry) {}

  std::shared_ptr<const simt::Report> report() const {
    std::lock_guard<std::mutex> lock(mutex);
    return last;
  }

private:
  static KernelInfo infoOf(const simt::Entry &entry);
  Error run(Stream *, const LaunchShape &shape,
            const Arguments &arguments) override;

  simt::Module code;
  simt::Entry entry;
  mutable std::mutex mutex;
  std::shared_ptr<const simt::Report> last;
};

class SimtModule : public Module {
public:
  SimtModule(std::shared_ptr<Device> owner, simt::Module code,
             std::optional<nvrtc::Compiled> compiled)
      : Module(std::move(owner), std::move(compiled)), code(std::move(code)) {}

  Expected<std::unique_ptr<Kernel>> getKernel(StringRef name) override {
    if (const simt::Entry *entry = code.findEntry(loweredName(name)))
      return std::make_unique<SimtKernel>(device().shared_from_this(), code,
                                          *entry);
    std::vector<std::string> known;
    for (const simt::Entry &entry : code.entries())
      known.push_back(entry.name);
    return noSuchKernel(device(), name, known);
  }

private:
  simt::Module code;
};

} // namespace

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

KernelInfo SimtKernel::infoOf(const simt::Entry &entry) {
  KernelInfo info;
  info.name = entry.name;
  info.argumentBytes.emplace();
  for (const simt::Parameter &parameter : entry.parameters)
    info.argumentBytes->push_back(parameter.size);
  info.staticSharedBytes = entry.staticSharedBytes;
  info.maxThreads = entry.maxThreads;
  return info;
}

/// Each argument at its parameter's place.
static std::vector<uint8_t> packed(const simt::Entry &entry,
                                   const Arguments &arguments) {
  std::vector<uint8_t> bytes(entry.parameterBytes, 0);
  for (size_t i = 0; i < arguments.size(); ++i)
    llvm::copy(arguments.bytes(i), bytes.begin() + entry.parameters[i].offset);
  return bytes;
}

static Error findingsError(const Kernel &kernel,
                           std::shared_ptr<const simt::Report> report) {
  std::string text = kernel.device().name() + ": kernel " + kernel.info().name +
                     ": expected no finding, got " +
                     std::to_string(report->findingsInAll) + ":";
  size_t shown = std::min(report->findings.size(), kShownFindings);
  for (size_t i = 0; i < shown; ++i)
    text += "\n  " + report->findings[i].text();
  if (report->findings.size() > shown)
    text += "\n  and at " + std::to_string(report->findings.size() - shown) +
            " more places";
  return make_error<FindingsError>(std::move(text), std::move(report));
}

Error SimtKernel::run(Stream *, const LaunchShape &shape,
                      const Arguments &arguments) {
  Expected<simt::Report> launched = static_cast<SimtDevice &>(device()).run(
      code, entry.name, shape, packed(entry, arguments));
  if (!launched)
    return addContext(launched.takeError(), Problem::LaunchFailed,
                      device().name() + ": kernel " + entry.name);
  auto report = std::make_shared<const simt::Report>(std::move(*launched));
  {
    std::lock_guard<std::mutex> lock(mutex);
    last = report;
  }
  return report->clean() ? Error::success() : findingsError(*this, report);
}

std::shared_ptr<const simt::Report> device::lastReport(const Kernel &kernel) {
  const auto *ofSimt = dynamic_cast<const SimtKernel *>(&kernel);
  return ofSimt ? ofSimt->report() : nullptr;
}

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

SimtDevice::SimtDevice(SimtOptions options)
    : HostDevice(DeviceKind::Simt, "simt"), options(std::move(options)) {
  limits.description = "PTX machine on " + limits.description;
  limits.processors = this->options.launch.threads
                          ? int(this->options.launch.threads)
                          : cpu::getDefaultThreads();
  limits.warpSize = 32;
  limits.maxThreadsPerBlock = 1024;
  limits.maxBlock = {1024, 1024, 64};
  limits.maxGrid = {std::numeric_limits<int32_t>::max(), 65535, 65535};
  limits.maxSharedBytes = 227 * 1024; // the most of any architecture
  limits.loadsCuda = limits.loadsPtx = limits.findsFaults = true;
  limits.copiesTensors = true;
}

Expected<std::unique_ptr<Buffer>> SimtDevice::doAllocate(int64_t bytes) {
  if (bytes == 0)
    return std::make_unique<SimtBuffer>(shared_from_this(), nullptr, 0);
  std::lock_guard<std::mutex> lock(mutex);
  Expected<void *> place =
      memory.allocate(bytes, "buffer " + std::to_string(buffers));
  if (!place)
    return addContext(place.takeError(), Problem::OutOfMemory,
                      "simt: allocate");
  ++buffers;
  return std::make_unique<SimtBuffer>(shared_from_this(), *place, bytes);
}

Expected<EncodedTensorMap>
SimtDevice::doEncodeTensorMap(const TensorMap &map) const {
  EncodedTensorMap encoded;
  if (Error error = simt::encode(map, encoded.bytes.data()))
    return addContext(std::move(error), Problem::InvalidArgument, name());
  return encoded;
}

void SimtDevice::free(void *place) {
  if (!place)
    return;
  std::lock_guard<std::mutex> lock(mutex);
  // It was allocated here, so it is there.
  cantFail(memory.remove(place));
}

Device::LoadedModule SimtDevice::load(StringRef text,
                                      std::optional<nvrtc::Compiled> compiled) {
  Expected<simt::Module> code = simt::parse(text);
  if (!code)
    return addContext(code.takeError(), Problem::BuildFailed, "simt: load");
  return std::make_unique<SimtModule>(shared_from_this(), std::move(*code),
                                      std::move(compiled));
}

Device::LoadedModule SimtDevice::loadPtx(StringRef text) {
  return load(text, std::nullopt);
}

Device::LoadedModule SimtDevice::loadCuda(const nvrtc::Source &source,
                                          StringRef arch) {
  auto nvrtc = compiler.get(name());
  if (!nvrtc)
    return nvrtc.takeError();
  nvrtc::Source withLines = source;
  withLines.lineInfo = true; // findings name the CUDA line
  auto compiled =
      (*nvrtc)->compile(withLines, arch.empty() ? options.arch : arch.str());
  if (!compiled)
    return addContext(compiled.takeError(), Problem::BuildFailed, "simt: load");
  // Not in one expression: the text lives in what is moved.
  std::string text = compiled->ptx;
  return load(text, std::move(*compiled));
}

Expected<simt::Report> SimtDevice::run(const simt::Module &module,
                                       StringRef entry,
                                       const LaunchShape &shape,
                                       ArrayRef<uint8_t> arguments) {
  auto dim = [](const Dim3 &d) {
    return simt::Dim3{uint32_t(d.x), uint32_t(d.y), uint32_t(d.z)};
  };
  std::lock_guard<std::mutex> lock(mutex);
  return simt::launch(module, entry, dim(shape.grid), dim(shape.block),
                      uint32_t(shape.sharedBytes), arguments, memory,
                      options.launch);
}

int SimtDevice::setWorkers(int threads) {
  std::lock_guard<std::mutex> lock(mutex);
  options.launch.threads = threads ? threads : cpu::getDefaultThreads();
  return options.launch.threads;
}

int device::setWorkers(Device &device, int threads) {
  auto *simt = dynamic_cast<SimtDevice *>(&device);
  return simt ? simt->setWorkers(threads) : 1;
}

std::shared_ptr<Device> device::createSimtDevice(const SimtOptions &options) {
  return std::make_shared<SimtDevice>(options);
}
