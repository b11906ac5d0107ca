//===- RunCase.h - a case as files and a command ----------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TESTS_FUZZ_RUNCASE_H
#define RAYTENTION_TESTS_FUZZ_RUNCASE_H

#include "tests/fuzz/Case.h"

namespace raytention {
namespace fuzz {

struct ProgramResult {
  int code = 0; ///< exit code; negative: killed, or out of time
  std::string out, err;
  std::string command; ///< as a shell takes it
};

/// A folder with the inputs of a case, by name of the array: ids.npy, ...
/// Removed at the end unless kept.
class CaseFolder {
public:
  /// Below `RT_FUZZ_KEEP` where that is set, else below the build folder.
  /// `suffix` tells apart several runs of one case.
  CaseFolder(const Case &c, const std::string &suffix = "");
  ~CaseFolder();
  void keep() { kept = true; }
  std::string file(const std::string &name) const { return path + "/" + name; }

  /// Runs the case as a process of its own. With `check` against the oracle,
  /// its verdict as JSON; with `out` the outputs are written to file("out").
  ProgramResult run(bool check, bool out) const;

private:
  void write() const;
  std::vector<std::string> makeArguments(bool check, bool out) const;

  const Case &c;
  std::string path;
  bool kept = false;
};

/// The bytes of a file; empty where there is none.
std::string readBytes(const std::string &path);
/// Names of the files that a run writes.
std::vector<std::string> outputNames(const Case &c);

} // namespace fuzz
} // namespace raytention

#endif // RAYTENTION_TESTS_FUZZ_RUNCASE_H
