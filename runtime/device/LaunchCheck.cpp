//===- LaunchCheck.cpp - checks before work is given to a device ----------===//
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

Error device::checkOwner(const Device &device, const char *what,
                         const char *objectKind, const DeviceObject &object) {
  if (&object.device() == &device)
    return Error::success();
  return makeError(Problem::InvalidArgument,
                   device.name() + ": " + what + ": expected " + objectKind +
                       " of this device, got one of " + object.device().name());
}

namespace {

/// The checks of one launch; each error says which kernel and which device.
class LaunchCheck {
public:
  LaunchCheck(const Kernel &kernel, const LaunchShape &shape,
              const Arguments &arguments)
      : kernel(kernel), limits(kernel.device().capabilities()), shape(shape),
        arguments(arguments) {}

  Error check() const {
    if (Error error = checkDim("grid", shape.grid, limits.maxGrid, 0))
      return error;
    if (Error error = checkDim("block", shape.block, limits.maxBlock, 1))
      return error;
    if (Error error = checkThreads())
      return error;
    if (Error error = checkShared())
      return error;
    return checkArguments();
  }

private:
  Error wrong(const Twine &message) const {
    return makeError(Problem::InvalidArgument,
                     kernel.device().name() + ": kernel " + kernel.info().name +
                         ": " + message);
  }

  Error checkDim(const char *what, const Dim3 &dim, const Dim3 &most,
                 int64_t least) const {
    const std::pair<int64_t, int64_t> axes[] = {
        {dim.x, most.x}, {dim.y, most.y}, {dim.z, most.z}};
    for (int axis = 0; axis < 3; ++axis) {
      auto [got, limit] = axes[axis];
      if (got < least || got > limit)
        return wrong(Twine("expected a ") + what + " of " + Twine(least) +
                     ".." + Twine(limit) + " along " + Twine("xyz"[axis]) +
                     ", got " + Twine(got));
    }
    return Error::success();
  }

  Error checkThreads() const {
    int64_t most = limits.maxThreadsPerBlock;
    bool ofKernel =
        kernel.info().maxThreads > 0 && kernel.info().maxThreads < most;
    if (ofKernel)
      most = kernel.info().maxThreads;
    int64_t threads = shape.block.x * shape.block.y * shape.block.z;
    if (threads <= most)
      return Error::success();
    return wrong("expected at most " + Twine(most) +
                 " threads per block (limit of the " +
                 (ofKernel ? "kernel" : "device") + "), got " + Twine(threads));
  }

  Error checkShared() const {
    int64_t fixed = kernel.info().staticSharedBytes;
    if (shape.sharedBytes >= 0 &&
        shape.sharedBytes <= limits.maxSharedBytes - fixed)
      return Error::success();
    return wrong("expected 0.." + Twine(limits.maxSharedBytes - fixed) +
                 " bytes of dynamic shared memory (" + Twine(fixed) +
                 " are static), got " + Twine(shape.sharedBytes) +
                 "; use a smaller tile or fewer stages");
  }

  Error checkArguments() const {
    for (size_t i = 0; i < arguments.size(); ++i)
      if (const Buffer *buffer = arguments.buffer(i))
        if (Error error =
                checkOwner(kernel.device(), "argument", "a buffer", *buffer))
          return error;
    if (!kernel.info().argumentBytes)
      return Error::success();
    const std::vector<int64_t> &wanted = *kernel.info().argumentBytes;
    if (arguments.size() != wanted.size())
      return wrong("expected " + Twine(wanted.size()) + " arguments, got " +
                   Twine(arguments.size()));
    for (size_t i = 0; i < wanted.size(); ++i)
      if (int64_t(arguments.bytes(i).size()) != wanted[i])
        return wrong("argument " + Twine(i) + ": expected " + Twine(wanted[i]) +
                     " bytes, got " + Twine(arguments.bytes(i).size()));
    return Error::success();
  }

  const Kernel &kernel;
  const Capabilities &limits;
  const LaunchShape &shape;
  const Arguments &arguments;
};

} // namespace

Error device::checkLaunch(const Kernel &kernel, const LaunchShape &shape,
                          const Arguments &arguments) {
  return LaunchCheck(kernel, shape, arguments).check();
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

void Arguments::Free::operator()(char *bytes) const {
  ::operator delete(bytes, std::align_val_t(kArgumentAlignment));
}

Arguments &Arguments::addBytes(const void *value, size_t bytes) {
  auto *copy = static_cast<char *>(
      ::operator new(bytes, std::align_val_t(kArgumentAlignment)));
  std::memcpy(copy, value, bytes);
  values.push_back({std::unique_ptr<char, Free>(copy), bytes, nullptr});
  return *this;
}

Arguments &Arguments::add(const Buffer &buffer) {
  uint64_t address = buffer.address();
  addBytes(&address, sizeof(address));
  values.back().buffer = &buffer;
  return *this;
}

std::vector<void *> Arguments::pointers() const {
  std::vector<void *> addresses;
  for (const Value &value : values)
    addresses.push_back(value.bytes.get());
  return addresses;
}
