//===- Driver.cpp - libcuda, opened at run time ---------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cuda/Driver.h"

using namespace llvm;
using namespace raytention;
using namespace raytention::device;
using namespace raytention::device::cuda;

static LibrarySearch searchForDriver() {
  LibrarySearch search;
  search.title = "the CUDA driver";
  search.pathVariable = "RT_LIBCUDA";
  search.candidates = {"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"};
  search.where = "on the loader's path";
  search.howToGet = "install NVIDIA's driver, or use the target cpu or simt";
  return search;
}

Error Driver::bind(const SharedLibrary &library) {
#define RT_CUDA_SYMBOL(NAME, ...)                                              \
  if (Error error = library.bind(NAME))                                        \
    return error;
#define RT_CUDA_OPTIONAL(NAME, ...) library.bindOptional(NAME);
#include "runtime/device/cuda/Symbols.def"
  return Error::success();
}

Expected<std::shared_ptr<Driver>> Driver::open() {
  Expected<SharedLibrary> library = SharedLibrary::open(searchForDriver());
  if (!library)
    return addContext(library.takeError(), Problem::Missing, "cuda");
  auto driver = std::make_shared<Driver>();
  driver->file = library->path();
  if (Error error = driver->bind(*library))
    return addContext(std::move(error), Problem::Missing, "cuda");
  if (Error error = driver->call(driver->cuInit, 0u))
    return addContext(std::move(error), Problem::Missing,
                      "cuda: the driver in " + driver->file);
  if (Error error =
          driver->call(driver->cuDriverGetVersion, &driver->cudaVersion))
    return addContext(std::move(error), Problem::Missing,
                      "cuda: the driver in " + driver->file);
  return driver;
}

Expected<int> Driver::deviceCount() const {
  int count = 0;
  int result = cuDeviceGetCount(&count);
  if (result == NoDevice)
    return 0;
  if (Error error = check(cuDeviceGetCount.name, result))
    return error;
  return count;
}

/// What to do about a result; "" where its name says it.
static StringRef advice(int result) {
  switch (result) {
  case 2:
    return "; use a smaller batch, or free buffers";
  case 34:
    return "; this is a toolkit's stub: install NVIDIA's driver";
  case 100:
    return "; check that a GPU is there and not hidden by "
           "CUDA_VISIBLE_DEVICES";
  case 200:
  case 209:
    return "; compile for this GPU's architecture, or load PTX";
  case 218:
  case 222:
    return "; update the driver, or compile with an older NVRTC";
  case 700:
  case 715:
  case 716:
  case 717:
  case 718:
  case 719:
    return "; this process can use the GPU no more: run the kernel on the simt "
           "device to see the line";
  case 701:
    return "; use fewer threads or registers";
  case 803:
  case 804:
    return "; the driver's library and its kernel module differ: reboot, or "
           "reinstall the driver";
  default:
    return "";
  }
}

static Problem problemOfResult(int result) {
  switch (result) {
  case OutOfMemory:
    return Problem::OutOfMemory;
  case 34:
  case NoDevice:
    return Problem::Missing;
  case 1:
  case NotFound:
    return Problem::InvalidArgument;
  case 200:
  case 209:
  case InvalidPtx:
  case 222:
    return Problem::BuildFailed;
  default:
    return Problem::LaunchFailed;
  }
}

Error Driver::check(const char *function, int result) const {
  if (result == Success)
    return Error::success();
  const char *name = nullptr, *text = nullptr;
  cuGetErrorName(result, &name);
  cuGetErrorString(result, &text);
  return makeError(problemOfResult(result),
                   Twine(function) + ": expected CUDA_SUCCESS, got " +
                       (name ? name : "a result without a name") + " (" +
                       Twine(result) + (text ? ": " : "") + (text ? text : "") +
                       ")" + advice(result));
}
