//===- NumberForms.cpp - models of integer arithmetic -----------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/simt/FormCase.h"
#include "tests/simt/ModelMath.h"

using namespace raytention::simt;
using namespace raytention::simt::test;

namespace {

struct Flags {
  std::string op, part, type;
  bool sat = false, relu = false, carry = false;
};

int widthOf(const std::string &type) { return std::atoi(type.c_str() + 1); }

S128 clamp(S128 value, const std::string &type) {
  S128 half = S128(1) << (widthOf(type) - 1);
  return value < -half ? -half : value >= half ? half - 1 : value;
}

/// The part of a product that .lo, .hi or .wide names.
S128 product(const Flags &flags, S128 a, S128 b) {
  U128 all = U128(a) * U128(b);
  if (flags.part == "hi")
    return wholeOf(uint64_t(all >> widthOf(flags.type)), flags.type);
  return S128(all);
}

S128 low24(S128 a, const std::string &type) {
  uint64_t bits = uint64_t(a) & 0xFFFFFF;
  return type[0] == 's' && bits >> 23 ? S128(bits) - (1 << 24) : S128(bits);
}

/// Without bounds; what does not fit is cut off by who reads it.
S128 exactResult(const Flags &flags, S128 a, S128 b, S128 c) {
  const std::string &op = flags.op;
  if (op == "add")
    return a + b;
  if (op == "sub")
    return a - b;
  if (op == "mul")
    return product(flags, a, b);
  if (op == "mad")
    return product(flags, a, b) + c;
  if (op == "mul24")
    return low24(a, flags.type) * low24(b, flags.type);
  if (op == "div")
    return b == 0 ? S128(-1) : a / b;
  if (op == "rem")
    return b == 0 ? a : a % b;
  if (op == "min")
    return std::min(a, b);
  if (op == "max")
    return std::max(a, b);
  if (op == "sad")
    return (a < b ? b - a : a - b) + c;
  return op == "neg" || a < 0 ? -a : a;
}

uint64_t result(const Flags &flags, const uint64_t *in) {
  const std::string &type = flags.type;
  // The third operand of .wide is as wide as the product.
  std::string third = flags.part == "wide" ? "u64" : type;
  if (flags.part == "wide" && widthOf(type) == 16)
    third = "u32";
  S128 value = exactResult(flags, wholeOf(in[0], type), wholeOf(in[1], type),
                           wholeOf(in[2], third));
  if (flags.sat)
    value = clamp(value, type);
  return uint64_t(flags.relu && value < 0 ? 0 : value);
}

uint64_t packedResult(Flags flags, const uint64_t *in) {
  flags.type = flags.type.substr(0, 3);
  uint64_t both = 0;
  for (int shift = 0; shift < 32; shift += 16) {
    uint64_t halves[] = {in[0] >> shift, in[1] >> shift, 0};
    both |= (result(flags, halves) & 0xFFFF) << shift;
  }
  return both;
}

//===----------------------------------------------------------------------===//
// Carries
//===----------------------------------------------------------------------===//

/// What add.cc and its like leave in the flag is one more bit of the sum, or
/// the borrow of the difference.
struct Sum {
  uint64_t bits, carry;
};
Sum sumOf(Flags flags, const uint64_t *in, unsigned carry) {
  std::string type = flags.type;
  auto bare = [&](S128 value) {
    type[0] = 'u';
    return wholeOf(uint64_t(value), type);
  };
  bool isMad = flags.op == "mad";
  S128 a = wholeOf(in[0], flags.type), b = wholeOf(in[1], flags.type);
  S128 x = bare(isMad ? product(flags, a, b) : a);
  S128 y = bare(isMad ? S128(in[2]) : b);
  S128 sum = flags.op == "sub" ? x - y - carry : x + y + carry;
  return {uint64_t(sum), uint64_t(sum >> widthOf(type)) & 1};
}

/// The flag before is 0 or 1 in all threads, and read by addc afterwards.
void runCarry(const FormCase &form, const Flags &flags, bool takes,
              unsigned carry) {
  static const uint64_t edges[] = {
      0, 1, 0x7FFFFFFF, 0xFFFFFFFF, 0x8000000000000000, ~uint64_t(0)};
  FormRun run;
  run.inputs.resize(form.count(Slot::Source));
  for (unsigned i = 0; i < 6 * 6 * 6; ++i)
    for (size_t s = 0, at = i; s < run.inputs.size(); ++s, at /= 6)
      run.inputs[s].push_back(edges[at % 6]);
  run.before = "add.cc.u32 %t1, -1, " + std::to_string(carry) + ";\n";
  run.after = "addc.u32 %t3, 0, 0;\nst.global.u32 [%mem], %t3;\n";
  Columns out = runForm(form, run);
  for (size_t i = 0; i < run.inputs[0].size(); ++i) {
    uint64_t in[3] = {};
    for (size_t s = 0; s < run.inputs.size(); ++s)
      in[s] = run.inputs[s][i];
    Sum sum = sumOf(flags, in, takes ? carry : 0);
    EXPECT_EQ(out[0][i], truncated(sum.bits, flags.type)) << i;
    EXPECT_EQ(run.memory[32 * i], flags.carry ? sum.carry : carry) << i;
  }
}

Check checkCarry(const FormCase &form, Flags flags, bool takes) {
  return [=] {
    runCarry(form, flags, takes, 0);
    runCarry(form, flags, takes, 1);
  };
}

/// addc, subc and madc.
Check checkTaking(FormCase &form) {
  Flags flags;
  flags.op = form.parts[0].substr(0, 3);
  flags.part = form.takeAny({"lo", "hi"});
  flags.carry = form.take("cc");
  flags.type = form.takeType();
  return checkCarry(form, flags, true);
}

Check checkInteger(FormCase &form) {
  Flags flags;
  flags.op = form.parts[0];
  flags.part = form.takeAny({"lo", "hi", "wide"});
  flags.sat = form.take("sat");
  flags.relu = form.take("relu");
  flags.carry = form.take("cc");
  flags.type = form.takeType();
  if (flags.type.empty())
    return {};
  if (flags.carry)
    return checkCarry(form, flags, false);
  bool pair = flags.type.size() > 3;
  return checkModel(form, [=](const uint64_t *in, uint64_t *out) {
    out[0] = pair ? packedResult(flags, in) : result(flags, in);
  });
}

Check checkNumber(FormCase &form) {
  return isFloatType(form.last()) ? checkFloat(form) : checkInteger(form);
}

} // namespace

void raytention::simt::test::addNumberChecks(CheckTable &table) {
  for (const char *family : {"add", "sub", "mul", "mad", "div", "min", "max",
                             "neg", "abs", "rem", "sad", "mul24"})
    table[family] = &checkNumber;
  for (const char *family : {"addc", "subc", "madc"})
    table[family] = &checkTaking;
}
