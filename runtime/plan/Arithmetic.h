//===- Arithmetic.h - integers of the host program --------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_PLAN_ARITHMETIC_H
#define RAYTENTION_RUNTIME_PLAN_ARITHMETIC_H

#include "runtime/plan/Plan.h"

#include "llvm/Support/Error.h"

namespace raytention::plan {

/// Values are kept sign-extended to 64 bits: true is -1.

/// `a op b` on integers of `bits` bits. Errors: a division by 0 or whose result
/// does not fit, a shift by `bits` or more; all of them undefined in MLIR.
llvm::Expected<int64_t> compute(Opcode op, unsigned bits, int64_t a, int64_t b);

bool compare(Predicate predicate, unsigned bits, int64_t a, int64_t b);

/// From `from` bits to `to`: cut off, or extended by the sign or by zeros.
int64_t castSigned(unsigned from, unsigned to, int64_t value);
int64_t castUnsigned(unsigned from, unsigned to, int64_t value);

} // namespace raytention::plan

#endif // RAYTENTION_RUNTIME_PLAN_ARITHMETIC_H
