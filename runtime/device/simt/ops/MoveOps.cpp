//===- MoveOps.cpp - moves, packs and address spaces ------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/ops/Ops.h"

#include <chrono>

using namespace llvm;
using namespace raytention::simt;

namespace {

struct Same {
  template <class T> static T apply(T a) { return a; }
};

void movePredicate(Warp &warp, const Instruction &at, Mask lanes) {
  Mask a = warp.predicate(at.op[1]);
  Mask &d = warp.predicate(at.op[0]);
  d = (d & ~lanes) | (a & lanes);
}

template <class Wide, class Narrow>
void pack(Warp &warp, const Instruction &at, Mask lanes) {
  Wide *d = warp.reg<Wide>(at.op[0]);
  forEachLane(lanes, [&](unsigned lane) {
    Wide value = 0;
    for (unsigned i = 0; i < at.sources; ++i)
      value |= Wide(warp.reg<Narrow>(at.op[1 + i])[lane])
               << (8 * sizeof(Narrow) * i);
    d[lane] = value;
  });
}

template <class Wide, class Narrow>
void unpack(Warp &warp, const Instruction &at, Mask lanes) {
  const Wide *a = warp.reg<Wide>(at.op[at.destinations]);
  forEachLane(lanes, [&](unsigned lane) {
    Wide value = a[lane];
    for (unsigned i = 0; i < at.destinations; ++i)
      warp.reg<Narrow>(at.op[i])[lane] = value >> (8 * sizeof(Narrow) * i);
  });
}

/// Every instruction takes one tick of the clock.
template <class T> void readClock(Warp &warp, const Instruction &at, Mask m) {
  T *d = warp.reg<T>(at.op[0]);
  T now = static_cast<T>((warp.block->steps + ++warp.steps) >> at.form);
  forEachLane(m, [&](unsigned lane) { d[lane] = now; });
}

void addWindow(Warp &warp, const Instruction &at, Mask lanes) {
  uint64_t *d = warp.reg<uint64_t>(at.op[0]);
  const uint64_t *a = warp.reg<uint64_t>(at.op[1]);
  uint64_t window = at.offset;
  overLanes(lanes, [=](unsigned i) { d[i] = a[i] + window; });
}

void isInSpace(Warp &warp, const Instruction &at, Mask lanes) {
  const uint64_t *a = warp.reg<uint64_t>(at.op[1]);
  Mask &d = warp.predicate(at.op[0]);
  forEachLane(lanes, [&](unsigned i) {
    bool inside = (a[i] & kWindowMask) == uint64_t(at.offset);
    d = (d & ~(Mask(1) << i)) | Mask(inside) << i;
  });
}

} // namespace

static void buildPack(Form &form, Type type) {
  const Operand &from = form.statement.operands[1];
  size_t count = from.elements.size();
  if (bitsOf(type) == 32 && count == 2)
    form.code.run = &pack<uint32_t, uint16_t>;
  else if (bitsOf(type) == 64 && count == 2)
    form.code.run = &pack<uint64_t, uint32_t>;
  else if (bitsOf(type) == 64 && count == 4)
    form.code.run = &pack<uint64_t, uint16_t>;
  else
    return form.fail("expected 2 or 4 registers to pack");
  form.dest(type);
  form.sourceVector(bitsOf(type) / count == 16 ? Type::B16 : Type::B32, count,
                    count);
}

static void buildUnpack(Form &form, Type type) {
  size_t count = form.statement.operands[0].elements.size();
  if (bitsOf(type) == 32 && count == 2)
    form.code.run = &unpack<uint32_t, uint16_t>;
  else if (bitsOf(type) == 64 && count == 2)
    form.code.run = &unpack<uint64_t, uint32_t>;
  else if (bitsOf(type) == 64 && count == 4)
    form.code.run = &unpack<uint64_t, uint16_t>;
  else
    return form.fail("expected 2 or 4 registers to unpack to");
  form.destVector(bitsOf(type) / count == 16 ? Type::B16 : Type::B32, count,
                  count);
  form.source(type);
}

static bool buildClock(Form &form, Type type, StringRef name) {
  bool wide = name == "%clock64" || name == "%globaltimer";
  bool high = name == "%clock_hi" || name == "%globaltimer_hi";
  if (!wide && !high && name != "%clock" && name != "%globaltimer_lo")
    return false;
  if (bitsOf(type) != (wide ? 64 : 32))
    form.fail("expected a type as wide as " + name);
  form.code.form = high ? 32 : 0;
  form.code.run = wide ? &readClock<uint64_t> : &readClock<uint32_t>;
  form.dest(type);
  form.takeOperand();
  return true;
}

static void buildMove(Form &form) {
  Type type = form.type();
  const std::vector<Operand> &operands = form.statement.operands;
  if (operands.size() != 2)
    return form.fail("expected 2 operands, got " + Twine(operands.size()));
  form.code.copies = true;
  if (operands[1].kind == Operand::Vector)
    return buildPack(form, type);
  if (operands[0].kind == Operand::Vector)
    return buildUnpack(form, type);
  if (buildClock(form, type, operands[1].name))
    return;
  form.dest(type);
  form.source(type);
  form.code.run = type == Type::Pred   ? &movePredicate
                  : bitsOf(type) == 16 ? &unary<uint16_t, uint16_t, Same>
                  : bitsOf(type) == 32 ? &unary<uint32_t, uint32_t, Same>
                  : bitsOf(type) == 64 ? &unary<uint64_t, uint64_t, Same>
                                       : nullptr;
}

static uint64_t windowOf(unsigned space) {
  static constexpr uint64_t windows[] = {0, kSharedWindow, kLocalWindow, 0,
                                         kParamWindow};
  return windows[space];
}

static unsigned takeSpace(Form &form) {
  if (form.has("shared::cta"))
    return 1;
  return form.oneOf({"global", "shared", "local", "const", "param"});
}

/// Host pointers are generic addresses; other spaces have windows of their own.
static void buildConvertAddress(Form &form) {
  bool toSpace = form.has("to");
  uint64_t window = windowOf(takeSpace(form));
  form.oneOf({"u64"});
  form.dest(Type::U64);
  form.source(Type::U64);
  form.code.copies = true;
  form.code.offset = toSpace ? 0 - window : window;
  form.code.run = &addWindow;
}

static void buildIsSpace(Form &form) {
  form.code.offset = windowOf(takeSpace(form));
  form.dest(Type::Pred);
  form.source(Type::U64);
  form.code.run = &isInSpace;
}

void raytention::simt::addMoveOps(BuilderTable &table) {
  table["mov"] = &buildMove;
  table["cvta"] = &buildConvertAddress;
  table["isspacep"] = &buildIsSpace;
}
