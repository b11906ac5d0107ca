//===- CudaDevice.h - a GPU as a device ----------------------- -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_DEVICE_CUDA_CUDADEVICE_H
#define RAYTENTION_RUNTIME_DEVICE_CUDA_CUDADEVICE_H

#include "runtime/device/Device.h"

namespace raytention::device {

/// What a search for GPUs found.
struct CudaDriverInfo {
  std::string path; ///< of libcuda
  int version = 0;  ///< 13000 for CUDA 13.0
  int devices = 0;
};

/// The driver of this machine. Errors (Problem::Missing) say what to install.
llvm::Expected<CudaDriverInfo> findCudaDriver();

/// The GPU of that number. It uses the primary context, so it shares buffers
/// with other users of the runtime API in this process. Errors are
/// Problem::Missing where there is no driver or no such GPU.
llvm::Expected<std::shared_ptr<Device>> createCudaDevice(int ordinal = 0);

} // namespace raytention::device

#endif // RAYTENTION_RUNTIME_DEVICE_CUDA_CUDADEVICE_H
