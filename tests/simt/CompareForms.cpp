//===- CompareForms.cpp - models of comparisons and moves -------*- C++ -*-===//
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

/// How two values stand to each other.
enum Order { Less, Equal, Greater, Unordered };

template <class T> Order orderOf(T a, T b) {
  return a < b ? Less : a == b ? Equal : a > b ? Greater : Unordered;
}

Order compare(const std::string &type, bool ftz, uint64_t a, uint64_t b) {
  if (type == "f32")
    return ftz ? orderOf(flush(asFloat(a)), flush(asFloat(b)))
               : orderOf(asFloat(a), asFloat(b));
  if (type == "f64")
    return orderOf(asDouble(a), asDouble(b));
  if (type == "f16") {
    auto read = [&](uint64_t bits) {
      return ftz && !(bits & 0x7C00) ? 0.0 : half(bits);
    };
    return orderOf(read(a), read(b));
  }
  if (type == "bf16")
    return orderOf(bfloat(a), bfloat(b));
  return orderOf(wholeOf(a, type), wholeOf(b, type));
}

bool holds(const std::string &relation, Order order) {
  if (relation == "num")
    return order != Unordered;
  if (relation == "nan")
    return order == Unordered;
  bool unordered = relation.size() == 3; // ltu and so on
  if (order == Unordered)
    return unordered;
  std::string two = relation.substr(0, 2);
  return two == "eq"                  ? order == Equal
         : two == "ne"                ? order != Equal
         : two == "lt" || two == "lo" ? order == Less
         : two == "le" || two == "ls" ? order != Greater
         : two == "gt" || two == "hi" ? order == Greater
                                      : order != Less;
}

std::string takeRelation(FormCase &form) {
  return form.takeAny({"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi",
                       "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num",
                       "nan"});
}

bool join(const std::string &how, bool a, bool b) {
  return how == "and"   ? a && b
         : how == "or"  ? a || b
         : how == "xor" ? a != b
                        : a;
}

/// p|q: of the comparison and of its opposite.
Check checkSetPredicate(FormCase &form) {
  std::string relation = takeRelation(form);
  std::string how = form.takeAny({"and", "or", "xor"});
  bool ftz = form.take("ftz");
  std::string type = form.takeType();
  bool negated = form.slots.back().negated;
  return checkModel(form, [=](const uint64_t *in, uint64_t *out) {
    bool held = holds(relation, compare(type, ftz, in[0], in[1]));
    bool third = (in[2] & 1) != negated;
    out[0] = join(how, held, third);
    out[1] = join(how, !held, third);
  });
}

uint64_t truthOf(const std::string &type) {
  return type == "f32"                 ? 0x3F800000
         : type.substr(0, 3) == "f16"  ? 0x3C00
         : type.substr(0, 4) == "bf16" ? 0x3F80
                                       : ~uint64_t(0);
}

Check checkSet(FormCase &form) {
  std::string relation = takeRelation(form);
  bool ftz = form.take("ftz");
  std::string to = form.takeType(), from = form.takeType();
  bool pair = from.size() > 4;
  std::string one = pair ? from.substr(0, from.size() - 2) : from;
  return checkModel(form, [=](const uint64_t *in, uint64_t *out) {
    uint64_t truth = truthOf(to);
    if (!pair) {
      out[0] = holds(relation, compare(one, ftz, in[0], in[1])) ? truth : 0;
      return;
    }
    for (int shift = 0; shift < 32; shift += 16)
      if (holds(relation, compare(one, ftz, in[0] >> shift & 0xFFFF,
                                  in[1] >> shift & 0xFFFF)))
        out[0] |= (truth & 0xFFFF) << shift;
  });
}

Check checkSelect(FormCase &form) {
  form.takeType();
  return checkModel(form, [](const uint64_t *in, uint64_t *out) {
    out[0] = in[2] & 1 ? in[0] : in[1];
  });
}

/// A NaN takes the second; -0 is no negative number.
Check checkSelectSign(FormCase &form) {
  bool ftz = form.take("ftz");
  form.takeType();
  std::string sign = form.takeType();
  return checkModel(form, [=](const uint64_t *in, uint64_t *out) {
    float value = ftz ? flush(asFloat(in[2])) : asFloat(in[2]);
    bool first = sign == "f32" ? value >= 0 : wholeOf(in[2], "s32") >= 0;
    out[0] = first ? in[0] : in[1];
  });
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

/// The lowest register comes first.
void concatenate(const FormCase &form, const uint64_t *in, uint64_t *out) {
  size_t sources = form.count(Slot::Source), dests = form.count(Slot::Dest);
  unsigned width = 64;
  for (const Slot &slot : form.slots)
    width = std::min(width, bitsOfType(slot.type));
  U128 all = 0;
  for (size_t i = 0; i < sources; ++i)
    all |= U128(in[i]) << (width * i);
  for (size_t i = 0; i < dests; ++i)
    out[i] =
        truncated(uint64_t(all >> (width * i)),
                  dests > 1 ? "b" + std::to_string(width) : form.slots[0].type);
}

/// A clock goes on: once more it is later, and its upper half is zero.
void runClock(const FormCase &form, const std::string &name, bool wide) {
  FormRun run;
  std::string bits = wide ? "64" : "32", first = wide ? "%m1" : "%t3";
  bool high = name.substr(name.size() - 3) == "_hi";
  run.before = "mov.b" + bits + " " + first + ", " + name + ";\n";
  run.after = "sub.u" + bits + " %x0, %x0, " + first + ";\n";
  Columns out = runForm(form, run);
  for (uint64_t ticks : out[0])
    EXPECT_EQ(ticks > 0 && ticks < 1000, !high) << ticks;
}

Check checkMove(FormCase &form) {
  std::string type = form.takeType();
  const std::string &from = form.slots.back().type;
  if (from[0] == '%')
    return [=] { runClock(form, from, type.substr(1) == "64"); };
  return checkModel(form, [form](const uint64_t *in, uint64_t *out) {
    concatenate(form, in, out);
  });
}

} // namespace

void raytention::simt::test::addCompareChecks(CheckTable &table) {
  table["setp"] = &checkSetPredicate;
  table["set"] = &checkSet;
  table["selp"] = &checkSelect;
  table["slct"] = &checkSelectSign;
  table["mov"] = &checkMove;
}
