//===- CompareOps.cpp - comparisons and selections --------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/ops/Ops.h"

using namespace llvm;
using namespace raytention::simt;

namespace {

/// eq ne lt le gt ge; unordered ones hold for a NaN too.
enum Relation : uint8_t { Eq, Ne, Lt, Le, Gt, Ge, Num, Nan };

template <class T> bool holds(Relation relation, T a, T b) {
  switch (relation) {
  case Eq:
    return a == b;
  case Ne:
    return a != b;
  case Lt:
    return a < b;
  case Le:
    return a <= b;
  case Gt:
    return a > b;
  case Ge:
    return a >= b;
  default:
    return false;
  }
}

struct HalfReader {
  using Raw = uint16_t;
  static float read(uint16_t bits) { return fromHalf(bits); }
};
struct BFloatReader {
  using Raw = uint16_t;
  static float read(uint16_t bits) { return fromBFloat(bits); }
};
template <class T> struct PlainReader {
  using Raw = T;
  static T read(T value) { return value; }
};

/// `form` is the relation, bit 7 of it: unordered.
template <class T> bool compare(const Instruction &at, T a, T b) {
  Relation relation = static_cast<Relation>(at.form & 0x7F);
  if constexpr (std::is_floating_point<T>::value) {
    if (at.flush) {
      a = flushed(a);
      b = flushed(b);
    }
    bool unordered = std::isnan(a) || std::isnan(b);
    if (relation == Num || relation == Nan)
      return unordered == (relation == Nan);
    if (unordered)
      return at.form & 0x80;
  }
  return holds(relation, a, b);
}

template <class Reader>
Mask compareLanes(Warp &warp, const Instruction &at, Mask lanes, uint32_t first,
                  uint32_t second) {
  using Raw = typename Reader::Raw;
  const Raw *a = warp.reg<Raw>(first), *b = warp.reg<Raw>(second);
  Mask result = 0;
  forEachLane(lanes, [&](unsigned i) {
    result |= Mask(compare(at, Reader::read(a[i]), Reader::read(b[i]))) << i;
  });
  return result;
}

/// Most comparisons are of integers under a full mask.
template <class T, class Op>
void compareFast(Warp &warp, const Instruction &at, Mask lanes) {
  const T *a = warp.reg<T>(at.op[1]), *b = warp.reg<T>(at.op[2]);
  Mask result = 0;
  for (unsigned i = 0; i < kLanes; ++i)
    result |= Mask(Op::apply(a[i], b[i])) << i;
  Mask &d = warp.predicate(at.op[0]);
  d = (d & ~lanes) | (result & lanes);
}

/// form2: 0 none, 1 and, 2 or, 3 xor, with bit 7 for a negated third operand.
Mask combine(const Instruction &at, Mask value, Mask third) {
  if (at.form2 & 0x80)
    third = ~third;
  switch (at.form2 & 0x7F) {
  case 1:
    return value & third;
  case 2:
    return value | third;
  case 3:
    return value ^ third;
  default:
    return value;
  }
}

template <class Reader>
void setPredicate(Warp &warp, const Instruction &at, Mask lanes) {
  unsigned s = at.destinations;
  Mask held = compareLanes<Reader>(warp, at, lanes, at.op[s], at.op[s + 1]);
  Mask third = at.form2 ? warp.predicate(at.op[s + 2]) : 0;
  Mask result = combine(at, held, third);
  Mask opposite = combine(at, ~held, third);
  Mask &d = warp.predicate(at.op[0]);
  d = (d & ~lanes) | (result & lanes);
  if (at.destinations < 2)
    return;
  Mask &e = warp.predicate(at.op[1]);
  e = (e & ~lanes) | (opposite & lanes);
}

template <class Reader, class D>
void setValue(Warp &warp, const Instruction &at, Mask lanes) {
  Mask held = compareLanes<Reader>(warp, at, lanes, at.op[1], at.op[2]);
  D *d = warp.reg<D>(at.op[0]);
  D truth = static_cast<D>(sizeof(D) == 2 ? at.rounding ? 0x3F80 : 0x3C00
                           : at.rounding  ? 0x3F800000u
                                          : ~0u);
  forEachLane(lanes, [&](unsigned i) { d[i] = held >> i & 1 ? truth : D(0); });
}

template <class Reader>
void setPair(Warp &warp, const Instruction &at, Mask lanes) {
  const uint32_t *a = warp.reg<uint32_t>(at.op[1]);
  const uint32_t *b = warp.reg<uint32_t>(at.op[2]);
  uint32_t *d = warp.reg<uint32_t>(at.op[0]);
  uint32_t truth = at.rounding ? 0x3F80 : 0x3C00;
  forEachLane(lanes, [&](unsigned i) {
    uint32_t result = 0;
    for (unsigned shift = 0; shift < 32; shift += 16)
      if (compare(at, Reader::read(a[i] >> shift), Reader::read(b[i] >> shift)))
        result |= truth << shift;
    d[i] = result;
  });
}

template <class T> void select(Warp &warp, const Instruction &at, Mask lanes) {
  T *d = warp.reg<T>(at.op[0]);
  const T *a = warp.reg<T>(at.op[1]), *b = warp.reg<T>(at.op[2]);
  Mask chosen = warp.predicate(at.op[3]);
  overLanes(lanes, [=](unsigned i) { d[i] = chosen >> i & 1 ? a[i] : b[i]; });
}

template <class T> void selectSign(Warp &warp, const Instruction &at, Mask m) {
  T *d = warp.reg<T>(at.op[0]);
  const T *a = warp.reg<T>(at.op[1]), *b = warp.reg<T>(at.op[2]);
  const int32_t *c = warp.reg<int32_t>(at.op[3]);
  overLanes(m, [=](unsigned i) { d[i] = c[i] >= 0 ? a[i] : b[i]; });
}

#define RAYTENTION_RELATION(Name, op)                                          \
  struct Name {                                                                \
    template <class T> static bool apply(T a, T b) { return a op b; }          \
  };
RAYTENTION_RELATION(IsEq, ==)
RAYTENTION_RELATION(IsNe, !=)
RAYTENTION_RELATION(IsLt, <)
RAYTENTION_RELATION(IsLe, <=)
RAYTENTION_RELATION(IsGt, >)
RAYTENTION_RELATION(IsGe, >=)
#undef RAYTENTION_RELATION

template <class T> Handler fastOf(Relation relation) {
  switch (relation) {
  case Eq:
    return &compareFast<T, IsEq>;
  case Ne:
    return &compareFast<T, IsNe>;
  case Lt:
    return &compareFast<T, IsLt>;
  case Le:
    return &compareFast<T, IsLe>;
  case Gt:
    return &compareFast<T, IsGt>;
  default:
    return &compareFast<T, IsGe>;
  }
}

/// Calls f with the reader of the type.
template <class F> Handler withReader(Type type, F f) {
  switch (type) {
  case Type::F16:
    return f(HalfReader());
  case Type::BF16:
    return f(BFloatReader());
  case Type::F32:
    return f(PlainReader<float>());
  case Type::F64:
    return f(PlainReader<double>());
  default:
    return withWord(type, [&](auto tag) -> Handler {
      return f(PlainReader<typename decltype(tag)::type>());
    });
  }
}

} // namespace

static bool isFloat(Type type) {
  return type == Type::F16 || type == Type::BF16 || type == Type::F32 ||
         type == Type::F64 || type == Type::F16x2 || type == Type::BF16x2;
}

/// Unsigned orders of integers are lo, ls, hi, hs; of floats ltu and so on.
static void takeRelation(Form &form) {
  static const StringRef names[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",
                                    "num", "nan", "equ", "neu", "ltu", "leu",
                                    "gtu", "geu", "lo",  "ls",  "hi",  "hs"};
  unsigned index = form.oneOf(names);
  if (index < 8)
    form.code.form = index;
  else if (index < 14)
    form.code.form = (index - 8) | 0x80;
  else
    form.code.form = index - 14 + Lt;
  if (index >= 6 && index < 14 && !isFloat(lastType(form)))
    form.fail("expected a relation of integers");
}

static void thirdPredicate(Form &form) {
  const Operand *operand = form.takeOperand();
  if (!operand)
    return;
  Operand plain = *operand;
  plain.negated = false;
  form.addSource(form.readRegister(plain, Type::Pred));
  form.code.form2 |= operand->negated ? 0x80 : 0;
}

static void predicateDests(Form &form) {
  const Operand *operand = form.takeOperand();
  if (!operand)
    return;
  if (operand->kind != Operand::Pair)
    return form.addDest(form.writtenRegister(*operand, Type::Pred));
  for (const Operand &one : operand->elements)
    form.addDest(form.writtenRegister(one, Type::Pred));
}

static void buildSetPredicate(Form &form) {
  takeRelation(form);
  form.code.form2 = form.maybe({"and", "or", "xor"}, 3);
  form.code.form2 =
      form.code.form2 == 3 && !form.statement.name.contains(".xor")
          ? 0
          : form.code.form2 + 1;
  form.code.flush = form.has("ftz");
  Type type = form.type();
  predicateDests(form);
  form.source(type);
  form.source(type);
  if (form.code.form2)
    thirdPredicate(form);
  Relation relation = static_cast<Relation>(form.code.form & 0x7F);
  bool plain =
      !isFloat(type) && form.code.form2 == 0 && form.code.destinations == 1;
  form.code.run = withReader(type, [&](auto reader) -> Handler {
    using Reader = decltype(reader);
    if constexpr (std::is_integral<decltype(Reader::read({}))>::value)
      if (plain)
        return fastOf<typename Reader::Raw>(relation);
    return &setPredicate<Reader>;
  });
}

template <class D> static Handler makeSet(Type type) {
  return withReader(type, [](auto reader) -> Handler {
    return &setValue<decltype(reader), D>;
  });
}

static void buildSet(Form &form) {
  takeRelation(form);
  form.code.flush = form.has("ftz");
  Type to = form.type(), from = form.type();
  // All ones for integers, one for floats.
  form.code.rounding =
      to == Type::F32 || to == Type::BF16 || to == Type::BF16x2;
  if (to == Type::F16x2 || to == Type::BF16x2)
    form.code.run = from == Type::F16x2    ? &setPair<HalfReader>
                    : from == Type::BF16x2 ? &setPair<BFloatReader>
                                           : nullptr;
  else if (to == Type::F16 || to == Type::BF16)
    form.code.run = makeSet<uint16_t>(from);
  else if (to == Type::U32 || to == Type::S32 || to == Type::F32)
    form.code.run = makeSet<uint32_t>(from);
  form.dest(to);
  form.source(from);
  form.source(from);
}

static void buildSelect(Form &form) {
  Type type = form.type();
  form.dest(type);
  form.source(type);
  form.source(type);
  form.source(Type::Pred);
  form.code.copies = form.code.selects = true;
  form.code.run = bitsOf(type) == 16   ? &select<uint16_t>
                  : bitsOf(type) == 32 ? &select<uint32_t>
                  : bitsOf(type) == 64 ? &select<uint64_t>
                                       : nullptr;
}

static void buildSelectSign(Form &form) {
  Type type = form.type();
  form.oneOf({"s32"});
  form.dest(type);
  form.source(type);
  form.source(type);
  form.source(Type::S32);
  form.code.run = bitsOf(type) == 32   ? &selectSign<uint32_t>
                  : bitsOf(type) == 64 ? &selectSign<uint64_t>
                                       : nullptr;
}

void raytention::simt::addCompareOps(BuilderTable &table) {
  table["setp"] = &buildSetPredicate;
  table["set"] = &buildSet;
  table["selp"] = &buildSelect;
  table["slct"] = &buildSelectSign;
}
