//===- AtomicForms.cpp - models of atomics and async copies -----*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/simt/FormCase.h"
#include "tests/simt/MemoryPlaces.h"
#include "tests/simt/ModelMath.h"

using namespace raytention::simt;
using namespace raytention::simt::test;

namespace {

S128 wholeResult(const std::string &op, S128 old, S128 b, S128 c) {
  return op == "add"   ? old + b
         : op == "min" ? std::min(old, b)
         : op == "max" ? std::max(old, b)
         : op == "and" ? old & b
         : op == "or"  ? old | b
         : op == "xor" ? old ^ b
         : op == "inc" ? (old >= b ? 0 : old + 1)
         : op == "dec" ? (old == 0 || old > b ? b : old - 1)
         : op == "cas" ? (old == b ? c : old)
                       : b;
}

} // namespace

/// Of two that are no NaNs; -0 is less than 0.
static bool isLess(double a, double b) {
  return a < b || (a == b && std::signbit(a) && !std::signbit(b));
}

static uint64_t smallResult(const std::string &op, bool isHalf, uint64_t old,
                            uint64_t b) {
  old &= 0xFFFF;
  b &= 0xFFFF;
  double x = isHalf ? half(old) : bfloat(old), y = isHalf ? half(b) : bfloat(b);
  if (op == "min")
    return isLess(y, x) ? b : old;
  if (op == "max")
    return isLess(x, y) ? b : old;
  return isHalf ? toHalf(Exact(x) + y) : toBFloat(Exact(x) + y);
}

uint64_t raytention::simt::test::atomicResult(const std::string &op,
                                              const std::string &type,
                                              uint64_t old, uint64_t b,
                                              uint64_t c) {
  if (type == "f32")
    return bitsOf(asFloat(old) + asFloat(b));
  if (type == "f64")
    return bitsOf(asDouble(old) + asDouble(b));
  if (type == "f16" || type == "bf16")
    return smallResult(op, type == "f16", old, b);
  if (isFloatType(type)) {
    std::string one = type.substr(0, type.size() - 2);
    return atomicResult(op, one, old, b, c) |
           atomicResult(op, one, old >> 16, b >> 16, c) << 16;
  }
  return uint64_t(
      wholeResult(op, wholeOf(old, type), wholeOf(b, type), wholeOf(c, type)));
}

const std::vector<uint64_t> &
raytention::simt::test::atomicEdges(const std::string &type) {
  static const std::vector<uint64_t> whole = {
      0, 1, 5, 6, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x8000000000000000};
  static const std::vector<uint64_t> f32 = {0,          0x80000000, 0x3F800000,
                                            0xBF800001, 0x7F800000, 0xFF800000,
                                            0x00000001, 0x7F7FFFFF};
  static const std::vector<uint64_t> f64 = {
      bitsOf(0.0),        bitsOf(1.5),        bitsOf(-1e300), bitsOf(1e-310),
      0x7FF0000000000000, 0xFFF0000000000000, bitsOf(1e16),   bitsOf(-0.0)};
  static const std::vector<uint64_t> f16 = {0x00010000, 0x3C00BC00, 0x7C00FC00,
                                            0x04008001, 0x7BFF3801, 0x14003C01,
                                            0x80008000, 0x3555C248};
  static const std::vector<uint64_t> bf16 = {0x00010000, 0x3F80BF80, 0x7F80FF80,
                                             0x00808001, 0x7F7F3F01, 0x3B803F81,
                                             0x80008000, 0x3EABC049};
  return type == "f32"                 ? f32
         : type == "f64"               ? f64
         : type.substr(0, 3) == "f16"  ? f16
         : type.substr(0, 4) == "bf16" ? bf16
                                       : whole;
}

namespace {

/// Each thread has a cell of its own: all pairs of what it holds and what comes
/// to it. That threads take turns is tested apart.
void runAtomic(const FormCase &form, const std::string &space,
               const std::string &op, const std::string &type) {
  FormRun run;
  Place place = placeOf(space);
  const std::vector<uint64_t> &all = atomicEdges(type);
  run.memory.resize(32 * 64);
  run.inputs.resize(form.count(Slot::Source));
  for (size_t i = 0; i < 64; ++i) {
    std::memcpy(&run.memory[32 * i + 16], &all[i % 8], 8);
    run.inputs[0].push_back(all[i / 8]);
    if (run.inputs.size() > 1)
      run.inputs[1].push_back(all[(i + 3) % 8]);
  }
  std::vector<uint8_t> before = run.memory;
  run.before = place.declare + place.fill;
  run.after = place.back;
  run.addresses = {place.address};
  Columns out = runForm(form, run);
  for (size_t i = 0; i < 64; ++i) {
    uint64_t old, now;
    std::memcpy(&old, &before[32 * i + 16], 8);
    std::memcpy(&now, &run.memory[32 * i + 16], 8);
    uint64_t wanted =
        atomicResult(op, type, old, run.inputs[0][i],
                     run.inputs.size() > 1 ? run.inputs[1][i] : 0);
    EXPECT_TRUE(agree(type, truncated(now, type), truncated(wanted, type)))
        << std::hex << old << ", " << run.inputs[0][i] << " gave " << now;
    if (!out.empty()) {
      EXPECT_EQ(out[0][i], truncated(old, type));
    }
  }
}

Check checkAtomic(FormCase &form) {
  form.takeAny({"relaxed", "acquire", "release", "acq_rel"});
  form.takeAny({"cta", "gpu", "sys", "cluster"});
  std::string space =
      form.takeAny({"global", "shared", "shared::cta", "shared::cluster"});
  std::string op = form.takeAny(
      {"add", "exch", "cas", "min", "max", "and", "or", "xor", "inc", "dec"});
  form.take("noftz");
  std::string type = form.takeType();
  if (op.empty() || type.empty())
    return {};
  return [=] { runAtomic(form, space, op, type); };
}

//===----------------------------------------------------------------------===//
// Copies that land later
//===----------------------------------------------------------------------===//

/// From the first half of each thread's bytes, through shared memory, to the
/// last.
void runCopy(FormCase form, const std::string &before, const std::string &after,
             size_t bytes, const std::vector<uint64_t> &given, bool ignores) {
  FormRun run;
  Place place = placeOf("shared");
  fillMemory(run);
  std::vector<uint8_t> wanted = run.memory;
  if (!given.empty())
    run.inputs = {{}};
  for (size_t i = 0; i < 64; ++i) {
    uint64_t value = given.empty() ? 0 : given[i % given.size()];
    if (!given.empty())
      run.inputs[0].push_back(value);
    size_t read = given.empty() ? bytes : ignores ? (value ? 0 : bytes) : value;
    uint8_t copied[16] = {};
    std::memcpy(copied, &wanted[32 * i], read);
    std::memcpy(&wanted[32 * i + 16], copied, bytes);
  }
  run.before = place.declare + place.fill + before;
  // The policy, where there is one.
  while (run.inputs.size() < form.count(Slot::Source))
    run.inputs.push_back(std::vector<uint64_t>(64));
  run.after = after + place.back;
  run.addresses = {"%place+16", "%mem"};
  runForm(form, run);
  EXPECT_EQ(run.memory, wanted);
}

Check checkCopy(FormCase &form) {
  if (form.take("reduce"))
    return checkReduction(form);
  form.take("async");
  if (form.parts[2] == "bulk" || form.parts[2] == "mbarrier")
    return checkAsync(form);
  const char *copy = "cp.async.ca.shared.global [%place+16], [%mem], 16;\n";
  if (form.take("wait_all"))
    return [=] { runCopy(form, copy, "", 16, {}, false); };
  if (form.take("commit_group"))
    return
        [=] { runCopy(form, copy, "cp.async.wait_group 0;\n", 16, {}, false); };
  if (form.take("wait_group"))
    return [=] {
      runCopy(form, copy + std::string("cp.async.commit_group;\n"), "", 16, {},
              false);
    };
  form.takeAny({"ca", "cg"});
  form.takeAny({"shared", "shared::cta"});
  bool known = form.take("global"), hinted = form.take("L2::cache_hint");
  form.takeAny({"L2::64B", "L2::128B", "L2::256B"});
  if (!known)
    return {};
  return [=] {
    size_t bytes = form.slots[2].least;
    const std::string &last = form.slots.rbegin()[hinted].type;
    std::vector<uint64_t> given;
    if (last == "pred")
      given = {0, 1, 1};
    else if (last == "u32")
      given = {0, 1, 3, bytes};
    runCopy(form, "", "cp.async.wait_all;\n", bytes, given, last == "pred");
  };
}

} // namespace

void raytention::simt::test::addAtomicChecks(CheckTable &table) {
  table["atom"] = table["red"] = &checkAtomic;
  table["cp"] = &checkCopy;
}
