//===- AsyncForms.cpp - mbarriers and bulk copies, form by form -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/simt/FormCase.h"

#include <algorithm>

using namespace raytention::simt;
using namespace raytention::simt::test;

// What counts do over many phases is MbarrierTest's, and boxes of tensors are
// TensorCopyTest's.

namespace {

const char *const kSync = "bar.sync 0;\n";
/// Whether the first phase has ended, to %mem.
const char *const kAsk =
    "bar.sync 0;\nmbarrier.test_wait.parity.shared::cta.b64 %q2, [%t2], 0;\n"
    "selp.u32 %t1, 1, 0, %q2;\nst.global.u32 [%mem], %t1;\n";

/// Text that one thread of the block runs.
std::string once(const std::string &text) {
  static unsigned label = 0;
  std::string name = "past" + std::to_string(label++);
  return "@%q3 bra " + name + ";\n" + text + name + ":\n";
}

/// An mbarrier at %t2 that counts to so much; %q3 holds in all but one thread.
std::string withObject(unsigned count) {
  return ".shared .align 8 .b64 object;\n.reg .b64 %state;\n"
         "and.b32 %t1, %t, 63;\nsetp.ne.u32 %q3, %t1, 0;\n"
         "mov.u32 %t2, object;\n" +
         (count ? once("mbarrier.init.shared::cta.b64 [%t2], " +
                       std::to_string(count) + ";\n") +
                      kSync
                : "");
}

FormRun objectRun(const FormCase &form, unsigned count, uint64_t value) {
  FormRun run;
  run.addresses = {"%t2"};
  run.before = withObject(count);
  run.inputs.assign(form.count(Slot::Source), std::vector<uint64_t>(64, value));
  return run;
}

/// All threads read the answer of kAsk.
void expectEnded(const FormCase &form, FormRun &run, bool ended) {
  run.after += kAsk;
  runForm(form, run);
  for (unsigned thread : {0u, 63u})
    EXPECT_EQ(run.memory[32 * thread], ended) << thread;
}

/// Each thread arrives, twice where there is a count, and one once more: the
/// phase ends with the last arrival, and not before.
void runArrive(const FormCase &form, const std::string &how) {
  bool expects = how == "expect_tx";
  unsigned each = !expects && form.count(Slot::Source) ? 2 : 1;
  for (unsigned missing : {0u, 1u}) {
    FormRun run = objectRun(form, 64 * each + 1 + missing, expects ? 16 : 2);
    if (expects)
      run.after = "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%t2], "
                  "16;\n";
    run.after += kSync + once("mbarrier.arrive.shared::cta.b64 _, [%t2];\n");
    expectEnded(form, run, !missing);
  }
}

/// Bytes keep the phase open until as many have come.
void runBytes(const FormCase &form, bool expects) {
  std::string other = std::string("mbarrier.") +
                      (expects ? "complete_tx" : "expect_tx") +
                      ".relaxed.cta.shared::cta.b64 [%t2], 16;\n";
  std::string arrive = once("mbarrier.arrive.shared::cta.b64 _, [%t2];\n");
  FormRun run = objectRun(form, 1, 16);
  run.before += expects ? "" : other;
  run.after = (expects ? other : "") + kSync + arrive;
  expectEnded(form, run, true);
}

void runInit(const FormCase &form) {
  FormRun run = objectRun(form, 0, 64);
  run.before += "@%q3 bra past;\n";
  run.after = "past:\nbar.sync 0;\nmbarrier.arrive.shared::cta.b64 _, [%t2];\n";
  expectEnded(form, run, true);
}

void runInvalidate(const FormCase &form) {
  FormRun run = objectRun(form, 64, 0);
  run.before += "@%q3 bra past;\n";
  run.after = "past:\n";
  runForm(form, run);
}

/// After all have arrived, and where it does not block, before.
void runWait(const FormCase &form, bool tries, bool parity) {
  for (unsigned missing : {0u, 1u}) {
    if (tries && missing)
      continue;
    FormRun run = objectRun(form, 64 + missing, 0);
    run.before +=
        "mbarrier.arrive.shared::cta.b64 %state, [%t2];\nbar.sync 0;\n";
    if (!parity)
      run.before += "mov.b64 %x2, %state;\n";
    Columns out = runForm(form, run);
    EXPECT_EQ(out[0], std::vector<uint64_t>(64, !missing));
  }
}

/// Each arrival found one less.
void runPending(const FormCase &form) {
  FormRun run = objectRun(form, 64, 0);
  run.before += "mbarrier.arrive.shared::cta.b64 %x1, [%t2];\n";
  std::vector<uint64_t> got = runForm(form, run)[0];
  std::sort(got.begin(), got.end());
  for (unsigned i = 0; i < 64; ++i)
    EXPECT_EQ(got[i], i + 1);
}

Check checkMbarrier(FormCase &form) {
  std::string op =
      form.takeAny({"init", "inval", "arrive", "arrive_drop", "expect_tx",
                    "complete_tx", "test_wait", "try_wait", "pending_count"});
  std::string how = form.takeAny({"expect_tx", "noComplete"});
  bool parity = form.take("parity");
  form.takeAny({"relaxed", "acquire", "release"});
  form.takeAny({"cta", "cluster"});
  form.takeAny({"shared", "shared::cta", "shared::cluster"});
  if (op.empty() || !form.take("b64"))
    return {};
  return [=] {
    if (op == "init")
      return runInit(form);
    if (op == "inval")
      return runInvalidate(form);
    if (op == "expect_tx" || op == "complete_tx")
      return runBytes(form, op == "expect_tx");
    if (op == "pending_count")
      return runPending(form);
    if (op == "test_wait" || op == "try_wait")
      return runWait(form, op == "try_wait", parity);
    runArrive(form, how);
  };
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

const char *const kWait =
    "again:\nmbarrier.try_wait.parity.shared::cta.b64 %q2, [%t2], 0;\n"
    "@!%q2 bra again;\n";
const char *const kTile =
    ".shared .align 128 .b8 tile[1024];\n.reg .b64 %row, %first;\n"
    "mov.b64 %row, tile;\nmul.wide.u32 %m1, %t1, 16;\n"
    "add.s64 %row, %row, %m1;\nld.param.u64 %first, [memory];\n";

/// cp.async of each thread, on whose arrival the phase ends. Without .noinc
/// the arrival counts for itself.
void runCopyArrival(const FormCase &form, bool counted) {
  FormRun run = objectRun(form, 64, 0);
  run.memory.assign(32 * 64, 0x5A);
  run.before +=
      std::string(kTile) + "cp.async.ca.shared.global [%row], [%mem], 16;\n";
  run.after = counted ? "" : "mbarrier.arrive.shared::cta.b64 _, [%t2];\n";
  run.after += std::string(kWait) +
               "ld.shared.u32 %t3, [%row];\nst.global.u32 [%mem+16], %t3;\n";
  runForm(form, run);
  EXPECT_EQ(run.memory, std::vector<uint8_t>(32 * 64, 0x5A));
}

std::vector<uint8_t> drawnBytes() {
  std::vector<uint8_t> bytes(32 * 64);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = uint8_t(i * 29 + i / 256);
  return bytes;
}

/// One thread loads 1024 bytes; each stores 16 of them in its last half.
void runLoad(const FormCase &form) {
  FormRun run = objectRun(form, 1, 1024);
  run.memory = drawnBytes();
  std::vector<uint8_t> wanted = run.memory;
  for (size_t i = 0; i < 64; ++i)
    std::copy_n(&run.memory[16 * i], 16, &wanted[32 * i + 16]);
  run.addresses = {"%row", "%first", "%t2"};
  run.before += std::string(kTile) + "fence.proxy.async.shared::cta;\n" +
                "@%q3 bra past;\nmbarrier.arrive.expect_tx.shared::cta.b64 _, "
                "[%t2], 1024;\n";
  run.after = "past:\n" + std::string(kWait) +
              "ld.shared.v2.b64 {%m1, %m2}, [%row];\nbar.sync 0;\n"
              "st.global.v2.b64 [%mem+16], {%m1, %m2};\n";
  runForm(form, run);
  EXPECT_EQ(run.memory, wanted);
}

/// Each thread brings its first half to shared memory, and one thread runs what
/// brings all of them to the first half of memory.
void runOutward(const FormCase &form, FormRun &run, const std::string &before,
                const std::string &after) {
  run.addresses = {"%first", "%row"};
  run.numbers = {"0"};
  run.before += std::string(kTile) +
                "ld.global.v2.b64 {%m1, %m2}, [%mem];\n"
                "st.shared.v2.b64 [%row], {%m1, %m2};\n"
                "fence.proxy.async.shared::cta;\nbar.sync 0;\n"
                "@%q3 bra past;\n" +
                before;
  run.after = after + "past:\n";
  runForm(form, run);
}

void runStore(const FormCase &form, const std::string &before,
              const std::string &after) {
  FormRun run = objectRun(form, 0, 1024);
  run.memory = drawnBytes();
  std::vector<uint8_t> wanted = run.memory;
  for (size_t i = 0; i < 64; ++i)
    std::copy_n(&run.memory[32 * i], 16, &wanted[16 * i]);
  runOutward(form, run, before, after);
  EXPECT_EQ(run.memory, wanted);
}

const char *const kStore = "cp.async.bulk.global.shared::cta.bulk_group "
                           "[%first], [%row], 1024;\n";
const char *const kCommit = "cp.async.bulk.commit_group;\n";
const char *const kDrain = "cp.async.bulk.wait_group 0;\n";

Check checkGroups(FormCase &form) {
  if (form.take("commit_group"))
    return [=] { runStore(form, kStore, kDrain); };
  if (!form.take("wait_group"))
    return {};
  // Once the source may be written again the copy has still to be waited for.
  std::string after = form.take("read") ? kDrain : "";
  return [=] { runStore(form, kStore + std::string(kCommit), after); };
}

/// That it is accepted: see above.
void expectAccepted(const FormCase &form) {
  FormRun run = objectRun(form, 1, 16);
  run.addresses = {"%t2", "%mem", "%t2"};
  if (form.info.operands[0] == '[' && form.info.operands.find('{') < 8)
    run.addresses = {"%mem", "%t2"};
  run.before += "bra past;\n";
  run.after = "past:\n";
  runForm(form, run);
}

Check checkBulk(FormCase &form) {
  if (Check groups = checkGroups(form))
    return groups;
  bool prefetches = form.take("prefetch"), tensor = form.take("tensor");
  form.takeAny({"1d", "2d", "3d", "4d", "5d"});
  form.take("L2");
  std::string to = form.takeAny({"shared::cluster", "shared::cta", "global"});
  form.takeAny({"global", "shared::cta"});
  form.take("tile");
  form.takeAny({"bulk_group", "mbarrier::complete_tx::bytes"});
  form.take("L2::cache_hint");
  if (tensor || prefetches)
    return [=] { expectAccepted(form); };
  return [=] {
    if (to != "global")
      return runLoad(form);
    runStore(form, "", std::string(kCommit) + kDrain);
  };
}

/// All pairs of edge values, as what the two halves of memory hold.
void runReduction(const FormCase &form, const std::string &op,
                  const std::string &type) {
  size_t size = bitsOfType(type) / 8;
  const std::vector<uint64_t> &all = atomicEdges(type);
  auto value = [&](size_t i) { return all[(i + i / 8) % 8]; };
  FormRun run = objectRun(form, 0, 1024);
  run.memory.resize(32 * 64);
  for (size_t i = 0; i < run.memory.size() / size; ++i) {
    uint64_t bits = value(i);
    std::memcpy(&run.memory[i * size], &bits, size);
  }
  std::vector<uint8_t> wanted = run.memory;
  for (size_t at = 0; at < 1024; at += size) {
    uint64_t old = 0, other = 0, result;
    std::memcpy(&old, &run.memory[at], size);
    std::memcpy(&other, &run.memory[at / 16 * 32 + at % 16], size);
    result = atomicResult(op, type, old, other, 0);
    std::memcpy(&wanted[at], &result, size);
  }
  runOutward(form, run, "", std::string(kCommit) + kDrain);
  for (size_t at = 0; at < run.memory.size(); at += size) {
    uint64_t got = 0, expected = 0;
    std::memcpy(&got, &run.memory[at], size);
    std::memcpy(&expected, &wanted[at], size);
    EXPECT_TRUE(agree(type, got, expected)) << at << std::hex << " " << got;
  }
}

} // namespace

Check raytention::simt::test::checkReduction(FormCase &form) {
  if (!form.take("async") || !form.take("bulk"))
    return {};
  bool tensor = form.take("tensor");
  form.takeAny({"1d", "2d", "3d", "4d", "5d"});
  form.take("global");
  form.take("shared::cta");
  if (!tensor)
    form.take("bulk_group");
  form.take("L2::cache_hint");
  std::string op =
      form.takeAny({"add", "min", "max", "and", "or", "xor", "inc", "dec"});
  form.take("tile");
  form.take("bulk_group");
  form.take("L2::cache_hint");
  form.take("noftz");
  if (op.empty())
    return {};
  if (tensor)
    return [=] { expectAccepted(form); };
  std::string type = form.takeType();
  return [=] { runReduction(form, op, type); };
}

Check raytention::simt::test::checkAsync(FormCase &form) {
  if (form.take("bulk"))
    return checkBulk(form);
  form.take("mbarrier");
  form.take("arrive");
  bool counted = form.take("noinc");
  form.takeAny({"shared", "shared::cta"});
  if (!form.take("b64"))
    return {};
  return [=] { runCopyArrival(form, counted); };
}

void raytention::simt::test::addAsyncChecks(CheckTable &table) {
  table["mbarrier"] = &checkMbarrier;
}
