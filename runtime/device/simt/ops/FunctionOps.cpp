//===- FunctionOps.cpp - exponentials, logarithms and the like --*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/ops/Ops.h"

using namespace llvm;
using namespace raytention::simt;

// The hardware's approximations are replaced by the library's functions: as
// near to the exact value as any, and not the same bits.

namespace {

struct Exp2 {
  static float apply(float a) { return std::exp2(a); }
};
struct Log2 {
  static float apply(float a) { return std::log2(a); }
};
struct Sine {
  static float apply(float a) { return std::sin(a); }
};
struct Cosine {
  static float apply(float a) { return std::cos(a); }
};
struct HyperbolicTangent {
  static float apply(float a) { return std::tanh(a); }
};
struct ReciprocalRoot {
  template <class T> static T apply(T a) { return T(1) / std::sqrt(a); }
};

template <class T, class Op>
void function(Warp &warp, const Instruction &at, Mask lanes) {
  T *d = warp.reg<T>(at.op[0]);
  const T *a = warp.reg<T>(at.op[1]);
  bool flush = at.flush;
  forEachLane(lanes, [&](unsigned i) {
    T result = Op::apply(flush ? flushed(a[i]) : a[i]);
    d[i] = flush ? flushed(result) : result;
  });
}

enum class Property : uint8_t {
  Finite,
  Infinite,
  Number,
  NotANumber,
  Normal,
  Subnormal
};

template <class T> bool hasProperty(Property property, T value) {
  switch (property) {
  case Property::Finite:
    return std::isfinite(value);
  case Property::Infinite:
    return std::isinf(value);
  case Property::Number:
    return !std::isnan(value);
  case Property::NotANumber:
    return std::isnan(value);
  case Property::Normal: // zero counts
    return std::isnormal(value) || value == 0;
  case Property::Subnormal:
    return std::fpclassify(value) == FP_SUBNORMAL;
  }
  return false;
}

template <class T>
void testProperty(Warp &warp, const Instruction &at, Mask lanes) {
  const T *a = warp.reg<T>(at.op[1]);
  Mask &d = warp.predicate(at.op[0]);
  Mask held = 0;
  forEachLane(lanes, [&](unsigned i) {
    held |= Mask(hasProperty(static_cast<Property>(at.form), a[i])) << i;
  });
  d = (d & ~lanes) | held;
}

} // namespace

template <class Op> static void buildFunction(Form &form) {
  form.oneOf({"approx"});
  form.code.flush = form.has("ftz");
  form.type({Type::F32});
  form.code.run = &function<float, Op>;
  form.code.flops = 1;
  form.dest(Type::F32);
  form.source(Type::F32);
}

/// ex2 and tanh are of 16 bits too.
template <class Op> static void buildSmallFunction(Form &form) {
  Type type = form.lastType(
      {Type::F32, Type::F16, Type::F16x2, Type::BF16, Type::BF16x2});
  if (type != Type::F32)
    return buildHalf(form, type, 1);
  buildFunction<Op>(form);
}

/// There is no .ftz of tanh.
static void buildTanh(Form &form) {
  buildSmallFunction<HyperbolicTangent>(form);
  if (form.code.flush)
    form.fail("expected tanh.approx without .ftz");
}

static void buildReciprocalRoot(Form &form) {
  form.oneOf({"approx"});
  form.code.flush = form.has("ftz");
  Type type = form.type({Type::F32, Type::F64});
  form.code.run = type == Type::F32 ? &function<float, ReciprocalRoot>
                                    : &function<double, ReciprocalRoot>;
  form.code.flops = 1;
  form.dest(type);
  form.source(type);
}

static void buildTest(Form &form) {
  form.code.form = form.oneOf(
      {"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  Type type = form.type({Type::F32, Type::F64});
  form.code.run =
      type == Type::F32 ? &testProperty<float> : &testProperty<double>;
  form.dest(Type::Pred);
  form.source(type);
}

void raytention::simt::addFunctionOps(BuilderTable &table) {
  table["ex2"] = &buildSmallFunction<Exp2>;
  table["lg2"] = &buildFunction<Log2>;
  table["sin"] = &buildFunction<Sine>;
  table["cos"] = &buildFunction<Cosine>;
  table["tanh"] = &buildTanh;
  table["rsqrt"] = &buildReciprocalRoot;
  table["testp"] = &buildTest;
}
