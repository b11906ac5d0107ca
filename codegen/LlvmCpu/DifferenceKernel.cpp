//===- DifferenceKernel.cpp - coefficients times differences -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LlvmCpu/GradientKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace raytention;

using Values = KernelBuilder::Values;

namespace {

/// The two forms of a sum of coefficients times differences.
class Differences {
public:
  Differences(KernelBuilder &k, const DifferenceLoop &loop)
      : k(k), loop(loop), e(k.b, k.loc, k.layout.vectorType()) {}

  /// A product with a difference in place of the right side.
  void sumNear() {
    auto sum = [&] {
      accumulate([&](Value passing, const SumPlace &at) -> Value {
        return e.sub(passing, ownAt(at));
      });
    };
    if (loop.metric != Metric::L2)
      return sum();
    Value tiny = getTiny(e);
    auto isTiny = [&](const Pairs &pairs) {
      return e.less(pairs.distance, tiny);
    };
    k.ifElse(
        isAny(isTiny), [&] { sumDirections(); }, sum);
  }

  /// A product; the items times the sums of their coefficients are left to the
  /// end, so that their rows need not be read here.
  void sumFar() {
    accumulate({});
    Value zero = k.index(0);
    k.loop(zero, k.index(k.layout.itemLanes()), k.layout.lanes,
           [&](Value lane) {
             Values at = {zero, zero, lane};
             Value sum = e.add(k.loadVector(loop.itemFactors, at),
                               k.loadVector(loop.negatedTotals, {lane}));
             k.storeVector(sum, loop.itemFactors, at);
           });
  }

  /// Whether any pair is near; sets the totals that sumFar reads.
  Value sumCoefficients() {
    return isAny([&](const Pairs &pairs) { return isNear(pairs); },
                 /*setsTotals=*/true);
  }

private:
  void accumulate(SumRule term) {
    accumulateSums(k, k.layout.stackRows(1), loop.coefficients, loop.passing,
                   loop.sums, term);
  }
  Value ownAt(const SumPlace &at) {
    return k.loadVector(loop.items.data, {at.panel, at.row, at.column});
  }
  Value getTiny(ElementBuilder &e) {
    return e.constant(getTinyDistance(k.layout.element.isF64()));
  }
  void sumDirections();
  void addDirection(Value passing, Value item);

  /// A vector of pairs: of `passing` and the items at `lane`.
  struct Pairs {
    Value passing, lane, distance, coefficient;
  };
  Value isAny(llvm::function_ref<Value(const Pairs &)> isSo,
              bool setsTotals = false);
  Value isNear(const Pairs &pairs);

  KernelBuilder &k;
  const DifferenceLoop &loop;
  ElementBuilder e;
};

} // namespace

/// Whether pairs are so near that a sum of the expansion would lose the digits
/// that their differences have, or that their distances divide.
Value Differences::isNear(const Pairs &pairs) {
  Value distance = pairs.distance;
  Value square =
      loop.metric == Metric::L2 ? e.mul(distance, distance) : distance;
  Value all = k.index(k.layout.normBlocks());
  Value norms =
      e.add(k.loadVector(loop.itemNorms, {all, pairs.lane}),
            k.splat(k.load(loop.passing.norms, {all, pairs.passing})));
  Value bound =
      e.max(e.mul(norms, e.constant(kNearShare)),
            e.constant(getTinySquares(k.layout.element.isF64()).square));
  Value near = e.less(square, bound);
  if (loop.metric != Metric::L2)
    return near;
  return arith::OrIOp::create(k.b, k.loc, near, e.less(distance, getTiny(e)));
}

/// Whether any pair is so. Sets the negated totals, if wished: each item's sum
/// of coefficients.
Value Differences::isAny(llvm::function_ref<Value(const Pairs &)> isSo,
                         bool setsTotals) {
  Type flags = VectorType::get({k.layout.lanes}, k.b.getI1Type());
  Value none = arith::ConstantOp::create(
      k.b, k.loc, cast<TypedAttr>(k.b.getZeroAttr(flags)));
  Value zero = k.zeroVector();
  auto visitLane = [&](Value lane, ValueRange any) -> Values {
    auto visit = [&](Value passing, ValueRange carried) -> Values {
      Pairs pairs{passing, lane,
                  k.loadVector(loop.distances.data,
                               {k.add(loop.distances.begin, passing), lane}),
                  k.loadVector(loop.coefficients, {passing, lane})};
      // Padding has coefficients of 0, or none, and no say in this.
      Value counts = arith::CmpFOp::create(
          k.b, k.loc, arith::CmpFPredicate::ONE, pairs.coefficient, zero);
      Value found = e.logicalAnd(counts, isSo(pairs));
      return {arith::OrIOp::create(k.b, k.loc, carried[0], found),
              e.sub(carried[1], pairs.coefficient)};
    };
    Values sums =
        k.carry(k.index(0), loop.passing.count, 1, {any[0], zero}, visit);
    if (setsTotals)
      k.storeVector(sums[1], loop.negatedTotals, {lane});
    return {sums[0]};
  };
  Value any = k.carry(k.index(0), k.index(k.layout.itemLanes()), k.layout.lanes,
                      {none}, visitLane)[0];
  return vector::ReductionOp::create(k.b, k.loc, vector::CombiningKind::OR,
                                     any);
}

/// sums[item] += c[passing][item] (passing - item), over a tiny distance.
void Differences::addDirection(Value passing, Value item) {
  ElementBuilder scalar(k.b, k.loc, k.layout.element);
  Value one = scalar.constant(1);
  Value distance =
      k.load(loop.distances.data, {k.add(loop.distances.begin, passing), item});
  Value own = k.load(loop.coefficients, {passing, item});
  Value divides =
      scalar.logicalAnd(scalar.greater(distance, scalar.constant(0)),
                        scalar.less(distance, getTiny(scalar)));
  // Of pairs without a say the distance may be anything.
  Value counts = arith::CmpFOp::create(k.b, k.loc, arith::CmpFPredicate::ONE,
                                       own, scalar.constant(0));
  divides = scalar.logicalAnd(divides, counts);
  Value divisor = k.splat(scalar.select(divides, distance, one));
  Value coefficient = k.splat(own);
  auto addVector = [&](Value panel, int64_t column) {
    SumPlace at{panel, item, k.index(column)};
    Value other = k.loadVector(loop.passing.data, {panel, passing, at.column});
    Value direction = e.div(e.sub(other, ownAt(at)), divisor);
    Values place = {loop.sums.part, panel, item, at.column};
    Value old = k.loadVector(loop.sums.data, place);
    k.storeVector(e.fma(coefficient, direction, old), loop.sums.data, place);
  };
  k.loop(k.index(0), k.index(k.layout.widthPanels()), 1, [&](Value panel) {
    for (int64_t column = 0; column < k.layout.panel; column += k.layout.lanes)
      addVector(panel, column);
  });
}

/// sumNear where distances divide: rare, so pair by pair.
void Differences::sumDirections() {
  k.loop(k.index(0), loop.items.count, 1, [&](Value item) {
    k.loop(k.index(0), loop.passing.count, 1,
           [&](Value passing) { addDirection(passing, item); });
  });
}

void raytention::sumDifferences(KernelBuilder &k, const DifferenceLoop &loop) {
  Differences differences(k, loop);
  if (!loop.negatedTotals)
    return differences.sumNear();
  k.ifElse(
      differences.sumCoefficients(), [&] { differences.sumNear(); },
      [&] { differences.sumFar(); });
}
