//===- Planted.cpp - kernels with one planted fault -------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/simt/Planted.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <set>

using namespace raytention::simt;
using namespace raytention::simt::test;

std::string raytention::simt::test::faultyOption(bool faulty) {
  return std::string("--define-macro=FAULTY=") + (faulty ? "1" : "0");
}

static std::set<unsigned> markedLines(llvm::StringRef source) {
  llvm::SmallVector<llvm::StringRef> lines;
  source.split(lines, '\n');
  std::set<unsigned> marked;
  for (unsigned i = 0; i < lines.size(); ++i)
    if (lines[i].contains("// here"))
      marked.insert(i + 1);
  return marked;
}

/// At a line of the kernel, or in what it calls there.
static bool isAt(const Finding &finding, const std::set<unsigned> &lines) {
  std::vector<SourceLine> places = finding.callers;
  places.push_back({finding.file, finding.line});
  for (const SourceLine &place : places)
    if (llvm::StringRef(place.file).ends_with("k.cu") &&
        lines.count(place.line))
      return true;
  return false;
}

void raytention::simt::test::expectPlanted(const Report &report,
                                           const Planted &planted,
                                           const std::string &source) {
  std::set<unsigned> lines = markedLines(source);
  std::string kind = getName(planted.kind).str();
  bool found = false;
  for (const Finding &finding : report.findings) {
    found |= finding.kind == planted.kind && isAt(finding, lines);
    EXPECT_TRUE(finding.kind == planted.kind ||
                llvm::is_contained(planted.also, finding.kind))
        << "expected only " << kind << ", got\n"
        << finding.text();
  }
  EXPECT_TRUE(found) << "expected " << kind << " at line " << *lines.begin()
                     << ", got\n"
                     << describe(report);
}
