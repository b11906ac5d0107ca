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
    accumulate([&](Value passing, const SumPlace &at) -> Value {
      return e.sub(passing, ownAt(at));
    });
  }

  /// A product, less the items times the sums of their coefficients.
  void sumFar() {
    accumulate({}, [&](Value sum, const SumPlace &at) -> Value {
      Value negated = k.splat(k.load(loop.negatedTotals, {at.row}));
      return e.fma(ownAt(at), negated, sum);
    });
  }

  Value sumCoefficients();

private:
  void accumulate(SumRule term, SumRule finish = {}) {
    accumulateSums(k, k.layout.stackRows(1), loop.coefficients, loop.passing,
                   loop.sums, term, finish);
  }
  Value ownAt(const SumPlace &at) {
    return k.loadVector(loop.items.data, {at.panel, at.row, at.column});
  }
  Value isNear(Value passing, Value lane, Value coefficient);

  KernelBuilder &k;
  const DifferenceLoop &loop;
  ElementBuilder e;
};

} // namespace

/// Whether pairs are so near that a sum of the expansion would lose the digits
/// that their differences have.
Value Differences::isNear(Value passing, Value lane, Value coefficient) {
  Value distance = k.loadVector(loop.distances->data,
                                {k.add(loop.distances->begin, passing), lane});
  Value square =
      loop.metric == Metric::L2 ? e.mul(distance, distance) : distance;
  Value all = k.index(k.layout.normBlocks());
  Value norms = e.add(k.loadVector(loop.itemNorms, {all, lane}),
                      k.splat(k.load(loop.passing.norms, {all, passing})));
  Value bound =
      e.max(e.mul(norms, e.constant(kNearShare)),
            e.constant(getTinySquares(k.layout.element.isF64()).square));
  // Padding has coefficients of 0, or none, and no say in this.
  Value counts = arith::CmpFOp::create(k.b, k.loc, arith::CmpFPredicate::ONE,
                                       coefficient, k.zeroVector());
  return e.logicalAnd(counts, e.less(square, bound));
}

/// Sets the negated totals, each item's sum of coefficients; whether any pair
/// is near.
Value Differences::sumCoefficients() {
  Type flags = VectorType::get({k.layout.lanes}, k.b.getI1Type());
  Value none = arith::ConstantOp::create(
      k.b, k.loc, cast<TypedAttr>(k.b.getZeroAttr(flags)));
  auto sumLane = [&](Value lane, ValueRange any) -> Values {
    Values sums = k.carry(
        k.index(0), loop.passing.count, 1, {any[0], k.zeroVector()},
        [&](Value passing, ValueRange sums) -> Values {
          Value coefficient = k.loadVector(loop.coefficients, {passing, lane});
          Value near = isNear(passing, lane, coefficient);
          return {arith::OrIOp::create(k.b, k.loc, sums[0], near),
                  e.sub(sums[1], coefficient)};
        });
    k.storeVector(sums[1], loop.negatedTotals, {lane});
    return {sums[0]};
  };
  Value any = k.carry(k.index(0), k.index(k.layout.itemLanes()), k.layout.lanes,
                      {none}, sumLane)[0];
  return vector::ReductionOp::create(k.b, k.loc, vector::CombiningKind::OR,
                                     any);
}

void raytention::sumDifferences(KernelBuilder &k, const DifferenceLoop &loop) {
  Differences differences(k, loop);
  if (!loop.distances)
    return differences.sumNear();
  k.ifElse(
      differences.sumCoefficients(), [&] { differences.sumNear(); },
      [&] { differences.sumFar(); });
}
