//===- LazyCompiler.h - NVRTC, opened when it is first needed - -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_DEVICE_LAZYCOMPILER_H
#define RAYTENTION_RUNTIME_DEVICE_LAZYCOMPILER_H

#include "runtime/device/DeviceError.h"
#include "runtime/nvrtc/Compiler.h"

#include <mutex>

namespace raytention::device {

/// Opens NVRTC at the first call and keeps it; a failure is tried again, since
/// the library may have been installed. Safe from several threads.
class LazyCompiler {
public:
  llvm::Expected<std::shared_ptr<nvrtc::Compiler>>
  get(const std::string &device) {
    std::lock_guard<std::mutex> lock(mutex);
    if (compiler)
      return compiler;
    auto opened = nvrtc::Compiler::open();
    if (!opened)
      return addContext(opened.takeError(), Problem::Missing, device);
    return compiler = *opened;
  }

private:
  std::mutex mutex;
  std::shared_ptr<nvrtc::Compiler> compiler;
};

} // namespace raytention::device

#endif // RAYTENTION_RUNTIME_DEVICE_LAZYCOMPILER_H
