//===- HostKernels.h - the kernels as host code --------------- -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TESTS_CONFORMANCE_HOSTKERNELS_H
#define RAYTENTION_TESTS_CONFORMANCE_HOSTKERNELS_H

#include <cstdint>
#include <string>
#include <vector>

namespace raytention::test {

/// Where a thread of a kernel is.
struct ThreadPlace {
  uint32_t block[3] = {0, 0, 0}, thread[3] = {0, 0, 0}, extent[3] = {1, 1, 1};
  unsigned char *shared = nullptr;
};

/// A kernel of Kernels.cu compiled for the host.
struct HostKernel {
  std::string name;
  std::vector<int64_t> argumentBytes;
  /// One thread.
  void (*run)(void *const *arguments, const ThreadPlace &place);
  /// The same as an entry point of a cpu module: a block of one thread.
  void (*task)(void *arguments, int64_t task, void *workspace);
};

const std::vector<HostKernel> &hostKernels();

} // namespace raytention::test

#endif // RAYTENTION_TESTS_CONFORMANCE_HOSTKERNELS_H
