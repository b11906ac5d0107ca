//===- CarryOps.cpp - sums with a carry -------------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/ops/Ops.h"

using namespace llvm;
using namespace raytention::simt;

// The carry flag is a predicate register that no name reaches: the last source
// of what takes it, the second destination of what gives it. A difference gives
// its borrow.

namespace {

__extension__ typedef unsigned __int128 U128;
__extension__ typedef __int128 S128;

/// The product's lower or upper word.
template <class T> std::make_unsigned_t<T> part(Carry what, T a, T b) {
  using U = std::make_unsigned_t<T>;
  if (what == Carry::MadLow)
    return U(Wrapping<T>(a) * Wrapping<T>(b));
  if (std::is_signed<T>::value)
    return U((S128(a) * S128(b)) >> (8 * sizeof(T)));
  return U((U128(a) * U128(b)) >> (8 * sizeof(T)));
}

/// `form` is the operation, `form2` bit 0: takes the carry, bit 1: gives it.
template <class T>
void withCarry(Warp &warp, const Instruction &at, Mask lanes) {
  using U = std::make_unsigned_t<T>;
  Carry what = static_cast<Carry>(at.form);
  const uint32_t *from = at.op + at.destinations;
  U *d = warp.reg<U>(at.op[0]);
  const T *a = warp.reg<T>(from[0]), *b = warp.reg<T>(from[1]);
  const T *c = warp.reg<T>(from[what >= Carry::MadLow ? 2 : 1]);
  Mask in = at.form2 & 1 ? warp.predicate(from[at.sources - 1]) : 0, out = 0;
  forEachLane(lanes, [&](unsigned i) {
    U x = what >= Carry::MadLow ? part(what, a[i], b[i]) : U(a[i]);
    U y = U(c[i]), carry = in >> i & 1;
    bool less = what == Carry::Sub;
    U half = less ? x - y : x + y;
    U sum = less ? half - carry : half + carry;
    out |= Mask(less ? x < y || half < carry : half < x || sum < half) << i;
    d[i] = sum;
  });
  if (!(at.form2 & 2))
    return;
  Mask &flag = warp.predicate(at.op[1]);
  flag = (flag & ~lanes) | out;
}

template <Carry kWhat> void buildTaking(Form &form) {
  bool gives = form.has("cc");
  buildCarry(form, kWhat, kHighTypes, true, gives);
}

void buildMadTaking(Form &form) {
  bool high = form.oneOf({"lo", "hi"}) == 1;
  bool gives = form.has("cc");
  buildCarry(form, high ? Carry::MadHigh : Carry::MadLow, kHighTypes, true,
             gives);
}

} // namespace

void raytention::simt::buildCarry(Form &form, Carry what, Types types,
                                  bool takes, bool gives) {
  Type type = form.type(types);
  form.code.form = static_cast<uint8_t>(what);
  form.code.form2 = takes | gives << 1;
  form.dest(type);
  if (gives)
    form.addDest(form.kernel.carryFlag());
  for (unsigned i = 0; i < (what >= Carry::MadLow ? 3 : 2); ++i)
    form.source(type);
  if (takes)
    form.addSource(form.kernel.carryFlag());
  form.code.run = withWord(type, [](auto tag) -> Handler {
    return &withCarry<typename decltype(tag)::type>;
  });
}

void raytention::simt::addCarryOps(BuilderTable &table) {
  table["addc"] = &buildTaking<Carry::Add>;
  table["subc"] = &buildTaking<Carry::Sub>;
  table["madc"] = &buildMadTaking;
}
