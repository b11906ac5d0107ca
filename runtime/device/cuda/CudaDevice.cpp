//===- CudaDevice.cpp - a GPU as a device ---------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cuda/CudaDevice.h"

#include "runtime/device/cuda/CudaObjects.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace raytention;
using namespace raytention::device;
using namespace raytention::device::cuda;

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

Expected<CudaDriverInfo> device::findCudaDriver() {
  auto driver = Driver::open();
  if (!driver)
    return driver.takeError();
  Expected<int> count = (*driver)->deviceCount();
  if (!count)
    return addContext(count.takeError(), Problem::Missing, "cuda");
  return CudaDriverInfo{(*driver)->path(), (*driver)->version(), *count};
}

Expected<std::shared_ptr<Device>> device::createCudaDevice(int ordinal) {
  auto driver = Driver::open();
  if (!driver)
    return driver.takeError();
  Expected<int> count = (*driver)->deviceCount();
  if (!count)
    return addContext(count.takeError(), Problem::Missing, "cuda");
  if (ordinal < 0 || ordinal >= *count)
    return makeError(Problem::Missing,
                     "cuda: expected a GPU of number " + Twine(ordinal) +
                         ", got " + Twine(*count) +
                         " GPUs; check that it is there and not hidden by "
                         "CUDA_VISIBLE_DEVICES");
  auto device = std::make_shared<CudaDevice>(*driver, ordinal);
  if (Error error = device->initialize(ordinal))
    return addContext(std::move(error), "open");
  return device;
}

CudaDevice::CudaDevice(std::shared_ptr<Driver> driver, int ordinal)
    : Device(DeviceKind::Cuda, "cuda:" + std::to_string(ordinal)),
      driver(std::move(driver)) {}

CudaDevice::~CudaDevice() {
  // Nobody is left who could be told.
  if (ownStream)
    consumeError(call(driver->cuStreamDestroy_v2, ownStream));
  if (context)
    consumeError(driver->call(driver->cuDevicePrimaryCtxRelease_v2, device));
}

Error CudaDevice::initialize(int ordinal) {
  if (Error error = driver->call(driver->cuDeviceGet, &device, ordinal))
    return addContext(std::move(error), name());
  if (Error error =
          driver->call(driver->cuDevicePrimaryCtxRetain, &context, device))
    return addContext(std::move(error), name());
  if (Error error =
          call(driver->cuStreamCreate, &ownStream, kNonBlockingStream))
    return error;
  return readCapabilities();
}

Error CudaDevice::readCapabilities() {
  char text[256] = {};
  if (Error error =
          call(driver->cuDeviceGetName, text, int(sizeof(text) - 1), device))
    return error;
  size_t bytes = 0;
  if (Error error = call(driver->cuDeviceTotalMem_v2, &bytes, device))
    return error;
  limits.description = text;
  limits.memoryBytes = int64_t(bytes);
  limits.loadsCuda = limits.loadsPtx = limits.loadsCubin = true;
  return readLimits();
}

Error CudaDevice::readLimits() {
  int64_t major = 0, minor = 0, warp = 0, processors = 0;
  const std::pair<DeviceAttribute, int64_t *> wanted[] = {
      {MaxThreadsPerBlock, &limits.maxThreadsPerBlock},
      {MaxBlockX, &limits.maxBlock.x},
      {MaxBlockY, &limits.maxBlock.y},
      {MaxBlockZ, &limits.maxBlock.z},
      {MaxGridX, &limits.maxGrid.x},
      {MaxGridY, &limits.maxGrid.y},
      {MaxGridZ, &limits.maxGrid.z},
      {WarpSize, &warp},
      {Multiprocessors, &processors},
      {CapabilityMajor, &major},
      {CapabilityMinor, &minor},
      {MaxSharedPerBlockOptin, &limits.maxSharedBytes}};
  for (auto [attribute, to] : wanted) {
    int value = 0;
    if (Error error =
            call(driver->cuDeviceGetAttribute, &value, attribute, device))
      return error;
    *to = value;
  }
  limits.warpSize = int(warp);
  limits.processors = int(processors);
  limits.computeCapability = int(major * 10 + minor);
  limits.copiesTensors = limits.computeCapability >= kTensorMapCapability &&
                         driver->cuTensorMapEncodeTiled;
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

void *CudaDevice::handleOf(const Stream *stream) const {
  return stream ? static_cast<const CudaStream *>(stream)->get() : ownStream;
}

Error CudaDevice::finish(const Stream *stream) const {
  return stream ? Error::success()
                : call(driver->cuStreamSynchronize, ownStream);
}

void CudaDevice::keepForLater(Error error) {
  if (!error)
    return;
  std::string text = toString(std::move(error));
  std::lock_guard<std::mutex> lock(mutex);
  if (late.empty())
    late = std::move(text);
}

Error CudaDevice::synchronize() {
  Error error = call(driver->cuCtxSynchronize);
  std::lock_guard<std::mutex> lock(mutex);
  if (!late.empty())
    error = joinErrors(std::move(error),
                       makeError(Problem::LaunchFailed, std::move(late)));
  late.clear();
  return error;
}

Expected<std::unique_ptr<Buffer>> CudaDevice::doAllocate(int64_t bytes) {
  uint64_t address = 0;
  // The driver refuses to allocate nothing.
  if (bytes > 0)
    if (Error error = call(driver->cuMemAlloc_v2, &address, size_t(bytes)))
      return addContext(std::move(error),
                        "allocate " + Twine(bytes) + " bytes");
  return std::make_unique<CudaBuffer>(shared_from_this(), address, bytes);
}

Expected<EncodedTensorMap>
CudaDevice::doEncodeTensorMap(const TensorMap &map) const {
  EncodedTensorMap encoded;
  // The driver takes no stride of dimension 0.
  if (Error error = call(driver->cuTensorMapEncodeTiled, encoded.bytes.data(),
                         int(map.element), uint32_t(map.rank), map.base,
                         map.size.data(), map.stride.data() + 1, map.box.data(),
                         map.step.data(), kNotInterleaved, int(map.swizzle),
                         kPromoteTo128Bytes, int(map.fillNaN)))
    return addContext(std::move(error), "tensor map");
  return encoded;
}

Expected<std::unique_ptr<Stream>> CudaDevice::createStream() {
  void *handle = nullptr;
  if (Error error = call(driver->cuStreamCreate, &handle, kNonBlockingStream))
    return error;
  return std::make_unique<CudaStream>(shared_from_this(), handle);
}

Expected<std::unique_ptr<Event>> CudaDevice::createEvent() {
  void *handle = nullptr;
  if (Error error = call(driver->cuEventCreate, &handle, 0u))
    return error;
  return std::make_unique<CudaEvent>(shared_from_this(), handle);
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// Machine code of this GPU where NVRTC knows it, else PTX of the newest
/// architecture below, which the driver finishes.
Expected<std::string>
CudaDevice::chooseArch(const nvrtc::Compiler &nvrtc) const {
  nvrtc::Version version = nvrtc.version();
  int driverMajor = driver->version() / 1000;
  if (version.major > driverMajor)
    return makeError(Problem::Missing,
                     name() + ": expected a driver for CUDA " +
                         Twine(version.major) + ", as NVRTC " +
                         Twine(version.major) + "." + Twine(version.minor) +
                         " is, got one for CUDA " + Twine(driverMajor) + "." +
                         Twine(driver->version() % 1000 / 10) +
                         "; update the driver, or set RT_NVRTC to an NVRTC of "
                         "version " +
                         Twine(driverMajor));
  int capability = limits.computeCapability, below = 0;
  for (int arch : nvrtc.architectures()) {
    if (arch == capability)
      return "sm_" + std::to_string(arch) + (arch >= 90 ? "a" : "");
    if (arch < capability)
      below = std::max(below, arch);
  }
  if (below)
    return "compute_" + std::to_string(below);
  return makeError(Problem::Missing,
                   name() +
                       ": expected an NVRTC that knows compute "
                       "capability " +
                       Twine(capability) + ", got " + Twine(version.major) +
                       "." + Twine(version.minor) +
                       "; set RT_NVRTC to another version");
}

Device::LoadedModule CudaDevice::loadCuda(const nvrtc::Source &source,
                                          StringRef arch) {
  auto nvrtc = compiler.get(name());
  if (!nvrtc)
    return nvrtc.takeError();
  Expected<std::string> target =
      arch.empty() ? chooseArch(**nvrtc) : Expected<std::string>(arch.str());
  if (!target)
    return target.takeError();
  auto compiled = (*nvrtc)->compile(source, *target);
  if (!compiled)
    return addContext(compiled.takeError(), Problem::BuildFailed,
                      name() + ": load");
  nvrtc::Compiled image = std::move(*compiled);
  // Moving the image leaves its bytes where they are.
  const void *bytes = image.cubin.empty()
                          ? static_cast<const void *>(image.ptx.c_str())
                          : image.cubin.data();
  return load(bytes, std::move(image));
}

Device::LoadedModule CudaDevice::loadPtx(StringRef text) {
  return load(text.str().c_str(), std::nullopt);
}

Device::LoadedModule CudaDevice::loadCubin(ArrayRef<char> bytes) {
  if (bytes.size() < 64 || StringRef(bytes.data(), 4) != "\x7f"
                                                         "ELF")
    return makeError(Problem::BuildFailed,
                     name() + ": load: expected a cubin (an ELF file), got " +
                         Twine(bytes.size()) + " other bytes");
  return load(bytes.data(), std::nullopt);
}

Device::LoadedModule CudaDevice::load(const void *image,
                                      std::optional<nvrtc::Compiled> compiled) {
  std::vector<char> log(16384, '\0');
  int options[] = {ErrorLogBuffer, ErrorLogBufferBytes};
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size() - 1)};
  void *handle = nullptr;
  if (Error error = call(driver->cuModuleLoadDataEx, &handle, image, 2u,
                         options, values)) {
    std::string text = toString(std::move(error));
    if (log[0])
      text += std::string("\n") + log.data();
    return makeError(Problem::BuildFailed, "load: " + text);
  }
  return std::make_unique<CudaModule>(shared_from_this(), handle,
                                      std::move(compiled));
}
