//===- LaneForms.cpp - models of what lanes do together ---------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/simt/FormCase.h"

#include <random>

using namespace raytention::simt;
using namespace raytention::simt::test;

namespace {

/// The threads of a warp that give one mask, in order.
using Threads = std::vector<size_t>;
using GroupModel = std::function<void(const Columns &in, const Threads &threads,
                                      Columns &out)>;

/// Whole warps, then halves of one; the mask is the last source.
std::vector<uint64_t> makeMasks(size_t count) {
  std::vector<uint64_t> masks(count, 0xFFFFFFFF);
  for (size_t i = count / 2; i < count; ++i)
    masks[i] = i % 32 < 16 ? 0xFFFF : 0xFFFF0000;
  return masks;
}

void runGroups(const FormCase &form, Columns inputs, const GroupModel &model) {
  FormRun run;
  size_t count = inputs.empty() ? 256 : inputs[0].size();
  inputs.push_back(makeMasks(count));
  run.inputs = inputs;
  Columns got = runForm(form, run), wanted = got;
  for (size_t first = 0; first < count; first += 32)
    for (uint64_t mask :
         {run.inputs.back()[first], run.inputs.back()[first + 31]}) {
      Threads threads;
      for (size_t lane = 0; lane < 32; ++lane)
        if (mask >> lane & 1)
          threads.push_back(first + lane);
      model(run.inputs, threads, wanted);
    }
  size_t d = 0;
  for (const Slot &slot : form.slots)
    if (slot.kind == Slot::Dest) {
      for (size_t i = 0; i < count; ++i)
        EXPECT_EQ(truncated(got[d][i], slot.type),
                  truncated(wanted[d][i], slot.type))
            << "thread " << i << ", result " << d;
      ++d;
    }
}

template <class F> std::vector<uint64_t> column(F f) {
  std::mt19937_64 draw(7);
  std::vector<uint64_t> values(256);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = f(i, draw());
  return values;
}

/// From the definition by segments of `width` lanes.
bool sourceOf(const std::string &how, int width, int by, int lane, int &from) {
  int first = lane / width * width;
  from = how == "up"     ? lane - by
         : how == "down" ? lane + by
         : how == "bfly" ? lane ^ by
                         : first + by % width;
  // Only the upper bound counts for bfly.
  bool inside = from < first + width && (from >= first || how == "bfly");
  from = inside ? from : lane;
  return inside;
}

/// By and width change from warp to warp; those of halves are 8 wide.
Check checkShuffle(FormCase &form) {
  form.take("sync");
  std::string how = form.takeAny({"up", "down", "bfly", "idx"});
  if (!form.take("b32"))
    return {};
  return [=] {
    static const int steps[] = {0, 1, 5, 31}, narrow[] = {0, 1, 5, 7};
    auto by = [](size_t i) {
      return i < 128 ? steps[i / 32] : narrow[i / 32 - 4];
    };
    auto width = [](size_t i) { return i < 128 ? 32 : 8; };
    Columns in = {column([](size_t, uint64_t random) { return random; }),
                  column([&](size_t i, uint64_t) { return by(i); }),
                  column([&](size_t i, uint64_t) -> uint64_t {
                    return (32 - width(i)) << 8 | (how == "up" ? 0 : 31);
                  })};
    runGroups(form, in,
              [&](const Columns &in, const Threads &threads, Columns &out) {
                for (size_t i : threads) {
                  int from = 0;
                  bool inside = sourceOf(how, width(i), by(i), i % 32, from);
                  out[0][i] = in[0][i / 32 * 32 + from];
                  if (out.size() > 1)
                    out[1][i] = inside;
                }
              });
  };
}

/// Warps where all, none and some hold.
uint64_t mixed(size_t i, uint64_t random) {
  return i / 32 % 4 == 0 ? 1 : i / 32 % 4 == 1 ? 0 : random % 2;
}

Check checkVote(FormCase &form) {
  form.take("sync");
  std::string what = form.takeAny({"all", "any", "uni", "ballot"});
  if (form.takeAny({"pred", "b32"}).empty())
    return {};
  bool negated = form.source(0).negated;
  return [=] {
    runGroups(form, {column(mixed)},
              [&](const Columns &in, const Threads &threads, Columns &out) {
                uint64_t ballot = 0;
                for (size_t i : threads)
                  ballot |= ((in[0][i] & 1) ^ uint64_t(negated)) << (i % 32);
                size_t held = __builtin_popcountll(ballot);
                bool all = held == threads.size(), any = held;
                for (size_t i : threads)
                  out[0][i] = what == "ballot" ? ballot
                              : what == "all"  ? all
                              : what == "any"  ? any
                                               : all || !any;
              });
  };
}

/// Values differ in their upper halves, too, where they have them.
Check checkMatch(FormCase &form) {
  bool all = form.takeAny({"any", "all"}) == "all";
  form.take("sync");
  std::string type = form.takeType();
  if (type.empty())
    return {};
  return [=] {
    auto value = [&](size_t i, uint64_t random) -> uint64_t {
      uint64_t drawn = i / 32 % 2 ? 5 : random % 3;
      return type == "b64" ? drawn << 32 | 1 : drawn;
    };
    runGroups(form, {column(value)},
              [&](const Columns &in, const Threads &threads, Columns &out) {
                uint64_t members = 0;
                bool same = true;
                for (size_t i : threads) {
                  members |= uint64_t(1) << (i % 32);
                  same &= in[0][i] == in[0][threads[0]];
                }
                for (size_t i : threads) {
                  uint64_t equal = 0;
                  for (size_t j : threads)
                    equal |= uint64_t(in[0][j] == in[0][i]) << (j % 32);
                  out[0][i] = all ? (same ? members : 0) : equal;
                  if (out.size() > 1)
                    out[1][i] = same;
                }
              });
  };
}

template <class T> T combine(const std::string &op, T a, T b) {
  return op == "add"   ? a + b
         : op == "min" ? std::min(a, b)
         : op == "max" ? std::max(a, b)
         : op == "and" ? a & b
         : op == "or"  ? a | b
                       : a ^ b;
}

Check checkReduce(FormCase &form) {
  form.take("sync");
  std::string op = form.takeAny({"add", "min", "max", "and", "or", "xor"});
  std::string type = form.takeType();
  if (type.empty())
    return {};
  return [=] {
    auto values =
        column([](size_t, uint64_t random) { return uint32_t(random); });
    runGroups(form, {values},
              [&](const Columns &in, const Threads &threads, Columns &out) {
                // 64 bits hold the sums of 32.
                int64_t total = 0;
                for (size_t i : threads) {
                  int64_t value = type == "s32" ? int64_t(int32_t(in[0][i]))
                                                : int64_t(in[0][i]);
                  total = i == threads[0] ? value : combine(op, total, value);
                }
                for (size_t i : threads)
                  out[0][i] = uint64_t(total);
              });
  };
}

Check checkElect(FormCase &form) {
  if (!form.take("sync"))
    return {};
  return [=] {
    runGroups(form, {},
              [](const Columns &, const Threads &threads, Columns &out) {
                for (size_t i : threads) {
                  out[0][i] = threads[0] % 32;
                  out[1][i] = i == threads[0];
                }
              });
  };
}

/// Lanes that went another way are not active.
Check checkActive(FormCase &form) {
  if (!form.take("b32"))
    return {};
  return [form] {
    FormRun run;
    run.before = "mov.b32 %x0, 7;\nand.b32 %t1, %t, 3;\n"
                 "setp.ne.u32 %q1, %t1, 0;\n@%q1 bra past;\n";
    run.after = "past:\n";
    Columns out = runForm(form, run);
    for (size_t i = 0; i < 64; ++i)
      EXPECT_EQ(out[0][i], i % 4 ? 7 : 0x11111111u) << i;
  };
}

} // namespace

void raytention::simt::test::addLaneChecks(CheckTable &table) {
  table["shfl"] = &checkShuffle;
  table["vote"] = &checkVote;
  table["match"] = &checkMatch;
  table["redux"] = &checkReduce;
  table["elect"] = &checkElect;
  table["activemask"] = &checkActive;
}
