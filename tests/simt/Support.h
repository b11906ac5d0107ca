//===- Support.h - compiling and running kernels in tests -------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TESTS_SIMT_SUPPORT_H
#define RAYTENTION_TESTS_SIMT_SUPPORT_H

#include "runtime/device/simt/Simt.h"
#include "runtime/device/simt/TensorMap.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace raytention::simt::test {

/// Whether the CUDA compiler library can be opened.
bool hasNvrtc();
/// A file of tests/simt/data.
std::string readData(const std::string &name);
/// PTX of CUDA text, which may include hopper.h and wgmma.h; a failure of the
/// test where it does not compile.
std::string compileCuda(const std::string &source,
                        const std::vector<std::string> &options = {},
                        const std::string &arch = "compute_80");

/// Skips a test without the library, or fails it where it is required.
#define RT_NEED_NVRTC()                                                        \
  do {                                                                         \
    if (!raytention::simt::test::hasNvrtc()) {                                 \
      const char *required = std::getenv("RT_REQUIRE_NVRTC");                  \
      ASSERT_FALSE(required &&std::string(required) == "1")                    \
          << "libnvrtc was not found, and RT_REQUIRE_NVRTC=1";                 \
      GTEST_SKIP() << "libnvrtc was not found";                                \
    }                                                                          \
  } while (false)

/// Arguments at their natural alignment.
class Arguments {
public:
  template <class T> Arguments &add(T value) {
    while (bytes.size() % alignof(T))
      bytes.push_back(0);
    const uint8_t *from = reinterpret_cast<const uint8_t *>(&value);
    bytes.insert(bytes.end(), from, from + sizeof(T));
    return *this;
  }
  std::vector<uint8_t> bytes;
};

template <class... T> std::vector<uint8_t> pack(T... values) {
  Arguments arguments;
  (arguments.add(values), ...);
  return arguments.bytes;
}

/// A text and the memory it runs on.
class Machine {
public:
  explicit Machine(const std::string &ptx);

  bool isLoaded() const { return module.has_value(); }
  const Module &text() const { return *module; }
  template <class T> T *buffer(const std::vector<T> &values, const char *name) {
    T *base = static_cast<T *>(allocate(values.size() * sizeof(T), name));
    std::memcpy(base, values.data(), values.size() * sizeof(T));
    return base;
  }
  void *allocate(uint64_t bytes, const char *name);
  Report run(const char *entry, Dim3 grid, Dim3 block, uint32_t shared,
             const std::vector<uint8_t> &arguments,
             const LaunchOptions &options = {});
  Memory memory;

private:
  std::optional<Module> module;
};

/// The argument of a kernel; a failure of the test where a rule is broken.
device::EncodedTensorMap encoded(const TensorMap &map);

/// Numbers of few bits and both signs, as bf16.
std::vector<uint16_t> drawBFloats(size_t count, unsigned seed);
float widenBFloat(uint16_t bits);

/// All findings, a line each.
std::string describe(const Report &report);

} // namespace raytention::simt::test

#endif // RAYTENTION_TESTS_SIMT_SUPPORT_H
