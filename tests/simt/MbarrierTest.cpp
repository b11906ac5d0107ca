//===- MbarrierTest.cpp - mbarriers against a model of their counts -------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/simt/Support.h"

#include <random>

using namespace raytention::simt;
using namespace raytention::simt::test;

namespace {
/// The counts of the PTX ISA, "phase of the mbarrier object".
struct Model {
  uint32_t expected, pending, phase = 0;
  int32_t bytes = 0;

  void end() {
    if (pending || bytes)
      return;
    ++phase;
    pending = expected;
  }
  void arrive(uint32_t count, bool drop) {
    pending -= count;
    expected -= drop ? count : 0;
    end();
  }
  void expect(int32_t change) {
    bytes += change;
    end();
  }
};

/// One thread's drawn instructions, each with what it has to store.
class Sequence {
public:
  explicit Sequence(unsigned seed) : draw(seed), model{number(2, 9), 0} {
    model.pending = model.expected;
    add("mbarrier.init.shared::cta.b64 [bar], " +
        std::to_string(model.expected) + ";");
    for (unsigned i = 0; i < 60; ++i)
      step();
  }

  std::string text;
  std::vector<uint32_t> expected;

private:
  uint32_t number(uint32_t least, uint32_t most) {
    return least + draw() % (most - least + 1);
  }
  void add(const std::string &line) { text += line + "\n"; }
  void store(uint32_t value) {
    add("st.global.u32 [%rd1+" + std::to_string(4 * expected.size()) +
        "], %r1;");
    expected.push_back(value);
  }
  void storePredicate(bool value) {
    add("selp.u32 %r1, 1, 0, %p1;");
    store(value);
  }

  void step() {
    // Nobody may arrive in a phase that only waits for bytes.
    if (!model.pending)
      return number(0, 1) ? changeBytes() : waitForParity();
    switch (number(0, 7)) {
    case 0:
      return arrive(false);
    case 1:
      return number(0, 3) || model.expected < 3 ? arrive(false) : arrive(true);
    case 2:
      return changeBytes();
    case 3:
      return arriveExpecting();
    case 4:
      return noComplete();
    case 5:
      return waitForState();
    default:
      return waitForParity();
    }
  }

  /// The state of an arrival tells what was pending before it.
  void arrive(bool drop) {
    uint32_t count = number(1, std::min(2u, model.pending));
    if (drop && model.expected <= count)
      return;
    const char *name = drop ? "arrive_drop" : "arrive";
    before = model;
    if (count == 1 && number(0, 1))
      add(std::string("mbarrier.") + name + ".shared::cta.b64 %rd2, [bar];");
    else
      add(std::string("mbarrier.") + name +
          ".release.cta.shared::cta.b64 %rd2, [bar], " + std::to_string(count) +
          ";");
    model.arrive(count, drop);
    add("mbarrier.pending_count.b64 %r1, %rd2;");
    store(before.pending);
    hasState = true;
  }

  void changeBytes() {
    bool more = model.bytes <= 0 || number(0, 1);
    uint32_t bytes = more ? number(1, 3) * 16 : uint32_t(model.bytes);
    add(std::string("mbarrier.") + (more ? "expect_tx" : "complete_tx") +
        ".relaxed.cta.shared::cta.b64 [bar], " + std::to_string(bytes) + ";");
    model.expect(more ? int32_t(bytes) : -int32_t(bytes));
  }

  void arriveExpecting() {
    uint32_t bytes = number(0, 2) * 16;
    before = model;
    add("mbarrier.arrive.expect_tx.shared::cta.b64 %rd2, [bar], " +
        std::to_string(bytes) + ";");
    model.bytes += bytes;
    model.arrive(1, false);
    hasState = true;
  }

  void noComplete() {
    if (model.pending < 2)
      return;
    before = model;
    add("mbarrier.arrive.noComplete.release.cta.shared::cta.b64 %rd2, [bar], "
        "1;");
    model.arrive(1, false);
    hasState = true;
  }

  /// States of phases before the last may not be waited for.
  void waitForState() {
    if (!hasState || model.phase > before.phase + 1)
      return;
    add(std::string("mbarrier.") + (number(0, 1) ? "test" : "try") +
        "_wait.shared::cta.b64 %p1, [bar], %rd2;");
    storePredicate(model.phase > before.phase);
  }

  void waitForParity() {
    uint32_t parity = number(0, 1);
    bool hinted = number(0, 1);
    add(std::string("mbarrier.") + (hinted ? "try" : "test") +
        "_wait.parity.acquire.cta.shared::cta.b64 %p1, [bar], " +
        std::to_string(parity) + (hinted ? ", 1000;" : ";"));
    storePredicate((model.phase & 1) != parity);
  }

  std::mt19937 draw;
  Model model, before{1, 1};
  bool hasState = false;
};

std::string wrap(const std::string &body) {
  return ".version 8.0\n.target sm_90\n.address_size 64\n"
         ".visible .entry k(.param .u64 p) {\n"
         ".reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n"
         ".shared .align 8 .b64 bar;\n.shared .align 16 .b8 s[256];\n"
         "ld.param.u64 %rd1, [p];\n" +
         body + "ret;\n}\n";
}
} // namespace

TEST(MbarrierTest, CountsAsTheModelDoes) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Sequence sequence(seed);
    Machine machine(wrap(sequence.text));
    uint32_t *out = machine.buffer(
        std::vector<uint32_t>(sequence.expected.size() + 1), "out");
    LaunchOptions options;
    options.checks = seed % 4;
    Report report = machine.run("k", {}, {1, 1, 1}, 0, pack(out), options);
    EXPECT_TRUE(report.clean()) << describe(report) << sequence.text;
    for (size_t i = 0; i < sequence.expected.size(); ++i)
      ASSERT_EQ(out[i], sequence.expected[i]) << i << "\n" << sequence.text;
  }
}

/// A wait is issued once, however long it lasts.
TEST(MbarrierTest, WaitsForAllLanesOfOtherWarps) {
  Machine machine(wrap("mov.u32 %r1, %tid.x;\nsetp.ne.u32 %p1, %r1, 0;\n"
                       "@!%p1 mbarrier.init.shared::cta.b64 [bar], 64;\n"
                       "bar.sync 0;\nsetp.lt.u32 %p2, %r1, 64;\n"
                       "@%p2 bra WAIT;\n"
                       "mbarrier.arrive.shared::cta.b64 _, [bar];\nret;\n"
                       "WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 %p3, "
                       "[bar], 0;\n@!%p3 bra WAIT;\n"
                       "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd2, %rd1, %rd2;\n"
                       "st.global.u32 [%rd2], 1;\n"));
  int *out = machine.buffer(std::vector<int>(64), "out");
  Report report = machine.run("k", {}, {128, 1, 1}, 0, pack(out));
  EXPECT_TRUE(report.clean()) << describe(report);
  EXPECT_EQ(std::count(out, out + 64, 1), 64);
  EXPECT_EQ(report.profile.mix["mbarrier.try_wait"], 2u);
}

/// A wait may say no, and its thread do something else: here, arrive.
TEST(MbarrierTest, RefusedWaitsGoOn) {
  Machine machine(wrap("mbarrier.init.shared::cta.b64 [bar], 1;\n"
                       "mov.u32 %r1, 0;\nAGAIN:\n"
                       "mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], "
                       "0;\n@%p1 bra DONE;\nadd.u32 %r1, %r1, 1;\n"
                       "setp.lt.u32 %p2, %r1, 100;\n@%p2 bra AGAIN;\n"
                       "mbarrier.arrive.shared::cta.b64 _, [bar];\nbra AGAIN;\n"
                       "DONE:\nst.global.u32 [%rd1], %r1;\n"));
  int *out = machine.buffer(std::vector<int>(1), "out");
  Report report = machine.run("k", {}, {1, 1, 1}, 0, pack(out));
  EXPECT_TRUE(report.clean()) << describe(report);
  EXPECT_EQ(out[0], 100);
}

/// With a number of its own for each copy, and counted in before.
TEST(MbarrierTest, ArrivesBehindCopies) {
  for (bool counted : {false, true}) {
    std::string form = counted ? ".noinc" : "";
    std::string count = counted ? "33" : "1";
    Machine machine(wrap(
        "mov.u32 %r1, %tid.x;\nsetp.ne.u32 %p1, %r1, 0;\n"
        "@!%p1 mbarrier.init.shared::cta.b64 [bar], " +
        count +
        ";\nbar.sync 0;\nmul.wide.u32 %rd2, %r1, 4;\n"
        "add.s64 %rd2, %rd1, %rd2;\nshl.b32 %r2, %r1, 2;\nmov.u32 %r3, s;\n"
        "add.u32 %r2, %r3, %r2;\ncp.async.ca.shared.global [%r2], [%rd2], 4;\n"
        "cp.async.mbarrier.arrive" +
        form +
        ".shared::cta.b64 [bar];\n"
        "@!%p1 mbarrier.arrive.shared::cta.b64 _, [bar];\nWAIT:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;\n"
        "@!%p2 bra WAIT;\nxor.b32 %r2, %r2, 4;\nld.shared.u32 %r4, [%r2];\n"
        "st.global.u32 [%rd2+128], %r4;\n"));
    std::vector<int> values(64);
    for (int i = 0; i < 64; ++i)
      values[i] = 3 * i;
    int *out = machine.buffer(values, "out");
    Report report = machine.run("k", {}, {32, 1, 1}, 0, pack(out));
    EXPECT_TRUE(report.clean()) << describe(report);
    for (int i = 0; i < 32; ++i)
      EXPECT_EQ(out[32 + i], 3 * (i ^ 1));
  }
}

TEST(MbarrierTest, NobodyArrivesInAPhaseThatLacksBytes) {
  Machine machine(wrap("mbarrier.init.shared::cta.b64 [bar], 1;\n"
                       "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], "
                       "16;\nmbarrier.arrive.shared::cta.b64 _, [bar];\n"));
  int *out = machine.buffer(std::vector<int>(1), "out");
  Report report = machine.run("k", {}, {1, 1, 1}, 0, pack(out));
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].kind, FindingKind::BarrierMisuse);
  EXPECT_EQ(report.findings[0].message, "expected no arrival in a phase that "
                                        "lacks only bytes, got 1");
}
