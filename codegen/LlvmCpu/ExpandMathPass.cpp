//===- ExpandMathPass.cpp - exp and log as polynomials ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LlvmCpu/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <cmath>
#include <utility>

namespace raytention {
#define GEN_PASS_DEF_EXPANDMATHPASS
#include "codegen/LlvmCpu/Passes.h.inc"
} // namespace raytention

using namespace mlir;
using namespace raytention;

namespace {

/// What the expansions need to know of f32 or f64.
struct FloatFormat {
  int64_t mantissaBits, bias;
  /// exp underflows to 0 below (the log of the smallest normal number), is
  /// clamped above
  double expLow, expHigh;
  int expDegree, logTerms; ///< for full precision
  double ln2High, ln2Low;  ///< ln 2 in two parts, the first of few bits
};

FloatFormat getFormat(Type element) {
  if (element.isF64())
    return {52, 1023, -708.396418532264,          709.0,
            11, 12,   6.93147180369123816490e-01, 1.90821492927058770002e-10};
  return {23, 127, -87.33654, 88.0, 6, 5, 0.693359375, -2.12194440054690583e-4};
}

/// The coefficients of T_n(x / range) range^n / 2^(n-1): of the polynomials
/// that start with x^n, the one that stays smallest on [-range, range]
/// (Chebyshev).
SmallVector<double> getSmallestMonic(int n, double range) {
  SmallVector<double> previous = {1}, current = {0, 1};
  for (int i = 1; i < n; ++i) {
    SmallVector<double> next(i + 2, 0);
    for (int k = 0; k <= i; ++k)
      next[k + 1] = 2 * current[k];
    for (int k = 0; k < i; ++k)
      next[k] -= previous[k];
    previous = std::exchange(current, next);
  }
  for (int k = 0; k <= n; ++k)
    current[k] *= std::ldexp(std::pow(range, n - k), 1 - n);
  return current;
}

/// A polynomial for exp on [-ln 2 / 2, ln 2 / 2]: its Taylor series, each term
/// past `degree` replaced by what lower ones can do for it ("economised"): off
/// by 2e-9 at most for degree 6, by 3e-18 for degree 11.
SmallVector<double> getExpSeries(int degree) {
  SmallVector<double> terms = {1};
  for (int i = 1; i <= degree + 3; ++i)
    terms.push_back(terms.back() / i);
  while (static_cast<int>(terms.size()) > degree + 1) {
    int last = terms.size() - 1;
    double coefficient = terms.pop_back_val();
    SmallVector<double> smallest = getSmallestMonic(last, M_LN2 / 2);
    for (int k = 0; k < last; ++k)
      terms[k] -= coefficient * smallest[k];
  }
  return terms;
}

/// Emits arithmetic in the shape of one operand.
class Emitter {
public:
  Emitter(PatternRewriter &rewriter, Location loc, Type type)
      : b(loc, rewriter), type(type),
        format(getFormat(getElementTypeOrSelf(type))) {
    unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
    intType = shaped(b.getIntegerType(width));
    // AVX2 converts to 32-bit integers only; exponents fit those.
    narrowType = shaped(b.getI32Type());
  }

  Value constant(double value) {
    TypedAttr attr = b.getFloatAttr(getElementTypeOrSelf(type), value);
    return splat(attr, type);
  }
  Value integer(int64_t value) {
    TypedAttr attr = b.getIntegerAttr(getElementTypeOrSelf(intType), value);
    return splat(attr, intType);
  }
  Value fma(Value a, Value c, Value d) {
    return math::FmaOp::create(b, a, c, d);
  }
  Value mul(Value a, Value c) { return arith::MulFOp::create(b, a, c); }
  Value select(arith::CmpFPredicate predicate, Value a, Value c, Value yes,
               Value no) {
    Value condition = arith::CmpFOp::create(b, predicate, a, c);
    return arith::SelectOp::create(b, condition, yes, no);
  }
  /// c0 + x (c1 + x (c2 + ...))
  Value horner(Value x, ArrayRef<double> coefficients) {
    Value sum = constant(coefficients.back());
    for (double c : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, x, constant(c));
    return sum;
  }

  ImplicitLocOpBuilder b;
  Type type, intType, narrowType;
  FloatFormat format;

private:
  Type shaped(Type element) {
    if (auto vector = dyn_cast<VectorType>(type))
      return vector.clone(element);
    return element;
  }
  Value splat(TypedAttr attr, Type shape) {
    if (auto vector = dyn_cast<VectorType>(shape))
      attr = DenseElementsAttr::get(vector, Attribute(attr));
    return arith::ConstantOp::create(b, attr);
  }
};

/// exp(x) = 2^n exp(x - n ln 2), exactly 0 where it would be subnormal. Below
/// that, down to minus infinity, the other values may be anything.
Value expandExp(Emitter &e, Value x) {
  const FloatFormat &f = e.format;
  using P = arith::CmpFPredicate;
  Value low = e.constant(f.expLow), high = e.constant(f.expHigh);
  Value clamped = e.select(P::OGT, x, high, high, x);
  // Added to a number whose last bit is worth 1, x / ln 2 is rounded to n, and
  // n + bias stands in the last bits of the sum, to be shifted to an exponent.
  double large = std::ldexp(1.5, f.mantissaBits) + f.bias;
  Value sum = e.fma(clamped, e.constant(M_LOG2E), e.constant(large));
  Value n = arith::SubFOp::create(e.b, sum, e.constant(large));
  Value r = e.fma(n, e.constant(-f.ln2High), clamped);
  r = e.fma(n, e.constant(-f.ln2Low), r);
  Value series = e.horner(r, getExpSeries(f.expDegree));
  Value bits = arith::BitcastOp::create(e.b, e.intType, sum);
  bits = arith::ShLIOp::create(e.b, bits, e.integer(f.mantissaBits));
  Value power = arith::BitcastOp::create(e.b, e.type, bits);
  return e.select(P::OLT, x, low, e.constant(0), e.mul(series, power));
}

/// log(2^n m) = n ln 2 + 2 artanh(s), s = (m - 1) / (m + 1), m around 1; x is
/// positive and normal.
Value expandLog(Emitter &e, Value x) {
  const FloatFormat &f = e.format;
  Value bits = arith::BitcastOp::create(e.b, e.intType, x);
  Value n = arith::ShRUIOp::create(e.b, bits, e.integer(f.mantissaBits));
  n = arith::SubIOp::create(e.b, n, e.integer(f.bias));
  Value mantissa = arith::AndIOp::create(
      e.b, bits, e.integer((int64_t(1) << f.mantissaBits) - 1));
  mantissa =
      arith::OrIOp::create(e.b, mantissa, e.integer(f.bias << f.mantissaBits));
  Value m = arith::BitcastOp::create(e.b, e.type, mantissa);
  Value large = arith::CmpFOp::create(e.b, arith::CmpFPredicate::OGT, m,
                                      e.constant(M_SQRT2));
  m = arith::SelectOp::create(e.b, large, e.mul(m, e.constant(0.5)), m);
  n = arith::SelectOp::create(e.b, large,
                              arith::AddIOp::create(e.b, n, e.integer(1)), n);
  if (e.narrowType != e.intType)
    n = arith::TruncIOp::create(e.b, e.narrowType, n);
  Value power = arith::SIToFPOp::create(e.b, e.type, n);
  Value fraction = arith::SubFOp::create(e.b, m, e.constant(1));
  Value s = arith::DivFOp::create(e.b, fraction,
                                  arith::AddFOp::create(e.b, m, e.constant(1)));
  SmallVector<double> terms;
  for (int i = 1; i <= f.logTerms; ++i)
    terms.push_back(2.0 / (2 * i + 1));
  Value square = e.mul(s, s);
  Value tail = e.mul(e.mul(s, square), e.horner(square, terms));
  tail = e.fma(power, e.constant(f.ln2Low), tail);
  Value result = e.fma(s, e.constant(2), tail);
  return e.fma(power, e.constant(f.ln2High), result);
}

template <typename Op, Value (*expand)(Emitter &, Value)>
struct Expand : public OpRewritePattern<Op> {
  Expand(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern<Op>(context), count(count) {}

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Type element = getElementTypeOrSelf(op.getType());
    if (!element.isF32() && !element.isF64())
      return rewriter.notifyMatchFailure(op, "expected f32 or f64");
    Emitter emitter(rewriter, op.getLoc(), op.getType());
    rewriter.replaceOp(op, expand(emitter, op.getOperand()));
    ++count;
    return success();
  }
  Pass::Statistic &count;
};

struct ExpandMathPass
    : public raytention::impl::ExpandMathPassBase<ExpandMathPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns
        .add<Expand<math::ExpOp, expandExp>, Expand<math::LogOp, expandLog>>(
            &getContext(), numExpanded);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
