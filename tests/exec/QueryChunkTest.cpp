//===- QueryChunkTest.cpp - kernels for some rows at a time -----*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "raytention/Attention.h"
#include "tests/device/Support.h"
#include "tests/support/Results.h"

#include "gtest/gtest.h"

using namespace raytention;
using raytention::test::messageOf;

namespace {

constexpr int64_t kKeys = 150, kWidth = 8, kVocab = 11;

AttentionSpec makeSpec() {
  AttentionSpec spec;
  spec.dModel = kWidth;
  spec.channels = {"centroid", "top:1", "entropy"};
  return spec;
}

CompileOptions makeOptions(TargetKind target, Schedule::Family family) {
  CompileOptions options;
  options.target = target;
  options.schedule.family = family;
  return options;
}

struct Ran {
  std::vector<float> signals;
  RunReport report;
};

Ran run(const CompileOptions &options) {
  auto attention = test::cantFail(Attention::compile(makeSpec(), options));
  std::vector<float> queries(kKeys * kWidth), table(kVocab * kWidth);
  for (size_t i = 0; i < queries.size(); ++i)
    queries[i] = float(i * 37 % 101) / 50 - 1;
  for (size_t i = 0; i < table.size(); ++i)
    table[i] = float(i * 53 % 97) / 48 - 1;
  std::vector<int32_t> ids(kKeys);
  for (int64_t i = 0; i < kKeys; ++i)
    ids[i] = int32_t(i * 7 % kVocab);
  Inputs inputs;
  inputs.numQueries = inputs.numKeys = kKeys;
  inputs.vocab = kVocab;
  inputs.queries = queries.data();
  inputs.table = table.data();
  inputs.ids = ids.data();
  Ran result;
  result.signals.resize(kKeys * attention->signalWidth());
  Outputs outputs;
  outputs.signals = result.signals.data();
  result.report = test::cantFail(attention->run(inputs, outputs, 2));
  return result;
}

TEST(QueryChunk, KeepsTheWorkspaceCapWithTheSameBits) {
  RT_NVRTC_OR_SKIP(nvrtc);
  CompileOptions options =
      makeOptions(TargetKind::Simt, Schedule::Family::Stored);
  Ran whole = run(options);
  options.workspaceCap = whole.report.workspaceBytes / 2;
  Ran chosen = run(options);
  EXPECT_EQ(chosen.signals, whole.signals);
  EXPECT_LE(chosen.report.workspaceBytes, options.workspaceCap);
  options.schedule.queryChunk = 7; // no multiple of a tile, nor a divisor of T
  Ran wanted = run(options);
  EXPECT_EQ(wanted.signals, whole.signals);
  EXPECT_LT(wanted.report.workspaceBytes, chosen.report.workspaceBytes);
}

TEST(QueryChunk, IsRefusedWhereNothingFollowsIt) {
  auto refuse = [](TargetKind target, Schedule::Family family, int64_t rows) {
    CompileOptions options = makeOptions(target, family);
    options.schedule.queryChunk = rows;
    return messageOf(Attention::compile(makeSpec(), options));
  };
  using Family = Schedule::Family;
  EXPECT_EQ(refuse(TargetKind::Cpu, Family::Auto, 64),
            "expected no query chunk but in family stored, got 64");
  EXPECT_EQ(refuse(TargetKind::Simt, Family::Auto, 64),
            "expected no query chunk in family fused, got 64");
  EXPECT_EQ(refuse(TargetKind::Simt, Family::Stored, -1),
            "expected a query chunk in [0, 2147483647], got -1");
}

} // namespace
