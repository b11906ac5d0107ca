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

/// Halves are read as floats, where those that are subnormal are not.
template <class T> T flushedBelow(T value, bool isHalf) {
  return isHalf && std::fabs(value) < T(0x1p-14) ? T(0) : flushed(value);
}

/// `form` is the relation, bit 7 of it: unordered; `rounding`: of halves.
template <class T> bool compare(const Instruction &at, T a, T b) {
  Relation relation = static_cast<Relation>(at.form & 0x7F);
  if constexpr (std::is_floating_point<T>::value) {
    if (at.flush) {
      a = flushedBelow(a, at.rounding);
      b = flushedBelow(b, at.rounding);
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
  D truth = static_cast<D>(at.offset);
  forEachLane(lanes, [&](unsigned i) { d[i] = held >> i & 1 ? truth : D(0); });
}

template <class Reader>
void setPair(Warp &warp, const Instruction &at, Mask lanes) {
  const uint32_t *a = warp.reg<uint32_t>(at.op[1]);
  const uint32_t *b = warp.reg<uint32_t>(at.op[2]);
  uint32_t *d = warp.reg<uint32_t>(at.op[0]);
  uint32_t truth = at.offset & 0xFFFF;
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

template <class T, class Sign>
void selectSign(Warp &warp, const Instruction &at, Mask m) {
  T *d = warp.reg<T>(at.op[0]);
  const T *a = warp.reg<T>(at.op[1]), *b = warp.reg<T>(at.op[2]);
  const Sign *c = warp.reg<Sign>(at.op[3]);
  bool flush = at.flush;
  overLanes(m, [=](unsigned i) {
    Sign sign = c[i];
    if constexpr (std::is_floating_point<Sign>::value)
      sign = flush ? flushed(sign) : sign;
    d[i] = sign >= 0 ? a[i] : b[i];
  });
}

template <class Sign> Handler pickSelectSign(Type type) {
  return bitsOf(type) == 16   ? &selectSign<uint16_t, Sign>
         : bitsOf(type) == 32 ? &selectSign<uint32_t, Sign>
                              : &selectSign<uint64_t, Sign>;
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

constexpr Type kPlainTypes[] = {Type::B16, Type::B32, Type::B64, Type::U16,
                                Type::U32, Type::U64, Type::S16, Type::S32,
                                Type::S64, Type::F32, Type::F64};
constexpr Type kComparedTypes[] = {
    Type::B16, Type::B32, Type::B64, Type::U16, Type::U32, Type::U64, Type::S16,
    Type::S32, Type::S64, Type::F16, Type::F32, Type::F64, Type::BF16};

/// Unsigned orders of integers are lo, ls, hi, hs; unordered ones of floats ltu
/// and so on. Bits are equal or not.
static void takeRelation(Form &form, Type type) {
  static const StringRef all[] = {"eq",  "ne",  "lt",  "le",  "gt",
                                  "ge",  "num", "nan", "equ", "neu",
                                  "ltu", "leu", "gtu", "geu"};
  static const StringRef whole[] = {"eq", "ne", "lt", "le", "gt",
                                    "ge", "lo", "ls", "hi", "hs"};
  if (isFloat(type)) {
    unsigned index = form.oneOf(all);
    form.code.form = index < 8 ? index : (index - 8) | 0x80;
    return;
  }
  unsigned count = isSigned(type) ? 6 : type <= Type::B64 ? 2 : 10;
  unsigned index = form.oneOf(ArrayRef<StringRef>(whole).take_front(count));
  form.code.form = index < 6 ? index : index - 6 + Lt;
}

static void takeFlush(Form &form, Type type) {
  bool isHalf = type == Type::F16 || type == Type::F16x2;
  form.code.flush = (isHalf || type == Type::F32) && form.has("ftz");
  form.code.rounding = isHalf;
}

static void buildSetPredicate(Form &form) {
  Type type = form.lastType(kComparedTypes);
  takeRelation(form, type);
  unsigned joins = form.maybe({"and", "or", "xor"}, 3);
  form.code.form2 = joins == 3 ? 0 : joins + 1;
  takeFlush(form, type);
  form.type({type});
  if (type == Type::F16 || type == Type::BF16)
    form.dest(Type::Pred);
  else
    form.destPair(Type::Pred, Type::Pred);
  form.source(type);
  form.source(type);
  if (joins != 3)
    form.code.form2 |= form.sourcePredicate() ? 0x80 : 0;
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

/// What set gives of a comparison of that type.
static Types resultsOf(Type from) {
  static constexpr Type words[] = {Type::U32, Type::S32, Type::F32, Type::F16,
                                   Type::BF16};
  static constexpr Type halves[] = {Type::U32, Type::S32, Type::F16, Type::U16,
                                    Type::S16};
  static constexpr Type bfloats[] = {Type::U32, Type::S32, Type::BF16,
                                     Type::U16, Type::S16};
  static constexpr Type pairs[] = {Type::F16x2, Type::U32, Type::S32};
  static constexpr Type bfloatPairs[] = {Type::BF16x2, Type::U32, Type::S32};
  return from == Type::F16      ? Types(halves)
         : from == Type::BF16   ? Types(bfloats)
         : from == Type::F16x2  ? Types(pairs)
         : from == Type::BF16x2 ? Types(bfloatPairs)
                                : Types(words);
}

/// The bits of what holds: 1 of a float, all ones of an integer.
static uint64_t truthOf(Type to) {
  switch (to) {
  case Type::F32:
    return 0x3F800000;
  case Type::F16:
  case Type::F16x2:
    return 0x3C00;
  case Type::BF16:
  case Type::BF16x2:
    return 0x3F80;
  default:
    return ~uint64_t(0);
  }
}

static void buildSet(Form &form) {
  static constexpr Type sources[] = {
      Type::B16, Type::B32, Type::B64,   Type::U16,  Type::U32,
      Type::U64, Type::S16, Type::S32,   Type::S64,  Type::F16,
      Type::F32, Type::F64, Type::F16x2, Type::BF16, Type::BF16x2};
  Type from = form.lastType(sources);
  takeRelation(form, from);
  takeFlush(form, from);
  Type to = form.type(resultsOf(from));
  form.type({from});
  if (to == Type::BF16 && form.code.flush)
    form.fail("expected a result in bf16 without .ftz");
  form.code.offset = truthOf(to);
  form.code.run = from == Type::F16x2    ? &setPair<HalfReader>
                  : from == Type::BF16x2 ? &setPair<BFloatReader>
                  : bitsOf(to) == 16     ? makeSet<uint16_t>(from)
                                         : makeSet<uint32_t>(from);
  form.dest(to);
  form.source(from);
  form.source(from);
}

static void buildSelect(Form &form) {
  Type type = form.type(kPlainTypes);
  form.dest(type);
  form.source(type);
  form.source(type);
  form.source(Type::Pred);
  form.code.copies = form.code.selects = true;
  form.code.run = bitsOf(type) == 16   ? &select<uint16_t>
                  : bitsOf(type) == 32 ? &select<uint32_t>
                                       : &select<uint64_t>;
}

static void buildSelectSign(Form &form) {
  Type sign = form.lastType({Type::S32, Type::F32});
  form.code.flush = sign == Type::F32 && form.has("ftz");
  Type type = form.type(kPlainTypes);
  form.type({sign});
  form.dest(type);
  form.source(type);
  form.source(type);
  form.source(sign);
  form.code.run = sign == Type::S32 ? pickSelectSign<int32_t>(type)
                                    : pickSelectSign<float>(type);
}

void raytention::simt::addCompareOps(BuilderTable &table) {
  table["setp"] = &buildSetPredicate;
  table["set"] = &buildSet;
  table["selp"] = &buildSelect;
  table["slct"] = &buildSelectSign;
}
