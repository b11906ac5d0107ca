//===- HostQueue.cpp - streams and events of devices on the host ----------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/HostQueue.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/TargetParser/Host.h"

#include <cstring>
#include <unistd.h>

using namespace llvm;
using namespace raytention;
using namespace raytention::device;

Error HostEvent::doSynchronize() const { return Error::success(); }

Expected<bool> HostEvent::queryDone() const { return true; }

Expected<double> HostEvent::elapsed(const Event &start) const {
  return std::chrono::duration<double, std::milli>(
             time - static_cast<const HostEvent &>(start).time)
      .count();
}

Error HostStream::synchronize() { return Error::success(); }

Error HostStream::doRecord(Event &event) {
  static_cast<HostEvent &>(event).happen();
  return Error::success();
}

Error HostStream::doWait(const Event &) { return Error::success(); }

Error HostBuffer::write(Stream *, uint64_t to, const void *from,
                        int64_t count) {
  std::memcpy(reinterpret_cast<void *>(to), from, count);
  return Error::success();
}

Error HostBuffer::read(Stream *, void *to, uint64_t from, int64_t count) const {
  std::memcpy(to, reinterpret_cast<const void *>(from), count);
  return Error::success();
}

Error HostBuffer::set(Stream *, uint64_t to, uint8_t value, int64_t count) {
  std::memset(reinterpret_cast<void *>(to), value, count);
  return Error::success();
}

HostDevice::HostDevice(DeviceKind kind, std::string name)
    : Device(kind, std::move(name)) {
  limits.description = sys::getHostCPUName().str();
  limits.memoryBytes = int64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

Expected<std::unique_ptr<Stream>> HostDevice::createStream() {
  return std::make_unique<HostStream>(shared_from_this());
}

Expected<std::unique_ptr<Event>> HostDevice::createEvent() {
  return std::make_unique<HostEvent>(shared_from_this());
}

Error HostDevice::synchronize() { return Error::success(); }

Error device::noSuchKernel(const Device &device, StringRef name,
                           ArrayRef<std::string> known) {
  return makeError(Problem::InvalidArgument,
                   device.name() + ": kernel: expected one of " +
                       (known.empty() ? "none (the module has no kernel)"
                                      : llvm::join(known, ", ")) +
                       ", got '" + name + "'");
}
