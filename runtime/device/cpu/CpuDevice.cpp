//===- CpuDevice.cpp - the CPU as a device --------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/CpuDevice.h"

#include "runtime/device/HostQueue.h"

#include <cstdlib>
#include <limits>
#include <mutex>

using namespace llvm;
using namespace raytention;
using namespace raytention::device;

/// Wide enough for any vector load.
static constexpr int64_t kAlignment = 256;

namespace {

class CpuBuffer : public HostBuffer {
public:
  using HostBuffer::HostBuffer;
  ~CpuBuffer() override { std::free(memory()); }
};

class CpuDevice : public HostDevice {
public:
  explicit CpuDevice(int threads);

  LoadedModule loadEntryPoints(ArrayRef<EntryPoint> entries) override;

  /// One launch at a time: each uses all workers.
  Error run(const EntryPoint &entry, const LaunchShape &shape,
            const Arguments &arguments);

private:
  Expected<std::unique_ptr<Buffer>> doAllocate(int64_t bytes) override;

  std::mutex mutex;
  cpu::WorkerPool pool;
};

class CpuKernel : public Kernel {
public:
  CpuKernel(std::shared_ptr<Device> owner, EntryPoint entry)
      : Kernel(std::move(owner), infoOf(entry)), entry(std::move(entry)) {}

private:
  static KernelInfo infoOf(const EntryPoint &entry) {
    KernelInfo info;
    info.name = entry.name;
    info.argumentBytes = entry.argumentBytes;
    return info;
  }
  Error run(Stream *, const LaunchShape &shape,
            const Arguments &arguments) override {
    return static_cast<CpuDevice &>(device()).run(entry, shape, arguments);
  }

  EntryPoint entry;
};

class CpuModule : public Module {
public:
  CpuModule(std::shared_ptr<Device> owner, ArrayRef<EntryPoint> entries)
      : Module(std::move(owner), std::nullopt), entries(entries.vec()) {}

  Expected<std::unique_ptr<Kernel>> getKernel(StringRef name) override {
    std::vector<std::string> known;
    for (const EntryPoint &entry : entries) {
      if (entry.name == name)
        return std::make_unique<CpuKernel>(device().shared_from_this(), entry);
      known.push_back(entry.name);
    }
    return noSuchKernel(device(), name, known);
  }

private:
  std::vector<EntryPoint> entries;
};

} // namespace

CpuDevice::CpuDevice(int threads)
    : HostDevice(DeviceKind::Cpu, "cpu"),
      pool(threads > 0 ? threads : cpu::getDefaultThreads()) {
  limits.processors = pool.threads();
  constexpr int64_t any = std::numeric_limits<int32_t>::max();
  // The product of three extents fits an int64_t.
  limits.maxGrid = {any, 65535, 65535};
  limits.maxSharedBytes = limits.memoryBytes;
  limits.loadsEntryPoints = true;
}

Expected<std::unique_ptr<Buffer>> CpuDevice::doAllocate(int64_t bytes) {
  int64_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  void *memory = rounded ? std::aligned_alloc(kAlignment, rounded) : nullptr;
  if (rounded && !memory)
    return makeError(Problem::OutOfMemory,
                     "cpu: allocate: expected " + Twine(bytes) +
                         " bytes from the system, got a refusal");
  return std::make_unique<CpuBuffer>(shared_from_this(), memory, bytes);
}

Device::LoadedModule CpuDevice::loadEntryPoints(ArrayRef<EntryPoint> entries) {
  for (const EntryPoint &entry : entries)
    if (!entry.function)
      return makeError(Problem::BuildFailed, "cpu: load: entry point " +
                                                 entry.name +
                                                 ": expected a function, got "
                                                 "null");
  return std::make_unique<CpuModule>(shared_from_this(), entries);
}

Error CpuDevice::run(const EntryPoint &entry, const LaunchShape &shape,
                     const Arguments &arguments) {
  std::vector<void *> pointers = arguments.pointers();
  int64_t tasks = shape.grid.x * shape.grid.y * shape.grid.z;
  ForkGuard guard; // a child could not unlock the mutex
  std::lock_guard<std::mutex> lock(mutex);
  return addContext(pool.parallelFor(entry.function, tasks, shape.sharedBytes,
                                     pointers.data()),
                    Problem::OutOfMemory, "cpu: kernel " + entry.name);
}

std::shared_ptr<Device> device::createCpuDevice(int threads) {
  return std::make_shared<CpuDevice>(threads);
}
