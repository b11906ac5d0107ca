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

bool isConstant(const Program &program, uint64_t address) {
  for (const std::unique_ptr<Variable> &variable : program.variables)
    if (variable->constant &&
        address - reinterpret_cast<uint64_t>(variable->base) < variable->bytes)
      return true;
  return false;
}

/// Global and constant memory are host memory, with no window.
void isInSpace(Warp &warp, const Instruction &at, Mask lanes) {
  const uint64_t *a = warp.reg<uint64_t>(at.op[1]);
  Mask &d = warp.predicate(at.op[0]);
  const Program &program = warp.block->worker->launch.program;
  forEachLane(lanes, [&](unsigned i) {
    bool inside = (a[i] & kWindowMask) == uint64_t(at.offset);
    if (inside && !at.offset)
      inside = isConstant(program, a[i]) == (at.space == Space::Const);
    d = (d & ~(Mask(1) << i)) | Mask(inside) << i;
  });
}

} // namespace

static constexpr StringRef kClocks[] = {"%clock",          "%clock_hi",
                                        "%clock64",        "%globaltimer",
                                        "%globaltimer_lo", "%globaltimer_hi"};

/// Registers beside each other, as one of b32 or b64: 2 x 16, 2 x 32, 4 x 16.
static void buildPack(Form &form, Type type, size_t count, bool packs) {
  if (bitsOf(type) == 32 && count == 2)
    form.code.run =
        packs ? &pack<uint32_t, uint16_t> : &unpack<uint32_t, uint16_t>;
  else if (bitsOf(type) == 64 && count == 2)
    form.code.run =
        packs ? &pack<uint64_t, uint32_t> : &unpack<uint64_t, uint32_t>;
  else if (bitsOf(type) == 64 && count == 4)
    form.code.run =
        packs ? &pack<uint64_t, uint16_t> : &unpack<uint64_t, uint16_t>;
  else
    return form.fail("expected 2 or 4 registers beside one of .b32 or .b64");
  Type element = bitsOf(type) / count == 16 ? Type::B16 : Type::B32;
  if (packs) {
    form.dest(type);
    return form.sourceVector(element, count);
  }
  form.destVector(element, count);
  form.source(type);
}

/// One of the clocks, which are read anew by each instruction, or none.
static unsigned whichClock(const Operand *from) {
  unsigned index = 0;
  while (index < std::size(kClocks) &&
         !(from && from->kind == Operand::Name && from->name == kClocks[index]))
    ++index;
  return (index + 1) % (std::size(kClocks) + 1);
}

static void buildClock(Form &form, Type type, StringRef name) {
  bool wide = name == "%clock64" || name == "%globaltimer";
  if (bitsOf(type) != (wide ? 64 : 32))
    form.fail("expected a type as wide as " + name);
  form.code.form = name.ends_with("_hi") ? 32 : 0;
  form.code.run = wide ? &readClock<uint64_t> : &readClock<uint32_t>;
  form.dest(type);
  form.shape(name);
  form.takeOperand();
}

/// How many registers in braces an operand is: 0, 2 or 4 in a list of forms.
static size_t elementCount(Form &form, size_t at) {
  size_t inText = 0;
  if (at < form.statement.operands.size() &&
      form.statement.operands[at].kind == Operand::Vector)
    inText = form.statement.operands[at].elements.size();
  return inText > 4 || inText % 2 ? inText : 2 * form.among(3, inText / 2);
}

static void buildMove(Form &form) {
  Type type = form.type({Type::Pred, Type::B16, Type::B32, Type::B64, Type::U16,
                         Type::U32, Type::U64, Type::S16, Type::S32, Type::S64,
                         Type::F32, Type::F64});
  form.code.copies = true;
  bool bits = type == Type::B32 || type == Type::B64;
  if (size_t count = bits ? elementCount(form, 1) : 0)
    return buildPack(form, type, count, true);
  if (size_t count = bits ? elementCount(form, 0) : 0)
    return buildPack(form, type, count, false);
  const std::vector<Operand> &operands = form.statement.operands;
  unsigned clock = whichClock(operands.size() == 2 ? &operands[1] : nullptr);
  if (isInteger(type))
    clock = form.among(std::size(kClocks) + 1, clock);
  if (clock)
    return buildClock(form, type, kClocks[clock - 1]);
  form.dest(type);
  form.source(type);
  form.code.run = type == Type::Pred   ? &movePredicate
                  : bitsOf(type) == 16 ? &unary<uint16_t, uint16_t, Same>
                  : bitsOf(type) == 32 ? &unary<uint32_t, uint32_t, Same>
                                       : &unary<uint64_t, uint64_t, Same>;
}

/// Takes a space; gives its window.
static uint64_t takeWindow(Form &form) {
  static constexpr uint64_t windows[] = {
      0, kSharedWindow, kSharedWindow, kLocalWindow,
      0, kParamWindow,  kSharedWindow};
  unsigned space = form.oneOf({"global", "shared", "shared::cta", "local",
                               "const", "param", "shared::cluster"});
  form.code.space = space == 4 ? Space::Const : Space::Generic;
  return windows[space];
}

/// Host pointers are generic addresses; other spaces have windows of their own.
static void buildConvertAddress(Form &form) {
  bool toSpace = form.has("to");
  uint64_t window = takeWindow(form);
  form.oneOf({"u64"});
  form.dest(Type::U64);
  form.source(Type::U64);
  form.code.copies = true;
  form.code.offset = toSpace ? 0 - window : window;
  form.code.run = &addWindow;
}

static void buildIsSpace(Form &form) {
  form.code.offset = takeWindow(form);
  form.dest(Type::Pred);
  form.source(Type::U64);
  form.code.run = &isInSpace;
}

void raytention::simt::addMoveOps(BuilderTable &table) {
  table["mov"] = &buildMove;
  table["cvta"] = &buildConvertAddress;
  table["isspacep"] = &buildIsSpace;
}
