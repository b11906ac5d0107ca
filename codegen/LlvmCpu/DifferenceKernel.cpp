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

/// Register tiles as in a product, with a difference in place of the right
/// side.
static void sumNear(KernelBuilder &k, const DifferenceLoop &loop) {
  const TileLayout &layout = k.layout;
  ElementBuilder e(k.b, k.loc, layout.vectorType());
  int64_t vectors = layout.tileVectors;
  auto tile = [&](Value item, Value panel) {
    Values init(layout.tileRows * vectors, k.zeroVector());
    auto step = [&](Value p, ValueRange sums) {
      Values next, passing;
      for (int64_t v = 0; v < vectors; ++v)
        passing.push_back(k.loadVector(loop.passing.data,
                                       {panel, p, k.index(v * layout.lanes)}));
      for (int64_t i = 0; i < layout.tileRows; ++i) {
        Value row = k.add(item, i);
        Value coefficient = k.splat(k.load(loop.coefficients, {p, row}));
        for (int64_t v = 0; v < vectors; ++v) {
          Value own = k.loadVector(loop.items.data,
                                   {panel, row, k.index(v * layout.lanes)});
          next.push_back(e.fma(coefficient, e.sub(passing[v], own),
                               sums[i * vectors + v]));
        }
      }
      return next;
    };
    Values sums = k.carry(k.index(0), loop.passing.count, 1, init, step);
    for (int64_t i = 0; i < layout.tileRows; ++i)
      for (int64_t v = 0; v < vectors; ++v) {
        Values at = {loop.sums.part, panel, k.add(item, i),
                     k.index(v * layout.lanes)};
        Value old = k.loadVector(loop.sums.data, at);
        k.storeVector(e.add(old, sums[i * vectors + v]), loop.sums.data, at);
      }
  };
  k.loop(k.index(0), k.index(layout.stackRows(1)), layout.tileRows,
         [&](Value item) {
           k.loop(k.index(0), k.index(layout.widthPanels()), 1,
                  [&](Value panel) { tile(item, panel); });
         });
}

/// A product, less the items times the sums of their coefficients.
static void sumFar(KernelBuilder &k, const DifferenceLoop &loop) {
  const TileLayout &layout = k.layout;
  ElementBuilder e(k.b, k.loc, layout.vectorType());
  accumulateSums(k, layout.stackRows(1), loop.coefficients, loop.passing,
                 loop.sums);
  k.loop(k.index(0), k.index(layout.itemLanes()), layout.lanes,
         [&](Value lane) {
           Values total =
               k.carry(k.index(0), loop.passing.count, 1, {k.zeroVector()},
                       [&](Value p, ValueRange sum) -> Values {
                         return {e.add(sum[0], k.loadVector(loop.coefficients,
                                                            {p, lane}))};
                       });
           k.storeVector(e.sub(k.zeroVector(), total[0]), loop.totals, {lane});
         });
  k.loop(k.index(0), k.index(layout.widthPanels()), 1, [&](Value panel) {
    k.loop(k.index(0), loop.items.count, 1, [&](Value item) {
      Value total = k.splat(k.load(loop.totals, {item}));
      for (int64_t v = 0; v < layout.tileVectors; ++v) {
        Value in = k.index(v * layout.lanes);
        Value own = k.loadVector(loop.items.data, {panel, item, in});
        Values at = {loop.sums.part, panel, item, in};
        Value old = k.loadVector(loop.sums.data, at);
        k.storeVector(e.fma(own, total, old), loop.sums.data, at);
      }
    });
  });
}

/// Whether some pair is so near that a sum of the expansion would lose the
/// digits that its difference has.
static Value isAnyNear(KernelBuilder &k, const DifferenceLoop &loop) {
  const TileLayout &layout = k.layout;
  ElementBuilder e(k.b, k.loc, layout.vectorType());
  Type flags = VectorType::get({layout.lanes}, k.b.getI1Type());
  Value none = arith::ConstantOp::create(
      k.b, k.loc, cast<TypedAttr>(k.b.getZeroAttr(flags)));
  Value all = k.index(layout.normBlocks());
  auto isNear = [&](Value p, Value lane) {
    Value distance = k.loadVector(loop.distances->data,
                                  {k.add(loop.distances->begin, p), lane});
    Value square =
        loop.metric == Metric::L2 ? e.mul(distance, distance) : distance;
    Value norms = e.add(k.loadVector(loop.itemNorms, {all, lane}),
                        k.splat(k.load(loop.passing.norms, {all, p})));
    Value bound =
        e.max(e.mul(norms, e.constant(kNearShare)),
              e.constant(getTinySquares(layout.element.isF64()).square));
    // Padding has coefficients of 0, or none, and no say in this.
    Value coefficient = k.loadVector(loop.coefficients, {p, lane});
    Value counts = arith::CmpFOp::create(k.b, k.loc, arith::CmpFPredicate::ONE,
                                         coefficient, k.zeroVector());
    return e.logicalAnd(counts, e.less(square, bound));
  };
  Value found =
      k.carry(k.index(0), k.index(layout.itemLanes()), layout.lanes, {none},
              [&](Value lane, ValueRange any) {
                return k.carry(k.index(0), loop.passing.count, 1, any,
                               [&](Value p, ValueRange any) -> Values {
                                 return {arith::OrIOp::create(
                                     k.b, k.loc, any[0], isNear(p, lane))};
                               });
              })[0];
  return vector::ReductionOp::create(k.b, k.loc, vector::CombiningKind::OR,
                                     found);
}

void raytention::sumDifferences(KernelBuilder &k, const DifferenceLoop &loop) {
  if (!loop.distances)
    return sumNear(k, loop);
  k.ifElse(
      isAnyNear(k, loop), [&] { sumNear(k, loop); }, [&] { sumFar(k, loop); });
}
