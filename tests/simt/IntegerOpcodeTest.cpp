//===- IntegerOpcodeTest.cpp - integer instructions against a scalar model --*-
// C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/simt/OpcodeRunner.h"

using namespace raytention::simt;
using namespace raytention::simt::test;

namespace {
constexpr Kind N = Kind::None, H = Kind::I16, W = Kind::I32, L = Kind::I64,
               P = Kind::Pred;
using u16 = uint16_t;
using s16 = int16_t;
using u32 = uint32_t;
using s32 = int32_t;
using u64 = uint64_t;
using s64 = int64_t;
__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

u32 reverse(u32 a) {
  u32 r = 0;
  for (int i = 0; i < 32; ++i)
    r |= (a >> i & 1) << (31 - i);
  return r;
}
u64 field(u64 a, unsigned p, unsigned n, unsigned width, bool sign) {
  p &= 255, n &= 255;
  unsigned top = std::min(p + n - 1, width - 1);
  bool fill = sign && n && (a >> top & 1);
  u64 r = 0;
  for (unsigned i = 0; i < width; ++i) {
    bool bit = i < n && p + i < width ? a >> (p + i) & 1 : fill;
    r |= u64(bit) << i;
  }
  return r;
}
u32 permute(u32 a, u32 b, u32 c) {
  u32 r = 0;
  for (int i = 0; i < 4; ++i) {
    u32 s = c >> (4 * i) & 15, k = s & 7;
    u32 byte = (k < 4 ? a >> (8 * k) : b >> (8 * (k - 4))) & 0xFF;
    if (s & 8)
      byte = byte & 0x80 ? 0xFF : 0;
    r |= byte << (8 * i);
  }
  return r;
}
} // namespace

#define BIN(T, e) integers<T>([](T a, T b, T) { return e; })
#define UNA(T, e) integers<T>([](T a, T, T) { return e; })
#define TER(T, e) integers<T>([](T a, T b, T c) { return e; })
#define RAW(e) [](u64 a, u64 b, u64 c) -> u64 { return e; }

TEST(IntegerOpcodeTest, Arithmetic) {
  const Opcode all[] = {
      {"add.s16 %d, %a, %b;", H, H, H, N, BIN(u16, a + b)},
      {"add.u32 %d, %a, %b;", W, W, W, N, BIN(u32, a + b)},
      {"add.s64 %d, %a, %b;", L, L, L, N, BIN(u64, a + b)},
      {"sub.u16 %d, %a, %b;", H, H, H, N, BIN(u16, a - b)},
      {"sub.s32 %d, %a, %b;", W, W, W, N, BIN(u32, a - b)},
      {"sub.u64 %d, %a, %b;", L, L, L, N, BIN(u64, a - b)},
      {"mul.lo.s16 %d, %a, %b;", H, H, H, N, BIN(u16, u32(a) * b)},
      {"mul.lo.s32 %d, %a, %b;", W, W, W, N, BIN(u32, a * b)},
      {"mul.lo.s64 %d, %a, %b;", L, L, L, N, BIN(u64, a * b)},
      {"mul.hi.u32 %d, %a, %b;", W, W, W, N, BIN(u32, u64(a) * b >> 32)},
      {"mul.hi.s32 %d, %a, %b;", W, W, W, N, BIN(s32, s64(a) * b >> 32)},
      {"mul.hi.u64 %d, %a, %b;", L, L, L, N, BIN(u64, u128(a) * b >> 64)},
      {"mul.hi.s64 %d, %a, %b;", L, L, L, N, BIN(s64, s128(a) * b >> 64)},
      {"mul.wide.u16 %d, %a, %b;", W, H, H, N, BIN(u16, u32(a) * b)},
      {"mul.wide.s16 %d, %a, %b;", W, H, H, N, BIN(s16, s32(a) * b)},
      {"mul.wide.u32 %d, %a, %b;", L, W, W, N, BIN(u32, u64(a) * b)},
      {"mul.wide.s32 %d, %a, %b;", L, W, W, N, BIN(s32, s64(a) * b)},
      {"mad.lo.s32 %d, %a, %b, %c;", W, W, W, W, TER(u32, a * b + c)},
      {"mad.lo.s64 %d, %a, %b, %c;", L, L, L, L, TER(u64, a * b + c)},
      {"mad.hi.u32 %d, %a, %b, %c;", W, W, W, W,
       TER(u32, u32(u64(a) * b >> 32) + c)},
      {"mad.wide.u32 %d, %a, %b, %c;", L, W, W, L,
       RAW(u64(u32(a)) * u32(b) + c)},
      {"mad.wide.s32 %d, %a, %b, %c;", L, W, W, L,
       RAW(u64(s64(s32(a)) * s32(b)) + c)},
      {"div.u32 %d, %a, %b;", W, W, W, N, BIN(u32, b ? a / b : ~0u)},
      {"div.s32 %d, %a, %b;", W, W, W, N, BIN(s32, b ? s64(a) / b : -1)},
      {"div.u64 %d, %a, %b;", L, L, L, N, BIN(u64, b ? a / b : ~u64(0))},
      {"div.s64 %d, %a, %b;", L, L, L, N,
       BIN(s64, b ? s64(s128(a) / b) : s64(-1))},
      {"rem.u32 %d, %a, %b;", W, W, W, N, BIN(u32, b ? a % b : a)},
      {"rem.s32 %d, %a, %b;", W, W, W, N, BIN(s32, b ? s64(a) % b : a)},
      {"rem.s64 %d, %a, %b;", L, L, L, N, BIN(s64, b ? s64(s128(a) % b) : a)},
      {"rem.u64 %d, %a, %b;", L, L, L, N, BIN(u64, b ? a % b : a)},
      {"min.s32 %d, %a, %b;", W, W, W, N, BIN(s32, std::min(a, b))},
      {"max.u32 %d, %a, %b;", W, W, W, N, BIN(u32, std::max(a, b))},
      {"min.u64 %d, %a, %b;", L, L, L, N, BIN(u64, std::min(a, b))},
      {"max.s64 %d, %a, %b;", L, L, L, N, BIN(s64, std::max(a, b))},
      {"max.s16 %d, %a, %b;", H, H, H, N, BIN(s16, std::max(a, b))},
      {"neg.s32 %d, %a;", W, W, N, N, UNA(u32, 0 - a)},
      {"neg.s64 %d, %a;", L, L, N, N, UNA(u64, 0 - a)},
      {"abs.s32 %d, %a;", W, W, N, N, UNA(s32, a < 0 ? 0 - u32(a) : u32(a))},
      {"abs.s64 %d, %a;", L, L, N, N, UNA(s64, a < 0 ? 0 - u64(a) : u64(a))},
      {"sad.u32 %d, %a, %b, %c;", W, W, W, W,
       TER(u32, (a < b ? b - a : a - b) + c)},
      {"sad.s32 %d, %a, %b, %c;", W, W, W, W,
       TER(s32, u32(a < b ? s64(b) - a : s64(a) - b) + u32(c))},
      {"mul24.lo.s32 %d, %a, %b;", W, W, W, N,
       BIN(s32, u32((s32(u32(a) << 8) >> 8)) * u32(s32(u32(b) << 8) >> 8))},
      {"mul24.lo.u32 %d, %a, %b;", W, W, W, N,
       BIN(u32, (a & 0xFFFFFF) * (b & 0xFFFFFF))},
      {"add.u16x2 %d, %a, %b;", W, W, W, N,
       BIN(u32, u16(a + b) | ((a >> 16) + (b >> 16)) << 16)},
  };
  for (const Opcode &opcode : all)
    checkOpcode(opcode);
}

TEST(IntegerOpcodeTest, Bits) {
  const Opcode all[] = {
      {"and.b32 %d, %a, %b;", W, W, W, N, BIN(u32, a & b)},
      {"or.b64 %d, %a, %b;", L, L, L, N, BIN(u64, a | b)},
      {"xor.b16 %d, %a, %b;", H, H, H, N, BIN(u16, a ^ b)},
      {"not.b32 %d, %a;", W, W, N, N, UNA(u32, ~a)},
      {"not.b64 %d, %a;", L, L, N, N, UNA(u64, ~a)},
      {"cnot.b32 %d, %a;", W, W, N, N, UNA(u32, a == 0)},
      {"and.pred %d, %a, %b;", P, P, P, N, RAW(a & b)},
      {"or.pred %d, %a, %b;", P, P, P, N, RAW(a | b)},
      {"xor.pred %d, %a, %b;", P, P, P, N, RAW(a ^ b)},
      {"not.pred %d, %a;", P, P, N, N, RAW(!a)},
      {"shl.b16 %d, %a, %b;", H, H, W, N, RAW(b > 15 ? 0 : a << b)},
      {"shl.b32 %d, %a, %b;", W, W, W, N, RAW(b > 31 ? 0 : a << b)},
      {"shl.b64 %d, %a, %b;", L, L, W, N, RAW(b > 63 ? 0 : a << b)},
      {"shr.u32 %d, %a, %b;", W, W, W, N, RAW(b > 31 ? 0 : a >> b)},
      {"shr.u64 %d, %a, %b;", L, L, W, N, RAW(b > 63 ? 0 : a >> b)},
      {"shr.s16 %d, %a, %b;", H, H, W, N,
       RAW(u64(s64(s16(a)) >> std::min<u64>(b, 63)))},
      {"shr.s32 %d, %a, %b;", W, W, W, N,
       RAW(u64(s64(s32(a)) >> std::min<u64>(b, 63)))},
      {"shr.s64 %d, %a, %b;", L, L, W, N,
       RAW(u64(s64(a) >> std::min<u64>(b, 63)))},
      {"shf.l.wrap.b32 %d, %a, %b, %c;", W, W, W, W,
       RAW((b << 32 | a) << (c & 31) >> 32)},
      {"shf.r.wrap.b32 %d, %a, %b, %c;", W, W, W, W,
       RAW((b << 32 | a) >> (c & 31))},
      {"shf.l.clamp.b32 %d, %a, %b, %c;", W, W, W, W,
       RAW(c >= 32 ? a : (b << 32 | a) << c >> 32)},
      {"shf.r.clamp.b32 %d, %a, %b, %c;", W, W, W, W,
       RAW(c >= 32 ? b : (b << 32 | a) >> c)},
      {"popc.b32 %d, %a;", W, W, N, N, RAW(u64(__builtin_popcount(a)))},
      {"popc.b64 %d, %a;", W, L, N, N, RAW(u64(__builtin_popcountll(a)))},
      {"clz.b32 %d, %a;", W, W, N, N, RAW(a ? u64(__builtin_clz(a)) : 32)},
      {"clz.b64 %d, %a;", W, L, N, N, RAW(a ? u64(__builtin_clzll(a)) : 64)},
      {"brev.b32 %d, %a;", W, W, N, N, RAW(reverse(a))},
      {"brev.b64 %d, %a;", L, L, N, N,
       RAW(u64(reverse(a)) << 32 | reverse(a >> 32))},
      {"bfind.u32 %d, %a;", W, W, N, N,
       RAW(a ? 31 - u64(__builtin_clz(a)) : ~u64(0))},
      {"bfind.shiftamt.u32 %d, %a;", W, W, N, N,
       RAW(a ? u64(__builtin_clz(a)) : ~u64(0))},
      {"bfind.s32 %d, %a;", W, W, N, N, RAW([](u32 v) {
         return v ? 31 - u64(__builtin_clz(v)) : ~u64(0);
       }(s32(a) < 0 ? ~u32(a) : u32(a)))},
      {"bfind.u64 %d, %a;", W, L, N, N,
       RAW(a ? 63 - u64(__builtin_clzll(a)) : ~u64(0))},
      {"bfe.u32 %d, %a, %b, %c;", W, W, W, W, RAW(field(a, b, c, 32, false))},
      {"bfe.s32 %d, %a, %b, %c;", W, W, W, W, RAW(field(a, b, c, 32, true))},
      {"bfe.u64 %d, %a, %b, %c;", L, L, W, W, RAW(field(a, b, c, 64, false))},
      {"bfe.s64 %d, %a, %b, %c;", L, L, W, W, RAW(field(a, b, c, 64, true))},
      {"bfi.b32 %d, %a, %b, %c, 5;", W, W, W, W,
       RAW([](u32 f, u32 to, u32 p) -> u64 {
         for (u32 i = 0; i < 5 && p + i < 32; ++i)
           to = (to & ~(1u << (p + i))) | (f >> i & 1) << (p + i);
         return to;
       }(a, b, c & 255))},
      {"bfi.b64 %d, %a, %b, 32, 32;", L, L, L, N, RAW(a << 32 | u32(b))},
      {"prmt.b32 %d, %a, %b, %c;", W, W, W, W, RAW(permute(a, b, c))},
      {"lop3.b32 %d, %a, %b, %c, 0xca;", W, W, W, W, RAW((a & b) | (~a & c))},
      {"lop3.b32 %d, %a, %b, %c, 0x96;", W, W, W, W, RAW(a ^ b ^ c)},
      {"dp4a.s32.s32 %d, %a, %b, %c;", W, W, W, W,
       RAW([](u32 x, u32 y, u32 z) -> u64 {
         for (int i = 0; i < 32; i += 8)
           z += u32(s32(int8_t(x >> i)) * int8_t(y >> i));
         return z;
       }(a, b, c))},
      {"dp4a.u32.u32 %d, %a, %b, %c;", W, W, W, W,
       RAW([](u32 x, u32 y, u32 z) -> u64 {
         for (int i = 0; i < 32; i += 8)
           z += u32(uint8_t(x >> i)) * uint8_t(y >> i);
         return z;
       }(a, b, c))},
  };
  for (const Opcode &opcode : all)
    checkOpcode(opcode);
}

TEST(IntegerOpcodeTest, MovesSelectsCompares) {
  const Opcode all[] = {
      {"mov.b32 %d, %a;", W, W, N, N, RAW(a)},
      {"mov.u64 %d, %a;", L, L, N, N, RAW(a)},
      {"mov.pred %d, %a;", P, P, N, N, RAW(a)},
      {"mov.pred %d, -1;", P, N, N, N, RAW(1)},
      {"mov.b64 %d, {%a, %b};", L, W, W, N, RAW(b << 32 | a)},
      {"mov.b32 %d, {%a, %b};", W, H, H, N, RAW(b << 16 | a)},
      {"mov.b64 %d, {%a, %b, %a, %c};", L, H, H, H,
       RAW(a | b << 16 | a << 32 | c << 48)},
      {".reg .b32 t; mov.b64 {t, %d}, %a;", W, L, N, N, RAW(a >> 32)},
      {"mov.b64 {%d, _}, %a;", W, L, N, N, RAW(a)},
      {".reg .b16 t; mov.b32 {%d, t}, %a;", H, W, N, N, RAW(a)},
      {"selp.b32 %d, %a, %b, %c;", W, W, W, P, RAW(c ? a : b)},
      {"selp.b64 %d, %a, %b, %c;", L, L, L, P, RAW(c ? a : b)},
      {"selp.u16 %d, %a, %b, %c;", H, H, H, P, RAW(c ? a : b)},
      {"slct.u32.s32 %d, %a, %b, %c;", W, W, W, W, RAW(s32(c) >= 0 ? a : b)},
      {"setp.eq.s32 %d, %a, %b;", P, W, W, N, BIN(s32, a == b)},
      {"setp.ne.u32 %d, %a, %b;", P, W, W, N, BIN(u32, a != b)},
      {"setp.lt.s32 %d, %a, %b;", P, W, W, N, BIN(s32, a < b)},
      {"setp.lt.u32 %d, %a, %b;", P, W, W, N, BIN(u32, a < b)},
      {"setp.lo.u32 %d, %a, %b;", P, W, W, N, BIN(u32, a < b)},
      {"setp.hs.u32 %d, %a, %b;", P, W, W, N, BIN(u32, a >= b)},
      {"setp.le.s64 %d, %a, %b;", P, L, L, N, BIN(s64, a <= b)},
      {"setp.gt.u64 %d, %a, %b;", P, L, L, N, BIN(u64, a > b)},
      {"setp.ge.s16 %d, %a, %b;", P, H, H, N, BIN(s16, a >= b)},
      {"setp.lt.and.s32 %d, %a, %b, %c;", P, W, W, P,
       RAW(s32(a) < s32(b) && c)},
      {"setp.lt.or.s32 %d, %a, %b, !%c;", P, W, W, P,
       RAW(s32(a) < s32(b) || !c)},
      {"setp.lt.xor.s32 %d, %a, %b, %c;", P, W, W, P,
       RAW((s32(a) < s32(b)) != bool(c))},
      {".reg .pred q; setp.lt.s32 q|%d, %a, %b;", P, W, W, N,
       BIN(s32, !(a < b))},
      {"set.lt.u32.s32 %d, %a, %b;", W, W, W, N, BIN(s32, a < b ? ~0u : 0)},
  };
  for (const Opcode &opcode : all)
    checkOpcode(opcode);
}

TEST(IntegerOpcodeTest, Conversions) {
  const Opcode all[] = {
      {"cvt.u64.u32 %d, %a;", L, W, N, N, RAW(a)},
      {"cvt.s64.s32 %d, %a;", L, W, N, N, RAW(u64(s64(s32(a))))},
      {"cvt.u32.u64 %d, %a;", W, L, N, N, RAW(a)},
      {"cvt.u16.u32 %d, %a;", H, W, N, N, RAW(a)},
      {"cvt.s32.s16 %d, %a;", W, H, N, N, RAW(u64(s64(s16(a))))},
      {"cvt.u32.u16 %d, %a;", W, H, N, N, RAW(a)},
      {"cvt.s32.s8 %d, %a;", W, W, N, N, RAW(u64(s64(int8_t(a))))},
      {"cvt.u32.u8 %d, %a;", W, W, N, N, RAW(a & 0xFF)},
      {"cvt.s16.s8 %d, %a;", H, H, N, N, RAW(u64(s64(int8_t(a))))},
      {"cvt.sat.s32.s64 %d, %a;", W, L, N, N,
       RAW(u64(std::min<s64>(std::max<s64>(a, INT32_MIN), INT32_MAX)))},
      {"cvt.sat.u32.s32 %d, %a;", W, W, N, N, RAW(s32(a) < 0 ? 0 : a)},
      {"cvt.sat.u8.s32 %d, %a;", W, W, N, N,
       RAW(u64(std::min(std::max(s32(a), 0), 255)))},
      {"cvt.sat.s32.u32 %d, %a;", W, W, N, N, RAW(std::min<u64>(a, INT32_MAX))},
  };
  for (const Opcode &opcode : all)
    checkOpcode(opcode);
}
