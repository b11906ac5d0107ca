//===- DeviceCode.cpp - a plan on a device --------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/api/DeviceCode.h"
#include "runtime/device/simt/SimtDevice.h"

using namespace llvm;
using namespace raytention;

int DeviceCode::chooseThreads(int wanted) {
  threads = device::setWorkers(forward.device(), wanted);
  return threads;
}

namespace {

/// The arrays of a call on the device.
class DeviceArrays {
public:
  Error upload(device::Device &device, ArrayRef<CallArgument> arguments);
  Error download(ArrayRef<CallArgument> arguments) const;
  std::vector<plan::RunArgument> arguments() const;

private:
  std::vector<std::unique_ptr<device::Buffer>> buffers; ///< null: an index
  std::vector<plan::ArgumentSize> sizes;
};

} // namespace

Error DeviceArrays::upload(device::Device &device,
                           ArrayRef<CallArgument> arguments) {
  for (const CallArgument &argument : arguments) {
    sizes.push_back({argument.index, argument.sizes});
    buffers.emplace_back();
    if (argument.role == CallArgument::Role::Index)
      continue;
    auto buffer = device.allocate(argument.bytes());
    if (!buffer)
      return buffer.takeError();
    buffers.back() = std::move(*buffer);
    if (argument.role == CallArgument::Role::In)
      if (Error error =
              buffers.back()->copyFrom(argument.data, argument.bytes()))
        return error;
  }
  return Error::success();
}

Error DeviceArrays::download(ArrayRef<CallArgument> arguments) const {
  for (auto [index, argument] : enumerate(arguments))
    if (argument.role == CallArgument::Role::Out && argument.data)
      if (Error error = buffers[index]->copyTo(argument.data, argument.bytes()))
        return error;
  return Error::success();
}

std::vector<plan::RunArgument> DeviceArrays::arguments() const {
  std::vector<plan::RunArgument> result;
  for (auto [buffer, size] : zip_equal(buffers, sizes))
    result.push_back({buffer.get(), size});
  return result;
}

Expected<RunReport> DeviceCode::call(Function function,
                                     ArrayRef<CallArgument> arguments,
                                     int64_t numKeys) {
  DeviceArrays arrays;
  if (Error error = arrays.upload(forward.device(), arguments))
    return error;
  auto run = forward.run(arrays.arguments(), workspaceCap);
  if (!run)
    return run.takeError();
  if (Error error = arrays.download(arguments))
    return error;
  RunReport report;
  report.runMs = run->milliseconds;
  report.threads = threads;
  report.workspaceBytes = run->workspaceBytes;
  report.workspaceBytesPerThread = run->workspaceBytes;
  return report;
}
