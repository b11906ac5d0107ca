//===- Driver.h - libcuda, opened at run time ----------------- -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_DEVICE_CUDA_DRIVER_H
#define RAYTENTION_RUNTIME_DEVICE_CUDA_DRIVER_H

#include "runtime/device/DeviceError.h"
#include "runtime/support/SharedLibrary.h"

#include <memory>
#include <type_traits>

namespace raytention::device::cuda {

/// Results of the driver that are told apart.
enum Result {
  Success = 0,
  OutOfMemory = 2,
  NoDevice = 100,
  InvalidPtx = 218,
  NotFound = 500,
  NotReady = 600,
};

/// Numbers of attributes, as the driver's interface fixes them.
enum DeviceAttribute {
  MaxThreadsPerBlock = 1,
  MaxBlockX = 2,
  MaxBlockY = 3,
  MaxBlockZ = 4,
  MaxGridX = 5,
  MaxGridY = 6,
  MaxGridZ = 7,
  WarpSize = 10,
  Multiprocessors = 16,
  CapabilityMajor = 75,
  CapabilityMinor = 76,
  MaxSharedPerBlockOptin = 97,
};
enum FunctionAttribute {
  FunctionMaxThreads = 0,
  FunctionStaticShared = 1,
  FunctionRegisters = 4,
  FunctionMaxDynamicShared = 8,
};
enum JitOption { ErrorLogBuffer = 5, ErrorLogBufferBytes = 6 };
constexpr unsigned kNonBlockingStream = 1;
constexpr int kNotInterleaved = 0;    ///< CUtensorMapInterleave
constexpr int kPromoteTo128Bytes = 2; ///< CUtensorMapL2promotion

/// The functions of Symbols.def. A call goes through call(), which checks its
/// result.
class Driver {
public:
  /// Opens the driver (RT_LIBCUDA names another file) and initialises it.
  /// Errors are Problem::Missing and say what to install.
  static llvm::Expected<std::shared_ptr<Driver>> open();

  const std::string &path() const { return file; }
  /// The CUDA version it supports: 13000 for 13.0.
  int version() const { return cudaVersion; }
  llvm::Expected<int> deviceCount() const;

  /// Calls `function`; anything but success is an error "cuX: expected
  /// CUDA_SUCCESS, got CUDA_ERROR_Y (...)" with what to do.
  template <typename... Params>
  llvm::Error call(const Symbol<int(Params...)> &function,
                   std::common_type_t<Params>... args) const {
    return check(function.name, function(args...));
  }
  llvm::Error check(const char *function, int result) const;

#define RT_CUDA_SYMBOL(NAME, ...) Symbol<int(__VA_ARGS__)> NAME = {#NAME};
#define RT_CUDA_OPTIONAL(NAME, ...) Symbol<int(__VA_ARGS__)> NAME = {#NAME};
#include "runtime/device/cuda/Symbols.def"

private:
  llvm::Error bind(const SharedLibrary &library);

  std::string file;
  int cudaVersion = 0;
};

} // namespace raytention::device::cuda

#endif // RAYTENTION_RUNTIME_DEVICE_CUDA_DRIVER_H
