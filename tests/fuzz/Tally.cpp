//===- Tally.cpp - runs cases and counts verdicts --------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/fuzz/Tally.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

using namespace raytention::fuzz;

void Tally::add(const Case &c, Relation relation) {
  Verdict verdict = judge(c, relation);
  ++counts[verdict.kind];
  if (verdict.kind != Verdict::Failed)
    return;
  ADD_FAILURE() << c.name << ": " << verdict.why << "\n  "
                << llvm::join(verdict.commands, "\n  ");
}

void Tally::print() const {
  std::printf("fuzz: %ld cases, %ld passed, %ld refused, %ld unchecked, %ld "
              "overflowed, %ld failed\n",
              long(total()), long(count(Verdict::Passed)),
              long(count(Verdict::Refused)), long(count(Verdict::Unchecked)),
              long(count(Verdict::Overflow)), long(count(Verdict::Failed)));
  std::fflush(stdout);
}

int64_t Tally::total() const { return llvm::sum_of(counts); }

void Tally::expectUseful() const {
  EXPECT_LE(count(Verdict::Unchecked) * 10, total());
  EXPECT_LE(count(Verdict::Refused) * 10, total() * 3);
  EXPECT_LE(count(Verdict::Overflow) * 10, total());
}
