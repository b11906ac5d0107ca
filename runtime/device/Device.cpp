//===- Device.cpp - what all devices check --------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/LaunchCheck.h"

using namespace llvm;
using namespace raytention;
using namespace raytention::device;

StringRef device::getName(DeviceKind kind) {
  return kind == DeviceKind::Cpu    ? "cpu"
         : kind == DeviceKind::Simt ? "simt"
                                    : "cuda";
}

DeviceObject::~DeviceObject() = default;
Device::~Device() = default;

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Error Buffer::checkRange(const char *what, const Stream *stream,
                         const void *host, int64_t count,
                         int64_t offset) const {
  if (count < 0 || offset < 0 || offset > bytes || count > bytes - offset)
    return makeError(Problem::InvalidArgument,
                     device().name() + ": " + what +
                         ": expected a range within the buffer's " +
                         Twine(bytes) + " bytes, got " + Twine(count) +
                         " bytes at " + Twine(offset));
  if (count > 0 && !host)
    return makeError(Problem::InvalidArgument,
                     device().name() + ": " + what +
                         ": expected host memory, got a null pointer");
  return stream ? checkOwner(device(), what, "a stream", *stream)
                : Error::success();
}

Error Buffer::copyFrom(const void *host, int64_t count, int64_t offset) {
  if (Error error = checkRange("copy in", nullptr, host, count, offset))
    return error;
  return count ? write(nullptr, base + offset, host, count) : Error::success();
}

Error Buffer::copyTo(void *host, int64_t count, int64_t offset) const {
  if (Error error = checkRange("copy out", nullptr, host, count, offset))
    return error;
  return count ? read(nullptr, host, base + offset, count) : Error::success();
}

Error Buffer::fill(uint8_t value, int64_t count, int64_t offset) {
  if (Error error = checkRange("fill", nullptr, &value, count, offset))
    return error;
  return count ? set(nullptr, base + offset, value, count) : Error::success();
}

Error Buffer::copyFromAsync(Stream &stream, const void *host, int64_t count,
                            int64_t offset) {
  if (Error error = checkRange("copy in", &stream, host, count, offset))
    return error;
  return count ? write(&stream, base + offset, host, count) : Error::success();
}

Error Buffer::copyToAsync(Stream &stream, void *host, int64_t count,
                          int64_t offset) const {
  if (Error error = checkRange("copy out", &stream, host, count, offset))
    return error;
  return count ? read(&stream, host, base + offset, count) : Error::success();
}

Error Buffer::fillAsync(Stream &stream, uint8_t value, int64_t count,
                        int64_t offset) {
  if (Error error = checkRange("fill", &stream, &value, count, offset))
    return error;
  return count ? set(&stream, base + offset, value, count) : Error::success();
}

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

Error Stream::record(Event &event) {
  if (Error error = checkOwner(device(), "record", "an event", event))
    return error;
  if (Error error = doRecord(event))
    return error;
  event.recorded = true;
  return Error::success();
}

Error Stream::wait(const Event &event) {
  if (Error error = checkOwner(device(), "wait", "an event", event))
    return error;
  if (Error error = event.checkRecorded("wait"))
    return error;
  return doWait(event);
}

Error Event::checkRecorded(const char *what) const {
  if (recorded)
    return Error::success();
  return makeError(Problem::InvalidArgument,
                   device().name() + ": " + what +
                       ": expected an event that a stream recorded, got one "
                       "that none has");
}

Error Event::synchronize() const {
  if (Error error = checkRecorded("synchronize"))
    return error;
  return doSynchronize();
}

Expected<bool> Event::isDone() const {
  if (Error error = checkRecorded("query"))
    return error;
  return queryDone();
}

Expected<double> Event::millisecondsSince(const Event &start) const {
  if (Error error = checkOwner(device(), "elapsed time", "an event", start))
    return error;
  if (Error error = checkRecorded("elapsed time"))
    return error;
  if (Error error = start.checkRecorded("elapsed time"))
    return error;
  return elapsed(start);
}

//===----------------------------------------------------------------------===//
// Kernels and modules
//===----------------------------------------------------------------------===//

Error Kernel::start(Stream *stream, const LaunchShape &shape,
                    const Arguments &arguments) {
  if (stream)
    if (Error error = checkOwner(device(), "launch", "a stream", *stream))
      return error;
  if (Error error = checkLaunch(*this, shape, arguments))
    return error;
  if (shape.grid.x == 0 || shape.grid.y == 0 || shape.grid.z == 0)
    return Error::success();
  return run(stream, shape, arguments);
}

Error Kernel::launch(const LaunchShape &shape, const Arguments &arguments) {
  return start(nullptr, shape, arguments);
}

Error Kernel::launchAsync(Stream &stream, const LaunchShape &shape,
                          const Arguments &arguments) {
  return start(&stream, shape, arguments);
}

std::string Module::loweredName(StringRef name) const {
  if (compilation) {
    auto it = compilation->loweredNames.find(name.str());
    if (it != compilation->loweredNames.end())
      return it->second;
  }
  return name.str();
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

Expected<std::unique_ptr<Buffer>> Device::allocate(int64_t bytes) {
  if (bytes < 0)
    return makeError(Problem::InvalidArgument,
                     name() + ": allocate: expected 0 bytes or more, got " +
                         Twine(bytes));
  if (bytes > limits.memoryBytes)
    return makeError(Problem::OutOfMemory,
                     name() + ": allocate: expected at most the device's " +
                         Twine(limits.memoryBytes) + " bytes, got " +
                         Twine(bytes));
  return doAllocate(bytes);
}

Expected<EncodedTensorMap>
Device::encodeTensorMap(const Buffer &buffer, int64_t offset,
                        const TensorShape &shape) const {
  if (!limits.copiesTensors)
    return noTensorMaps();
  if (Error error = checkOwner(*this, "tensor map", "a buffer", buffer))
    return error;
  TensorMap map{shape, buffer.address() + uint64_t(offset)};
  if (Error error = checkTensorMap(map))
    return addContext(std::move(error), Problem::InvalidArgument, name());
  uint64_t bytes = map.bytesSpanned();
  if (offset < 0 || offset > buffer.size() ||
      bytes > uint64_t(buffer.size() - offset))
    return makeError(Problem::InvalidArgument,
                     name() +
                         ": tensor map: expected a tensor within the "
                         "buffer's " +
                         Twine(buffer.size()) + " bytes, got " + Twine(bytes) +
                         " bytes at " + Twine(offset));
  return doEncodeTensorMap(map);
}

Expected<EncodedTensorMap> Device::doEncodeTensorMap(const TensorMap &) const {
  return noTensorMaps();
}

Error Device::noTensorMaps() const {
  int capability = limits.computeCapability;
  std::string got = "no GPU";
  if (capability >= kTensorMapCapability)
    got = "a driver without cuTensorMapEncodeTiled; update it";
  else if (capability > 0)
    got = "one of " + std::to_string(capability / 10) + "." +
          std::to_string(capability % 10);
  return makeError(Problem::NotSupported,
                   name() +
                       ": tensor map: expected a GPU of compute "
                       "capability 9.0 or newer, or the simt device, got " +
                       got);
}

Error Device::notSupported(const Twine &expected, const Twine &got) const {
  return makeError(Problem::NotSupported,
                   name() + ": load: expected " + expected + ", got " + got);
}

/// What `device` takes as a module, in words.
static std::string loadable(const Capabilities &limits) {
  std::string words;
  auto add = [&](bool can, const char *word) {
    if (can)
      words += (words.empty() ? "" : " or ") + std::string(word);
  };
  add(limits.loadsCuda, "CUDA C++");
  add(limits.loadsPtx, "PTX");
  add(limits.loadsCubin, "a cubin");
  add(limits.loadsEntryPoints, "compiled entry points");
  return words;
}

Device::LoadedModule Device::loadCuda(const nvrtc::Source &, StringRef) {
  return notSupported(loadable(limits), "CUDA C++");
}

Device::LoadedModule Device::loadPtx(StringRef) {
  return notSupported(loadable(limits), "PTX");
}

Device::LoadedModule Device::loadCubin(ArrayRef<char>) {
  return notSupported(loadable(limits), "a cubin");
}

Device::LoadedModule Device::loadEntryPoints(ArrayRef<EntryPoint>) {
  return notSupported(loadable(limits), "compiled entry points");
}
