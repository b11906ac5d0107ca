//===- BarrierForms.cpp - barriers and control flow -------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/simt/FormCase.h"

using namespace raytention::simt;
using namespace raytention::simt::test;

namespace {

/// %t1 is the thread of the block, %t2 its word in shared memory, %t3 that of
/// the last thread for the first.
const char *const kWords = ".shared .align 4 .b32 words[64];\n"
                           "and.b32 %t1, %t, 63;\nmov.u32 %t3, words;\n"
                           "mad.lo.u32 %t2, %t1, 4, %t3;\n"
                           "xor.b32 %t4, %t1, MATE;\n"
                           "mad.lo.u32 %t3, %t4, 4, %t3;\n"
                           "st.shared.u32 [%t2], %t;\n";
const char *const kRead =
    "ld.shared.u32 %t3, [%t3];\nst.global.u32 [%mem], %t3;\n";

std::string wordsFor(unsigned mate) {
  std::string text = kWords;
  return text.replace(text.find("MATE"), 4, std::to_string(mate));
}

uint32_t wordOf(const FormRun &run, size_t thread) {
  uint32_t word;
  std::memcpy(&word, &run.memory[32 * thread], sizeof(word));
  return word;
}

/// What was written before is seen after; a race would be found.
void runSync(const FormCase &form, bool warp) {
  FormRun run;
  unsigned mate = warp ? 31 : 63;
  run.before = wordsFor(mate);
  run.after = kRead;
  run.inputs = {std::vector<uint64_t>(128, warp ? 0xFFFFFFFF : 3)};
  if (form.count(Slot::Source) == 2)
    run.inputs.push_back(std::vector<uint64_t>(128, 64));
  runForm(form, run);
  for (size_t i = 0; i < 128; ++i)
    EXPECT_EQ(wordOf(run, i), i ^ mate);
}

/// The first warp arrives and goes on, the second waits for it.
void runArrive(const FormCase &form) {
  FormRun run;
  run.before = wordsFor(63) + "setp.ge.u32 %q1, %t1, 32;\n@%q1 bra waits;\n";
  run.after = "bra done;\nwaits:\nbarrier.sync 3, 64;\n" + std::string(kRead) +
              "done:\n";
  run.inputs = {std::vector<uint64_t>(64, 3), std::vector<uint64_t>(64, 64)};
  runForm(form, run);
  for (size_t i = 32; i < 64; ++i)
    EXPECT_EQ(wordOf(run, i), i ^ 63);
}

/// Blocks where all, none and some hold.
void runVote(const FormCase &form, const std::string &what) {
  FormRun run;
  bool counted = form.count(Slot::Source) == 3;
  run.inputs.assign(counted ? 3 : 2, std::vector<uint64_t>(192, 3));
  if (counted)
    run.inputs[1].assign(192, 64);
  for (size_t i = 0; i < 192; ++i)
    run.inputs.back()[i] = i < 64 ? 1 : i < 128 ? 0 : i % 3 == 0;
  Columns out = runForm(form, run);
  bool negated = form.slots.back().negated;
  for (size_t block = 0; block < 3; ++block) {
    unsigned held = 0;
    for (size_t i = 0; i < 64; ++i)
      held += (run.inputs.back()[64 * block + i] & 1) != negated;
    for (size_t i = 0; i < 64; ++i)
      EXPECT_EQ(out[0][64 * block + i], what == "popc"  ? held
                                        : what == "and" ? held == 64
                                                        : held > 0);
  }
}

/// Of the cluster that a block is; the other half stands in the text.
void runCluster(const FormCase &form, bool arrives, bool relaxed) {
  FormRun run;
  run.threads = 128;
  run.before = wordsFor(63) + (arrives ? "" : "barrier.cluster.arrive;\n");
  run.after = std::string(arrives ? "barrier.cluster.wait;\n" : "") + kRead;
  run.finding = relaxed ? "race-in-block" : "";
  runForm(form, run);
  for (size_t i = 0; i < 128; ++i)
    EXPECT_EQ(wordOf(run, i), i ^ 63);
}

Check checkClusterBarrier(FormCase &form) {
  std::string what = form.takeAny({"arrive", "wait"});
  bool relaxed = what == "arrive" && form.take("relaxed");
  form.take(what == "arrive" ? "release" : "acquire");
  form.take("aligned");
  return [=] { runCluster(form, what == "arrive", relaxed); };
}

/// The address is the block's own, its rank 0.
Check checkClusterAddress(FormCase &form) {
  bool maps = form.parts[0] == "mapa";
  form.take("shared::cluster");
  if (form.takeType().empty())
    return {};
  return [=] {
    FormRun run;
    run.inputs = {{0, 1, 0xFFFFFFFF, 0x123456789ABCDEF0, 1024, 16}};
    if (maps)
      run.inputs.push_back(std::vector<uint64_t>(run.inputs[0].size()));
    Columns out = runForm(form, run);
    std::string type = form.slots[0].type;
    for (size_t i = 0; i < out[0].size(); ++i)
      EXPECT_EQ(truncated(out[0][i], type),
                maps ? truncated(run.inputs[0][i], type) : 0);
  };
}

Check checkBarrier(FormCase &form) {
  if (form.take("cluster"))
    return checkClusterBarrier(form);
  form.take("cta");
  if (form.take("warp"))
    return form.take("sync") ? Check([=] { runSync(form, true); }) : Check();
  std::string what = form.takeAny({"sync", "arrive", "red"});
  std::string vote = form.takeAny({"popc", "and", "or"});
  form.take("aligned");
  if (what == "sync")
    return [=] { runSync(form, false); };
  if (what == "arrive")
    return [=] { runArrive(form); };
  if (form.takeAny({"u32", "pred"}).empty())
    return {};
  return [=] { runVote(form, vote); };
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

/// Runs it with 5 to be stored behind it; gives what was.
uint32_t storedAfter(const FormCase &form, const std::string &finding,
                     const std::string &after = "") {
  FormRun run;
  run.finding = finding;
  run.before = "mov.u32 %t3, 4;\n";
  run.after = "mov.u32 %t3, 5;\n" + after + "st.global.u32 [%mem], %t3;\n";
  run.inputs.assign(form.count(Slot::Source), std::vector<uint64_t>(64, 20));
  runForm(form, run);
  return wordOf(run, 63);
}

Check checkBranch(FormCase &form) {
  form.take("uni");
  return [=] { EXPECT_EQ(storedAfter(form, "", "label:\n"), 4u); };
}

Check checkIndexed(FormCase &form) {
  bool known = form.take("idx");
  form.take("uni");
  if (!known)
    return {};
  return [=] {
    FormRun run;
    run.inputs = {std::vector<uint64_t>(64)};
    for (size_t i = 0; i < 64; ++i)
      run.inputs[0][i] = i % 3;
    run.before = "targets: .branchtargets one, two, three;\n";
    run.after = "one: mov.u32 %t3, 1;\nbra done;\n"
                "two: mov.u32 %t3, 2;\nbra done;\nthree: mov.u32 %t3, 3;\n"
                "done:\nst.global.u32 [%mem], %t3;\n";
    runForm(form, run);
    for (size_t i = 0; i < 64; ++i)
      EXPECT_EQ(wordOf(run, i), i % 3 + 1);
  };
}

Check checkEnd(FormCase &form) {
  form.take("uni");
  bool traps = form.parts[0] == "trap" || form.parts[0] == "brkpt";
  return [=] { EXPECT_EQ(storedAfter(form, traps ? "trap" : ""), 0u); };
}

/// Of itself it changes nothing; what it orders is tested with the findings.
Check checkNothing(FormCase &form) {
  if (form.take("proxy"))
    form.take("async");
  form.take("mbarrier_init");
  form.takeAny({"global", "shared::cta", "shared::cluster"});
  form.takeAny({"u32", "sc", "acq_rel", "acquire", "release"});
  form.takeAny({"cta", "gl", "sys", "gpu", "cluster"});
  return [=] { EXPECT_EQ(storedAfter(form, ""), 5u); };
}

} // namespace

void raytention::simt::test::addControlChecks(CheckTable &table) {
  table["bar"] = table["barrier"] = &checkBarrier;
  table["mapa"] = table["getctarank"] = &checkClusterAddress;
  table["bra"] = &checkBranch;
  table["brx"] = &checkIndexed;
  for (const char *family : {"exit", "ret", "trap", "brkpt"})
    table[family] = &checkEnd;
  for (const char *family : {"nanosleep", "membar", "fence"})
    table[family] = &checkNothing;
}
