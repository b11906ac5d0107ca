//===- Results.h - results in tests -----------------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TESTS_SUPPORT_RESULTS_H
#define RAYTENTION_TESTS_SUPPORT_RESULTS_H

#include "raytention/Status.h"

#include <cstdio>
#include <cstdlib>

namespace raytention::test {

/// The value of a result that has one, else the end of the program.
template <typename T> T cantFail(Result<T> result) {
  if (result)
    return *std::move(result);
  std::fprintf(stderr, "unexpected failure: %s\n",
               result.status().message().c_str());
  std::abort();
}

/// The message of a failure, "" of a success.
template <typename T> std::string messageOf(const Result<T> &result) {
  return result.status().message();
}

} // namespace raytention::test

#endif // RAYTENTION_TESTS_SUPPORT_RESULTS_H
