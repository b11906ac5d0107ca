//===- PairGradientKernel.cpp - the pairs of a gradient ------------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LlvmCpu/GradientKernels.h"
#include "dialect/RayTention/elements/PairGradient.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace raytention;

using Values = KernelBuilder::Values;

namespace {

/// One vector of items against all that passes by.
class PairLanes {
public:
  PairLanes(KernelBuilder &k, const GradientPairs &pairs, Value lane)
      : k(k), pairs(pairs), lane(lane), e(k.b, k.loc, k.layout.vectorType()),
        params(splatParameters(k, pairs.params)),
        isQuery(pairs.side == PairSide::Query) {
    Value base = isQuery ? pairs.row : pairs.key;
    Value first = k.splat(k.toI32(k.add(base, lane)));
    items = arith::AddIOp::create(k.b, k.loc, first, k.laneIndices());
  }

  void run() {
    int64_t numSums = pairs.sums ? pairs.layout.numStates : 0;
    Values sums;
    for (int64_t i = 0; i < numSums; ++i)
      sums.push_back(k.loadVector(pairs.sums->data, sumAt(i)));
    sums = k.carry(k.index(0), pairs.count, 1, sums,
                   [&](Value passing, ValueRange carried) {
                     return visit(passing, carried);
                   });
    for (int64_t i = 0; i < numSums; ++i)
      k.storeVector(sums[i], pairs.sums->data, sumAt(i));
  }

private:
  Values sumAt(int64_t field) {
    return {pairs.sums->part, k.index(field), lane};
  }

  /// A field of the pair's row, in every lane.
  Value field(int64_t number, Value passing) {
    Values at = {pairs.rows.part, k.index(number), isQuery ? lane : passing};
    if (isQuery)
      return k.loadVector(pairs.rows.data, at);
    return k.splat(k.load(pairs.rows.data, at));
  }

  Values productAt(int64_t slot, Value passing) {
    if (isQuery)
      return {passing, k.add(lane, slot * k.layout.itemLanes())};
    return {k.add(passing, slot * pairs.bound), lane};
  }

  Values visit(Value passing, ValueRange carried) {
    Value distance = k.loadVector(
        pairs.distances.data, {k.add(pairs.distances.begin, passing), lane});
    Value other =
        k.splat(k.toI32(k.add(isQuery ? pairs.key : pairs.row, passing)));
    auto fieldAt = [&](int64_t number) { return field(number, passing); };
    auto product = [&](int64_t slot) {
      return k.loadVector(pairs.products, productAt(slot, passing));
    };
    PairSource source{params,
                      pairs.metric,
                      pairs.mask,
                      distance,
                      isQuery ? items : other,
                      isQuery ? other : items,
                      fieldAt,
                      product};
    PairDerivative pair =
        derivePair(e, pairs.layout, source, carried, pairs.givesWeights);
    for (auto [slot, weight] : llvm::enumerate(pair.weights))
      k.storeVector(weight, pairs.products, productAt(slot, passing));
    k.storeVector(pair.coefficient, pairs.coefficients, {passing, lane});
    return pair.sums;
  }

  KernelBuilder &k;
  const GradientPairs &pairs;
  Value lane, items;
  ElementBuilder e;
  ParameterValues params;
  bool isQuery;
};

} // namespace

/// The key side's products read whole stacks: weights of rows that are not
/// there must be zero.
static void clearMissing(KernelBuilder &k, const GradientPairs &pairs,
                         Value lane) {
  k.loop(pairs.count, k.index(pairs.bound), 1, [&](Value row) {
    for (int64_t slot = 0; slot < pairs.layout.numWeighted; ++slot)
      k.storeVector(k.zeroVector(), pairs.products,
                    {k.add(row, slot * pairs.bound), lane});
  });
}

void raytention::weighGradients(KernelBuilder &k, const GradientPairs &pairs) {
  k.loop(k.index(0), k.index(k.layout.itemLanes()), k.layout.lanes,
         [&](Value lane) {
           PairLanes(k, pairs, lane).run();
           if (pairs.givesWeights && pairs.side == PairSide::Key)
             clearMissing(k, pairs, lane);
         });
}
