//===- CudaObjects.cpp - what belongs to a GPU ----------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cuda/CudaObjects.h"

using namespace llvm;
using namespace raytention;
using namespace raytention::device;
using namespace raytention::device::cuda;

static CudaDevice &deviceOf(const DeviceObject &object) {
  return static_cast<CudaDevice &>(object.device());
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

CudaBuffer::~CudaBuffer() {
  CudaDevice &device = deviceOf(*this);
  if (address())
    device.keepForLater(device.call(device.api().cuMemFree_v2, address()));
}

Error CudaBuffer::write(Stream *stream, uint64_t to, const void *from,
                        int64_t count) {
  CudaDevice &device = deviceOf(*this);
  if (Error error = device.call(device.api().cuMemcpyHtoDAsync_v2, to, from,
                                size_t(count), device.handleOf(stream)))
    return error;
  return device.finish(stream);
}

Error CudaBuffer::read(Stream *stream, void *to, uint64_t from,
                       int64_t count) const {
  CudaDevice &device = deviceOf(*this);
  if (Error error = device.call(device.api().cuMemcpyDtoHAsync_v2, to, from,
                                size_t(count), device.handleOf(stream)))
    return error;
  return device.finish(stream);
}

Error CudaBuffer::set(Stream *stream, uint64_t to, uint8_t value,
                      int64_t count) {
  CudaDevice &device = deviceOf(*this);
  if (Error error = device.call(device.api().cuMemsetD8Async, to, value,
                                size_t(count), device.handleOf(stream)))
    return error;
  return device.finish(stream);
}

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

CudaStream::~CudaStream() {
  CudaDevice &device = deviceOf(*this);
  device.keepForLater(device.call(device.api().cuStreamDestroy_v2, handle));
}

Error CudaStream::synchronize() {
  CudaDevice &device = deviceOf(*this);
  return device.call(device.api().cuStreamSynchronize, handle);
}

Error CudaStream::doRecord(Event &event) {
  CudaDevice &device = deviceOf(*this);
  return device.call(device.api().cuEventRecord,
                     static_cast<CudaEvent &>(event).get(), handle);
}

Error CudaStream::doWait(const Event &event) {
  CudaDevice &device = deviceOf(*this);
  return device.call(device.api().cuStreamWaitEvent, handle,
                     static_cast<const CudaEvent &>(event).get(), 0u);
}

CudaEvent::~CudaEvent() {
  CudaDevice &device = deviceOf(*this);
  device.keepForLater(device.call(device.api().cuEventDestroy_v2, handle));
}

Error CudaEvent::doSynchronize() const {
  CudaDevice &device = deviceOf(*this);
  return device.call(device.api().cuEventSynchronize, handle);
}

Expected<bool> CudaEvent::queryDone() const {
  CudaDevice &device = deviceOf(*this);
  Expected<int> result = device.resultOf(device.api().cuEventQuery, handle);
  if (!result)
    return result.takeError();
  if (*result == NotReady)
    return false;
  if (Error error = device.api().check("cuEventQuery", *result))
    return addContext(std::move(error), device.name());
  return true;
}

Expected<double> CudaEvent::elapsed(const Event &start) const {
  CudaDevice &device = deviceOf(*this);
  float milliseconds = 0;
  if (Error error =
          device.call(device.api().cuEventElapsedTime, &milliseconds,
                      static_cast<const CudaEvent &>(start).get(), handle))
    return error;
  return double(milliseconds);
}

//===----------------------------------------------------------------------===//
// Modules and kernels
//===----------------------------------------------------------------------===//

LoadedImage::~LoadedImage() {
  auto &device = static_cast<CudaDevice &>(*owner);
  // A kernel of the image may still run.
  device.keepForLater(device.call(device.api().cuCtxSynchronize));
  device.keepForLater(device.call(device.api().cuModuleUnload, handle));
}

/// Bytes of each argument; newer drivers tell. The first number beyond the last
/// argument is an invalid value, so no error here.
static Error readArgumentBytes(CudaDevice &device, void *function,
                               KernelInfo &info) {
  if (!device.api().cuFuncGetParamInfo)
    return Error::success();
  info.argumentBytes.emplace();
  while (true) {
    size_t offset = 0, bytes = 0;
    Expected<int> result =
        device.resultOf(device.api().cuFuncGetParamInfo, function,
                        info.argumentBytes->size(), &offset, &bytes);
    if (!result)
      return result.takeError();
    if (*result != Success)
      return Error::success();
    info.argumentBytes->push_back(int64_t(bytes));
  }
}

static Expected<KernelInfo> readInfo(CudaDevice &device, void *function,
                                     StringRef name) {
  KernelInfo info;
  info.name = name.str();
  const std::pair<FunctionAttribute, int64_t *> wanted[] = {
      {FunctionMaxThreads, &info.maxThreads},
      {FunctionStaticShared, &info.staticSharedBytes},
      {FunctionRegisters, &info.registers}};
  for (auto [attribute, to] : wanted) {
    int value = 0;
    if (Error error = device.call(device.api().cuFuncGetAttribute, &value,
                                  attribute, function))
      return error;
    *to = value;
  }
  if (Error error = readArgumentBytes(device, function, info))
    return error;
  return info;
}

Expected<std::unique_ptr<Kernel>> CudaModule::getKernel(StringRef name) {
  CudaDevice &device = deviceOf(*this);
  void *function = nullptr;
  std::string lowered = loweredName(name);
  if (Error error = device.call(device.api().cuModuleGetFunction, &function,
                                image->get(), lowered.c_str()))
    return addContext(std::move(error), "kernel '" + name + "'");
  Expected<KernelInfo> info = readInfo(device, function, lowered);
  if (!info)
    return info.takeError();
  return std::make_unique<CudaKernel>(device.shared_from_this(), image,
                                      function, std::move(*info));
}

/// Beyond 48 KiB a kernel has to be told how much it may get.
Error CudaKernel::allowShared(int64_t bytes) {
  constexpr int64_t alwaysAllowed = 48 * 1024;
  std::lock_guard<std::mutex> lock(mutex);
  if (bytes <= allowedShared ||
      bytes + info().staticSharedBytes <= alwaysAllowed)
    return Error::success();
  CudaDevice &device = deviceOf(*this);
  if (Error error = device.call(device.api().cuFuncSetAttribute, handle,
                                FunctionMaxDynamicShared, int(bytes)))
    return error;
  allowedShared = bytes;
  return Error::success();
}

Error CudaKernel::run(Stream *stream, const LaunchShape &shape,
                      const Arguments &arguments) {
  CudaDevice &device = deviceOf(*this);
  if (Error error = allowShared(shape.sharedBytes))
    return addContext(std::move(error), "kernel " + info().name);
  std::vector<void *> pointers = arguments.pointers();
  Error error =
      device.call(device.api().cuLaunchKernel, handle, unsigned(shape.grid.x),
                  unsigned(shape.grid.y), unsigned(shape.grid.z),
                  unsigned(shape.block.x), unsigned(shape.block.y),
                  unsigned(shape.block.z), unsigned(shape.sharedBytes),
                  device.handleOf(stream), pointers.data(), nullptr);
  if (!error)
    error = device.finish(stream);
  return error ? addContext(std::move(error), "kernel " + info().name)
               : Error::success();
}
