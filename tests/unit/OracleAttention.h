//===- OracleAttention.h - an attention that asks the oracle ----*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stands in for a compiled attention where a test is about the tool: right
// unless told otherwise, with gradients for every channel.
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TESTS_UNIT_ORACLEATTENTION_H
#define RAYTENTION_TESTS_UNIT_ORACLEATTENTION_H

#include "tests/unit/Support.h"
#include "tools/oracle/Gradient.h"

#include <functional>

namespace raytention::test {

/// Changes gradients before they are handed on; `rowsWithGradient`: how many
/// rows of dy are not zero.
using Fault =
    std::function<void(oracle::Gradients &gradients, int64_t rowsWithGradient)>;

/// `rt` with an attention that asks the oracle. F32 and F64 only.
ToolOutput runRtOnOracle(const std::vector<std::string> &args,
                         Fault fault = {});

} // namespace raytention::test

#endif // RAYTENTION_TESTS_UNIT_ORACLEATTENTION_H
