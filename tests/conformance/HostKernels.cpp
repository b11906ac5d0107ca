//===- HostKernels.cpp - the kernels as host code -------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/conformance/HostKernels.h"

#include <tuple>
#include <utility>

namespace {

struct Index {
  uint32_t x, y, z;
};
thread_local Index blockIdx, threadIdx, blockDim;
thread_local unsigned char *sharedBytes;

#define __global__
#define RT_DYNAMIC_SHARED(name) unsigned char *name = sharedBytes
#include "tests/conformance/Kernels.cu"
#undef __global__

using raytention::test::HostKernel;
using raytention::test::ThreadPlace;

template <typename Function> struct Caller;
template <typename... Args> struct Caller<void (*)(Args...)> {
  static std::vector<int64_t> sizes() { return {int64_t(sizeof(Args))...}; }

  template <size_t... I>
  static void call(void (*function)(Args...), void *const *arguments,
                   std::index_sequence<I...>) {
    function(*static_cast<const Args *>(arguments[I])...);
  }
  static void call(void (*function)(Args...), void *const *arguments) {
    call(function, arguments, std::index_sequence_for<Args...>());
  }
};

template <auto kernel>
void run(void *const *arguments, const ThreadPlace &place) {
  blockIdx = {place.block[0], place.block[1], place.block[2]};
  threadIdx = {place.thread[0], place.thread[1], place.thread[2]};
  blockDim = {place.extent[0], place.extent[1], place.extent[2]};
  sharedBytes = place.shared;
  Caller<decltype(kernel)>::call(kernel, arguments);
}

template <auto kernel>
void runTask(void *arguments, int64_t task, void *workspace) {
  ThreadPlace place;
  place.block[0] = uint32_t(task);
  place.shared = static_cast<unsigned char *>(workspace);
  run<kernel>(static_cast<void *const *>(arguments), place);
}

template <auto kernel> HostKernel describe(const char *name) {
  return {name, Caller<decltype(kernel)>::sizes(), run<kernel>,
          runTask<kernel>};
}

} // namespace

const std::vector<HostKernel> &raytention::test::hostKernels() {
  static const std::vector<HostKernel> table = {
      describe<addOne>("addOne"), describe<axpy>("axpy"),
      describe<mixed>("mixed"),   describe<number>("number"),
      describe<opaque>("opaque"), describe<useShared>("useShared")};
  return table;
}
