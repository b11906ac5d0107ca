//===- PlainAttention.h - the default channels in plain loops ---*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TESTS_CHARLM_PLAINATTENTION_H
#define RAYTENTION_TESTS_CHARLM_PLAINATTENTION_H

#include "raytention/Attention.h"

namespace raytention::test {

/// Forward and backward of the default channels with decays counted from the
/// query, as written in SEMANTICS: materialised, one loop after another.
/// Real is float or double, as the operands are.
template <typename Real>
std::unique_ptr<Attention> plainAttention(int64_t dModel);

} // namespace raytention::test

#endif // RAYTENTION_TESTS_CHARLM_PLAINATTENTION_H
