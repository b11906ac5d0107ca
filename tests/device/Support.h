//===- Support.h - what the tests of devices share ------------ -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TESTS_DEVICE_SUPPORT_H
#define RAYTENTION_TESTS_DEVICE_SUPPORT_H

#include "runtime/nvrtc/Compiler.h"

#include "gtest/gtest.h"

#include <string>

namespace raytention::test {

/// Sets an environment variable as long as it lives (null: unsets it).
class ScopedVariable {
public:
  ScopedVariable(const char *name, const char *value);
  ~ScopedVariable();

private:
  std::string name, before;
  bool wasSet;
};

/// NVRTC, or null with the reason: a failed test where RT_REQUIRE_NVRTC is 1,
/// else a skipped one.
std::shared_ptr<nvrtc::Compiler> nvrtcOrReason(std::string &reason,
                                               bool &required);

/// The message of a failure, "" of a success.
template <typename T> std::string messageOf(llvm::Expected<T> value) {
  return value ? "" : llvm::toString(value.takeError());
}

} // namespace raytention::test

/// Declares `name`, an open NVRTC; ends the test where there is none.
#define RT_NVRTC_OR_SKIP(name)                                                 \
  std::string name##Reason;                                                    \
  bool name##Required = false;                                                 \
  auto name = raytention::test::nvrtcOrReason(name##Reason, name##Required);   \
  if (!name && name##Required)                                                 \
    FAIL() << "RT_REQUIRE_NVRTC is set: " << name##Reason;                     \
  if (!name)                                                                   \
  GTEST_SKIP() << name##Reason

#endif // RAYTENTION_TESTS_DEVICE_SUPPORT_H
