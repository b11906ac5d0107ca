//===- CudaObjects.h - what belongs to a GPU ------------------ -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_DEVICE_CUDA_CUDAOBJECTS_H
#define RAYTENTION_RUNTIME_DEVICE_CUDA_CUDAOBJECTS_H

#include "runtime/device/Device.h"
#include "runtime/device/LazyCompiler.h"
#include "runtime/device/cuda/Driver.h"

namespace raytention::device::cuda {

class CudaDevice : public Device {
public:
  CudaDevice(std::shared_ptr<Driver> driver, int ordinal);
  ~CudaDevice() override;
  /// Takes the context and asks the GPU what it can do.
  llvm::Error initialize(int ordinal);

  llvm::Expected<std::unique_ptr<Stream>> createStream() override;
  llvm::Expected<std::unique_ptr<Event>> createEvent() override;
  llvm::Error synchronize() override;
  LoadedModule loadCuda(const nvrtc::Source &source,
                        llvm::StringRef arch) override;
  LoadedModule loadPtx(llvm::StringRef text) override;
  LoadedModule loadCubin(llvm::ArrayRef<char> bytes) override;

  const Driver &api() const { return *driver; }

  /// The result of `function` with the GPU's context current on this thread;
  /// what was current before is put back.
  template <typename... Params>
  llvm::Expected<int> resultOf(const Symbol<int(Params...)> &function,
                               std::common_type_t<Params>... args) const {
    if (llvm::Error error = driver->call(driver->cuCtxPushCurrent_v2, context))
      return addContext(std::move(error), name());
    int result = function(args...);
    void *popped = nullptr;
    if (llvm::Error error = driver->call(driver->cuCtxPopCurrent_v2, &popped))
      return addContext(std::move(error), name());
    return result;
  }

  /// The same, where anything but success is an error.
  template <typename... Params>
  llvm::Error call(const Symbol<int(Params...)> &function,
                   std::common_type_t<Params>... args) const {
    llvm::Expected<int> result = resultOf(function, args...);
    if (!result)
      return result.takeError();
    return addContext(driver->check(function.name, *result), name());
  }

  /// The handle of `stream`, or of the device's own for null.
  void *handleOf(const Stream *stream) const;
  /// For work on the device's own stream: waits for it.
  llvm::Error finish(const Stream *stream) const;
  /// Keeps what went wrong where nothing can be returned (in a destructor) for
  /// the next synchronize().
  void keepForLater(llvm::Error error);

private:
  llvm::Expected<std::unique_ptr<Buffer>> doAllocate(int64_t bytes) override;
  llvm::Expected<EncodedTensorMap>
  doEncodeTensorMap(const TensorMap &map) const override;
  llvm::Error readCapabilities();
  llvm::Error readLimits();
  llvm::Expected<std::string> chooseArch(const nvrtc::Compiler &compiler) const;
  LoadedModule load(const void *image, std::optional<nvrtc::Compiled> compiled);

  std::shared_ptr<Driver> driver;
  LazyCompiler compiler;
  int device = 0;
  void *context = nullptr;
  void *ownStream = nullptr;
  std::mutex mutex;
  std::string late;
};

class CudaBuffer : public Buffer {
public:
  CudaBuffer(std::shared_ptr<Device> owner, uint64_t address, int64_t bytes)
      : Buffer(std::move(owner), address, bytes) {}
  ~CudaBuffer() override;

private:
  llvm::Error write(Stream *stream, uint64_t to, const void *from,
                    int64_t count) override;
  llvm::Error read(Stream *stream, void *to, uint64_t from,
                   int64_t count) const override;
  llvm::Error set(Stream *stream, uint64_t to, uint8_t value,
                  int64_t count) override;
};

class CudaStream : public Stream {
public:
  CudaStream(std::shared_ptr<Device> owner, void *handle)
      : Stream(std::move(owner)), handle(handle) {}
  ~CudaStream() override;
  llvm::Error synchronize() override;
  void *get() const { return handle; }

private:
  llvm::Error doRecord(Event &event) override;
  llvm::Error doWait(const Event &event) override;
  void *handle;
};

class CudaEvent : public Event {
public:
  CudaEvent(std::shared_ptr<Device> owner, void *handle)
      : Event(std::move(owner)), handle(handle) {}
  ~CudaEvent() override;
  void *get() const { return handle; }

private:
  llvm::Error doSynchronize() const override;
  llvm::Expected<bool> queryDone() const override;
  llvm::Expected<double> elapsed(const Event &start) const override;
  void *handle;
};

/// A loaded image; unloaded when no module and no kernel needs it.
class LoadedImage {
public:
  LoadedImage(std::shared_ptr<Device> owner, void *handle)
      : owner(std::move(owner)), handle(handle) {}
  ~LoadedImage();
  void *get() const { return handle; }

private:
  std::shared_ptr<Device> owner;
  void *handle;
};

class CudaModule : public Module {
public:
  CudaModule(std::shared_ptr<Device> owner, void *handle,
             std::optional<nvrtc::Compiled> compiled)
      : Module(owner, std::move(compiled)),
        image(std::make_shared<LoadedImage>(owner, handle)) {}
  llvm::Expected<std::unique_ptr<Kernel>>
  getKernel(llvm::StringRef name) override;

private:
  std::shared_ptr<LoadedImage> image;
};

class CudaKernel : public Kernel {
public:
  CudaKernel(std::shared_ptr<Device> owner, std::shared_ptr<LoadedImage> image,
             void *handle, KernelInfo info)
      : Kernel(std::move(owner), std::move(info)), image(std::move(image)),
        handle(handle) {}

private:
  llvm::Error run(Stream *stream, const LaunchShape &shape,
                  const Arguments &arguments) override;
  llvm::Error allowShared(int64_t bytes);

  std::shared_ptr<LoadedImage> image;
  void *handle;
  std::mutex mutex;
  int64_t allowedShared = 0;
};

} // namespace raytention::device::cuda

#endif // RAYTENTION_RUNTIME_DEVICE_CUDA_CUDAOBJECTS_H
