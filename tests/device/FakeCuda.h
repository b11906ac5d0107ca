//===- FakeCuda.h - a CUDA driver in host memory -------------- -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TESTS_DEVICE_FAKECUDA_H
#define RAYTENTION_TESTS_DEVICE_FAKECUDA_H

#include <cstddef>
#include <cstdint>

namespace raytention::test::fake {

constexpr int kInvalidValue = 1;

/// A number of the environment.
int number(const char *variable, int otherwise);
/// The result that the environment wants of `function`, or 0.
int wanted(const char *function);

// Each is 0, or the result for what is not so.
int needContext();
/// The bytes are within one allocation.
int needMemory(uint64_t address, size_t bytes);

/// What cuTensorMapEncodeTiled writes here: its arguments, in its order.
struct TensorMapArguments {
  uint32_t type, rank;
  uint64_t address;
  uint64_t size[5], stride[4];
  uint16_t box[5];
  uint8_t step[5];
  uint8_t interleave, swizzle, promotion, fill;
};
static_assert(sizeof(TensorMapArguments) <= 128);

} // namespace raytention::test::fake

#define RT_FAKE(NAME, ...)                                                     \
  extern "C" __attribute__((visibility("default"))) int NAME(__VA_ARGS__)
#define RT_FAIL_IF_WANTED()                                                    \
  if (int result = raytention::test::fake::wanted(__func__))                   \
  return result
#define RT_NEED(CALL)                                                          \
  RT_FAIL_IF_WANTED();                                                         \
  if (int result = CALL)                                                       \
  return result

#endif // RAYTENTION_TESTS_DEVICE_FAKECUDA_H
