//===- HostQueue.h - streams and events of devices on the host - -*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The devices on the host do work when it is given to them: a stream is never
// behind, and an event has happened when it is recorded.
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_DEVICE_HOSTQUEUE_H
#define RAYTENTION_RUNTIME_DEVICE_HOSTQUEUE_H

#include "runtime/device/Device.h"

#include <chrono>

namespace raytention::device {

class HostEvent : public Event {
public:
  explicit HostEvent(std::shared_ptr<Device> owner) : Event(std::move(owner)) {}
  void happen() { time = std::chrono::steady_clock::now(); }

private:
  llvm::Error doSynchronize() const override;
  llvm::Expected<bool> queryDone() const override;
  llvm::Expected<double> elapsed(const Event &start) const override;

  std::chrono::steady_clock::time_point time;
};

class HostStream : public Stream {
public:
  explicit HostStream(std::shared_ptr<Device> owner)
      : Stream(std::move(owner)) {}
  llvm::Error synchronize() override;

private:
  llvm::Error doRecord(Event &event) override;
  llvm::Error doWait(const Event &event) override;
};

/// Memory of the host; how it is freed is up to the device.
class HostBuffer : public Buffer {
public:
  HostBuffer(std::shared_ptr<Device> owner, void *memory, int64_t bytes)
      : Buffer(std::move(owner), reinterpret_cast<uintptr_t>(memory), bytes) {}

protected:
  void *memory() const { return reinterpret_cast<void *>(address()); }

private:
  llvm::Error write(Stream *, uint64_t to, const void *from,
                    int64_t count) override;
  llvm::Error read(Stream *, void *to, uint64_t from,
                   int64_t count) const override;
  llvm::Error set(Stream *, uint64_t to, uint8_t value, int64_t count) override;
};

/// A device whose streams and events are these.
class HostDevice : public Device {
public:
  llvm::Expected<std::unique_ptr<Stream>> createStream() override;
  llvm::Expected<std::unique_ptr<Event>> createEvent() override;
  llvm::Error synchronize() override;

protected:
  HostDevice(DeviceKind kind, std::string name);
};

/// "expected one of a, b, c, got 'x'" for a kernel that is not there.
llvm::Error noSuchKernel(const Device &device, llvm::StringRef name,
                         llvm::ArrayRef<std::string> known);

} // namespace raytention::device

#endif // RAYTENTION_RUNTIME_DEVICE_HOSTQUEUE_H
