//===- Tally.h - runs cases and counts verdicts ----------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TESTS_FUZZ_TALLY_H
#define RAYTENTION_TESTS_FUZZ_TALLY_H

#include "tests/fuzz/Judge.h"

namespace raytention {
namespace fuzz {

/// Runs cases and counts verdicts.
class Tally {
public:
  /// A case that fails is a failure of the test, with commands that repeat it.
  void add(const Case &c, Relation relation);
  /// One line, which tools/test.sh sums up.
  void print() const;

  int64_t total() const;
  int64_t count(Verdict::Kind kind) const { return counts[kind]; }

  /// A verdict that says little must stay rare, or the draws miss their aim.
  void expectUseful() const;

private:
  int64_t counts[Verdict::Failed + 1] = {};
};

} // namespace fuzz
} // namespace raytention

#endif // RAYTENTION_TESTS_FUZZ_TALLY_H
