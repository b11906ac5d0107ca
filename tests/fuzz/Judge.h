//===- Judge.h - whether a run of a case was right --------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TESTS_FUZZ_JUDGE_H
#define RAYTENTION_TESTS_FUZZ_JUDGE_H

#include "tests/fuzz/Case.h"

namespace raytention {
namespace fuzz {

struct Verdict {
  enum Kind {
    Passed,
    Refused,   ///< outside of the domain
    Unchecked, ///< the scores' own error says nothing of the result
    Overflow,  ///< a gradient passes what numbers can hold, and rt says so
    Failed
  } kind = Passed;
  std::string why;                   ///< of a failure, one line
  std::vector<std::string> commands; ///< that repeat it
};

/// What must hold beside the check against the oracle. None needs one.
enum class Relation {
  None,
  Threads,     ///< another number of threads: the same bits
  OtherUnread, ///< other values where nothing is read: the same bits
  NanUnread,   ///< NaN where nothing is read: the same bits
  Schedule     ///< another schedule: within the rule
};

/// The relation that a drawn case is also held to.
Relation chooseRelation(const Case &c, uint64_t number);

/// Runs the case; the files of one that failed are kept.
Verdict judge(const Case &c, Relation relation);

} // namespace fuzz
} // namespace raytention

#endif // RAYTENTION_TESTS_FUZZ_JUDGE_H
