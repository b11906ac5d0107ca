//===- Report.h - what a run says on stdout ---------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TOOLS_RT_REPORT_H
#define RAYTENTION_TOOLS_RT_REPORT_H

#include "tools/rt/Check.h"
#include "tools/rt/Explain.h"
#include "tools/rt/Gradcheck.h"

namespace raytention::tool {

/// Everything that is told of one run.
struct Report {
  const RunInputs &inputs;
  const RunResult &result;
  TargetKind target;
  std::optional<CheckOutcome> check;
  std::optional<GradcheckOutcome> gradcheck;
  std::vector<Explanation> explanations;

  bool passed() const {
    return (!check || check->report.passed()) &&
           (!gradcheck || gradcheck->passed);
  }
};

/// For people: a few aligned lines, the tables of the checks, the explanations.
void printReport(const Report &report, llvm::raw_ostream &os);

/// Version of the object that printJson() writes.
constexpr int64_t jsonVersion = 1;
/// For programs: one object on one line. In it err, tol and score_error are
/// all relative to the item's largest magnitude (those of gradcheck to
/// max(1, |difference|)), absolute where the item has "zero": true, because its
/// true value is 0 within rounding; of such a gradient, "roundings" is the
/// error in roundings of the terms that cancel. A number that is not finite, or
/// not known, is null; so is "passed" where the score error excuses anything.
void printJson(const Report &report, llvm::raw_ostream &os);

/// A number, or null where JSON has none for it.
llvm::json::Value jsonNumber(std::optional<double> value);
/// A string whose invalid UTF-8 is replaced.
llvm::json::Value jsonText(llvm::StringRef text);

} // namespace raytention::tool

#endif // RAYTENTION_TOOLS_RT_REPORT_H
