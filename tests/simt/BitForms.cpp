//===- BitForms.cpp - models of bits, shifts and bytes ----------*- C++ -*-===//
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

using Bits = uint64_t;

static Check checkLogic(FormCase &form) {
  std::string op = form.parts[0], type = form.takeType();
  bool pred = type == "pred";
  return checkModel(form, [=](const Bits *in, Bits *out) {
    Bits a = truncated(in[0], type), b = in[1];
    out[0] = op == "and"   ? a & b
             : op == "or"  ? a | b
             : op == "xor" ? a ^ b
             : op == "not" ? (pred ? !a : ~a)
                           : a == 0;
  });
}

/// Shifts by the width or more leave zeros or signs.
static Check checkShift(FormCase &form) {
  bool left = form.parts[0] == "shl";
  std::string type = form.takeType();
  return checkModel(form, [=](const Bits *in, Bits *out) {
    S128 a = wholeOf(in[0], type);
    unsigned by = std::min<Bits>(in[1], 64);
    out[0] = Bits(left ? S128(U128(a) << by) : a >> by);
  });
}

static Check checkFunnel(FormCase &form) {
  bool left = form.takeAny({"l", "r"}) == "l";
  bool wrap = form.takeAny({"clamp", "wrap"}) == "wrap";
  if (!form.take("b32"))
    return {};
  return checkModel(form, [=](const Bits *in, Bits *out) {
    U128 both = in[1] << 32 | in[0];
    unsigned by = wrap ? in[2] % 32 : std::min<Bits>(in[2], 32);
    out[0] = left ? Bits(both << by >> 32) : Bits(both >> by);
  });
}

/// popc, clz, brev and bfind, bit by bit.
static Bits scan(const std::string &op, bool shift, const std::string &type,
                 Bits value) {
  int width = bitsOfType(type), ones = 0, top = -1;
  Bits reversed = 0;
  bool sign = type[0] == 's' && value >> (width - 1) & 1;
  for (int i = 0; i < width; ++i) {
    bool bit = value >> i & 1;
    ones += bit;
    reversed |= Bits(bit) << (width - 1 - i);
    if (bit != sign)
      top = i;
  }
  if (op == "popc")
    return ones;
  if (op == "brev")
    return reversed;
  if (op == "clz")
    return width - 1 - top;
  return top < 0 || !shift ? Bits(top) : width - 1 - top;
}

static Check checkScan(FormCase &form) {
  std::string op = form.parts[0];
  bool shift = form.take("shiftamt");
  std::string type = form.takeType();
  return checkModel(form, [=](const Bits *in, Bits *out) {
    out[0] = scan(op, shift, type, in[0]);
  });
}

static Check checkExtract(FormCase &form) {
  std::string type = form.takeType();
  return checkModel(form, [=](const Bits *in, Bits *out) {
    unsigned p = in[1] & 255, n = in[2] & 255, width = bitsOfType(type);
    bool fill =
        type[0] == 's' && n && in[0] >> std::min(p + n - 1, width - 1) & 1;
    for (unsigned i = 0; i < width; ++i) {
      bool bit = i < n && p + i < width ? in[0] >> (p + i) & 1 : fill;
      out[0] |= Bits(bit) << i;
    }
  });
}

static Check checkInsert(FormCase &form) {
  std::string type = form.takeType();
  return checkModel(form, [=](const Bits *in, Bits *out) {
    unsigned p = in[2] & 255, n = in[3] & 255, width = bitsOfType(type);
    out[0] = in[1];
    for (unsigned i = 0; i < n && p + i < width; ++i)
      out[0] = (out[0] & ~(Bits(1) << (p + i))) | (in[0] >> i & 1) << (p + i);
  });
}

static Check checkPermute(FormCase &form) {
  if (!form.take("b32"))
    return {};
  return checkModel(form, [](const Bits *in, Bits *out) {
    for (int i = 0; i < 4; ++i) {
      Bits select = in[2] >> (4 * i) & 15, k = select & 7;
      Bits byte = in[k / 4] >> (8 * (k % 4)) & 0xFF;
      if (select & 8)
        byte = byte & 0x80 ? 0xFF : 0;
      out[0] |= byte << (8 * i);
    }
  });
}

/// One table has each of the eight rows, another none of its neighbours.
static Check checkTable(FormCase &form) {
  if (!form.take("b32"))
    return {};
  return [form] {
    for (unsigned table : {0x00u, 0xCAu, 0x96u, 0xFEu, 0x01u, 0x35u, 0xFFu}) {
      FormRun run;
      run.numbers = {std::to_string(table)};
      run.inputs = {{0xF0F0F0F0, 0x12345678, 0},
                    {0xCCCCCCCC, 0x9ABCDEF0, ~0u},
                    {0xAAAAAAAA, 0x0F1E2D3C, 5}};
      Columns out = runForm(form, run);
      for (size_t i = 0; i < 3; ++i)
        for (unsigned bit = 0; bit < 32; ++bit) {
          unsigned row = (run.inputs[0][i] >> bit & 1) * 4 +
                         (run.inputs[1][i] >> bit & 1) * 2 +
                         (run.inputs[2][i] >> bit & 1);
          ASSERT_EQ(out[0][i] >> bit & 1, table >> row & 1) << table;
        }
    }
  };
}

static Check checkDot(FormCase &form) {
  std::string a = form.takeAny({"s32", "u32"}),
              b = form.takeAny({"s32", "u32"});
  if (b.empty())
    return {};
  return checkModel(form, [=](const Bits *in, Bits *out) {
    S128 sum = in[2];
    for (int i = 0; i < 32; i += 8)
      sum += wholeOf(in[0] >> i, a[0] == 's' ? "s8" : "u8") *
             wholeOf(in[1] >> i, b[0] == 's' ? "s8" : "u8");
    out[0] = Bits(sum);
  });
}

void raytention::simt::test::addBitChecks(CheckTable &table) {
  for (const char *family : {"and", "or", "xor", "not", "cnot"})
    table[family] = &checkLogic;
  for (const char *family : {"popc", "clz", "brev", "bfind"})
    table[family] = &checkScan;
  table["shl"] = table["shr"] = &checkShift;
  table["shf"] = &checkFunnel;
  table["bfe"] = &checkExtract;
  table["bfi"] = &checkInsert;
  table["prmt"] = &checkPermute;
  table["lop3"] = &checkTable;
  table["dp4a"] = &checkDot;
}
