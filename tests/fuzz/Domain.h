//===- Domain.h - what rt has to accept -------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TESTS_FUZZ_DOMAIN_H
#define RAYTENTION_TESTS_FUZZ_DOMAIN_H

#include "tests/fuzz/Case.h"

namespace raytention {
namespace fuzz {

/// Where a case lies: rt computes what is inside and refuses what is outside.
/// On the border, within 1e-5 of a limit, either is right.
struct Domain {
  enum Place { Inside, Border, Outside } place = Inside;
  std::string limit; ///< the one that is passed by most
};

/// Limits as docs/semantics.md states them, over the rows that are visible and
/// the keys that they see.
Domain findDomain(const Case &c);

/// The largest squared norm of the visible queries and of the keys they see.
struct Norms {
  double queries = 0, keys = 0;
};
Norms findNorms(const Case &c);

/// Rows of the table that a visible row sees.
std::vector<bool> findReadRows(const Case &c);

} // namespace fuzz
} // namespace raytention

#endif // RAYTENTION_TESTS_FUZZ_DOMAIN_H
