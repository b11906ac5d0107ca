//===- Device.h - one interface for all devices --------------- -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A device runs kernels on buffers. Work goes into a stream, in whose order it
// is done; calls without a stream use the device's own and return when the work
// is done. Any number of threads may use a device; a buffer, stream or event
// belongs to one thread at a time. Objects may be destroyed in any order: each
// keeps what it needs of its device alive.
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_DEVICE_DEVICE_H
#define RAYTENTION_RUNTIME_DEVICE_DEVICE_H

#include "runtime/device/DeviceError.h"
#include "runtime/device/Launch.h"
#include "runtime/device/TensorMap.h"
#include "runtime/device/cpu/ParallelFor.h"
#include "runtime/nvrtc/Compiler.h"

#include <optional>

namespace raytention::device {

enum class DeviceKind { Cpu, Simt, Cuda };

/// "cpu", "simt" or "cuda".
llvm::StringRef getName(DeviceKind kind);

/// What a device can do; sizes in bytes.
struct Capabilities {
  std::string description; ///< the processor's name
  int64_t memoryBytes = 0;
  int processors = 0;        ///< cores, or multiprocessors
  int computeCapability = 0; ///< 90 for 9.0; 0: no such thing
  int warpSize = 1;
  int64_t maxThreadsPerBlock = 1;
  Dim3 maxBlock, maxGrid;
  int64_t maxSharedBytes = 0; ///< per block, static and dynamic together
  bool loadsCuda = false, loadsPtx = false, loadsCubin = false;
  bool loadsEntryPoints = false;
  bool copiesTensors = false; ///< has tensor maps and their bulk copies
  bool findsFaults = false;   ///< wrong accesses and races are errors
};

class Device;
class Event;
class Stream;

/// What belongs to a device.
class DeviceObject {
public:
  DeviceObject(const DeviceObject &) = delete;
  DeviceObject &operator=(const DeviceObject &) = delete;
  virtual ~DeviceObject();
  Device &device() const { return *owner; }

protected:
  explicit DeviceObject(std::shared_ptr<Device> owner)
      : owner(std::move(owner)) {}

private:
  std::shared_ptr<Device> owner;
};

/// Memory of a device. Ranges are in bytes and checked.
class Buffer : public DeviceObject {
public:
  int64_t size() const { return bytes; }
  /// What a kernel gets. May be 0 for a buffer of no bytes.
  uint64_t address() const { return base; }

  llvm::Error copyFrom(const void *host, int64_t count, int64_t offset = 0);
  llvm::Error copyTo(void *host, int64_t count, int64_t offset = 0) const;
  llvm::Error fill(uint8_t value, int64_t count, int64_t offset = 0);

  /// In the order of `stream`. `host` has to live until the work is done.
  llvm::Error copyFromAsync(Stream &stream, const void *host, int64_t count,
                            int64_t offset = 0);
  llvm::Error copyToAsync(Stream &stream, void *host, int64_t count,
                          int64_t offset = 0) const;
  llvm::Error fillAsync(Stream &stream, uint8_t value, int64_t count,
                        int64_t offset = 0);

protected:
  Buffer(std::shared_ptr<Device> owner, uint64_t base, int64_t bytes)
      : DeviceObject(std::move(owner)), base(base), bytes(bytes) {}

  // The range is within the buffer and not empty; a null stream is the
  // device's own, and the work is done on return.
  virtual llvm::Error write(Stream *stream, uint64_t to, const void *from,
                            int64_t count) = 0;
  virtual llvm::Error read(Stream *stream, void *to, uint64_t from,
                           int64_t count) const = 0;
  virtual llvm::Error set(Stream *stream, uint64_t to, uint8_t value,
                          int64_t count) = 0;

private:
  llvm::Error checkRange(const char *what, const Stream *stream,
                         const void *host, int64_t count, int64_t offset) const;

  uint64_t base;
  int64_t bytes;
};

/// A queue whose work is done in its order.
class Stream : public DeviceObject {
public:
  /// Returns when all work so far is done; an error is that of the work.
  virtual llvm::Error synchronize() = 0;
  /// `event` happens when all work so far is done.
  llvm::Error record(Event &event);
  /// Later work starts after `event` has happened.
  llvm::Error wait(const Event &event);

protected:
  using DeviceObject::DeviceObject;
  virtual llvm::Error doRecord(Event &event) = 0;
  virtual llvm::Error doWait(const Event &event) = 0;
};

/// A point in the work of a stream. Asking one that was never recorded is an
/// error.
class Event : public DeviceObject {
public:
  llvm::Error synchronize() const;
  llvm::Expected<bool> isDone() const;
  /// Milliseconds from `start` to this one; both have to have happened.
  llvm::Expected<double> millisecondsSince(const Event &start) const;

protected:
  using DeviceObject::DeviceObject;
  virtual llvm::Error doSynchronize() const = 0;
  virtual llvm::Expected<bool> queryDone() const = 0;
  virtual llvm::Expected<double> elapsed(const Event &start) const = 0;

private:
  friend class Stream;
  llvm::Error checkRecorded(const char *what) const;
  bool recorded = false;
};

/// What is known of a kernel before it is launched.
struct KernelInfo {
  std::string name;
  /// Bytes of each argument, where the device can tell.
  std::optional<std::vector<int64_t>> argumentBytes;
  int64_t staticSharedBytes = 0;
  int64_t maxThreads = 0; ///< per block; 0: the device's limit
  int64_t registers = 0;  ///< 0: not known
};

/// A kernel of a module, which it keeps alive.
class Kernel : public DeviceObject {
public:
  const KernelInfo &info() const { return kernelInfo; }

  /// Runs and waits. A grid with a 0 runs nothing. Errors: a shape, an amount
  /// of shared memory or arguments that do not fit; what went wrong in it.
  llvm::Error launch(const LaunchShape &shape, const Arguments &arguments);
  /// In the order of `stream`; what goes wrong in it may be told by a later
  /// call on this stream.
  llvm::Error launchAsync(Stream &stream, const LaunchShape &shape,
                          const Arguments &arguments);

protected:
  Kernel(std::shared_ptr<Device> owner, KernelInfo info)
      : DeviceObject(std::move(owner)), kernelInfo(std::move(info)) {}
  /// The shape and the arguments fit; stream as in Buffer.
  virtual llvm::Error run(Stream *stream, const LaunchShape &shape,
                          const Arguments &arguments) = 0;

private:
  llvm::Error start(Stream *stream, const LaunchShape &shape,
                    const Arguments &arguments);
  KernelInfo kernelInfo;
};

/// Loaded code.
class Module : public DeviceObject {
public:
  /// The kernel `name`: as in the code, or one of the name expressions the
  /// module was compiled with. An error names those there are, where the
  /// device can tell.
  virtual llvm::Expected<std::unique_ptr<Kernel>>
  getKernel(llvm::StringRef name) = 0;
  /// What compiling it gave; null where it was loaded as it is.
  const nvrtc::Compiled *compiled() const {
    return compilation ? &*compilation : nullptr;
  }

protected:
  Module(std::shared_ptr<Device> owner,
         std::optional<nvrtc::Compiled> compilation)
      : DeviceObject(std::move(owner)), compilation(std::move(compilation)) {}
  /// `name`, or what it was lowered to.
  std::string loweredName(llvm::StringRef name) const;

private:
  std::optional<nvrtc::Compiled> compilation;
};

/// Compiled code of this process that a cpu module offers as a kernel. Block
/// (x, y, z) of a grid (X, Y, Z) is task (z * Y + y) * X + x; a block has one
/// thread. `function` gets `void *const *`: the address of each argument, a
/// buffer being the address of its bytes; and the dynamic shared memory as its
/// workspace.
struct EntryPoint {
  std::string name;
  cpu::TaskFunction function = nullptr;
  std::vector<int64_t> argumentBytes;
};

class Device : public std::enable_shared_from_this<Device> {
public:
  virtual ~Device();
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  DeviceKind kind() const { return deviceKind; }
  /// "cpu", "simt", "cuda:0": the start of its messages.
  const std::string &name() const { return deviceName; }
  const Capabilities &capabilities() const { return limits; }

  /// Memory of unknown content. Errors: out of memory.
  llvm::Expected<std::unique_ptr<Buffer>> allocate(int64_t bytes);
  virtual llvm::Expected<std::unique_ptr<Stream>> createStream() = 0;
  virtual llvm::Expected<std::unique_ptr<Event>> createEvent() = 0;
  /// Returns when the work of all streams is done.
  virtual llvm::Error synchronize() = 0;

  using LoadedModule = llvm::Expected<std::unique_ptr<Module>>;
  /// Compiles CUDA C++ for this device, or for `arch` where it is given, and
  /// loads it. Needs NVRTC.
  virtual LoadedModule loadCuda(const nvrtc::Source &source,
                                llvm::StringRef arch = "");
  virtual LoadedModule loadPtx(llvm::StringRef text);
  virtual LoadedModule loadCubin(llvm::ArrayRef<char> bytes);
  virtual LoadedModule loadEntryPoints(llvm::ArrayRef<EntryPoint> entries);

  /// The map of a tensor `offset` bytes into the buffer, which has to outlive
  /// the launches that take the map. Errors: the device has no such copies; a
  /// rule of TensorMap.h is broken; the tensor does not lie in the buffer.
  llvm::Expected<EncodedTensorMap>
  encodeTensorMap(const Buffer &buffer, int64_t offset,
                  const TensorShape &shape) const;

protected:
  Device(DeviceKind kind, std::string name)
      : deviceKind(kind), deviceName(std::move(name)) {}
  virtual llvm::Expected<std::unique_ptr<Buffer>> doAllocate(int64_t bytes) = 0;
  /// The map keeps the rules; asked only where `copiesTensors` is set.
  virtual llvm::Expected<EncodedTensorMap>
  doEncodeTensorMap(const TensorMap &map) const;
  llvm::Error notSupported(const llvm::Twine &expected,
                           const llvm::Twine &got) const;

  Capabilities limits;

private:
  llvm::Error noTensorMaps() const;
  DeviceKind deviceKind;
  std::string deviceName;
};

} // namespace raytention::device

#endif // RAYTENTION_RUNTIME_DEVICE_DEVICE_H
