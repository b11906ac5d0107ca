//===- PackKernels.cpp - panels of queries and keys ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LlvmCpu/CpuKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace raytention;

using Values = KernelBuilder::Values;

void raytention::packQueries(KernelBuilder &k, const ArgumentView &queries,
                             Value rows, const PackedQueries &packed) {
  const TileLayout &layout = k.layout;
  Value zero = k.index(0), width = k.index(layout.width);
  Value last = k.add(rows, -1);
  ElementBuilder e(k.b, k.loc, layout.element);
  k.loop(zero, k.index(layout.queryLanes()), 1, [&](Value lane) {
    Value panel =
        arith::DivUIOp::create(k.b, k.loc, lane, k.index(layout.panel));
    Value inPanel =
        arith::RemUIOp::create(k.b, k.loc, lane, k.index(layout.panel));
    Value row = k.add(queries.offsets[1], k.min(lane, last));
    Values norm = k.carry(
        zero, width, 1, {k.zero()}, [&](Value d, ValueRange sum) -> Values {
          Value value =
              k.widen(k.load(queries.memref, {queries.offsets[0], row,
                                              k.add(queries.offsets[2], d)}));
          k.store(value, packed.data, {panel, d, inPanel});
          return {e.fma(value, value, sum[0])};
        });
    for (int64_t d = layout.width; d < layout.paddedWidth(); ++d)
      k.store(k.zero(), packed.data, {panel, k.index(d), inPanel});
    k.store(norm[0], packed.norms, {lane});
  });
}

/// One key's row into column `row` of all panels; its squared norm.
static Value gatherRow(KernelBuilder &k, Value table, Value id, Value row,
                       const PackedKeys &keys) {
  const TileLayout &layout = k.layout;
  ElementBuilder v(k.b, k.loc, layout.vectorType());
  ElementBuilder e(k.b, k.loc, layout.element);
  int64_t whole = layout.width / layout.panel;
  Values sums(layout.tileVectors, k.zeroVector());
  sums = k.carry(
      k.index(0), k.index(whole), 1, sums, [&](Value panel, ValueRange acc) {
        Values next;
        for (int64_t i = 0; i < layout.tileVectors; ++i) {
          Value d = k.add(k.mul(panel, layout.panel), i * layout.lanes);
          Value value = k.loadVector(table, {id, d});
          k.storeVector(value, keys.data,
                        {panel, row, k.index(i * layout.lanes)});
          next.push_back(v.fma(value, value, acc[i]));
        }
        return next;
      });
  for (int64_t i = 1; i < layout.tileVectors; ++i)
    sums[0] = v.add(sums[0], sums[i]);
  Value norm = vector::ReductionOp::create(k.b, k.loc,
                                           vector::CombiningKind::ADD, sums[0]);
  for (int64_t d = whole * layout.panel; d < layout.paddedWidth(); ++d) {
    Value value = k.zero();
    if (d < layout.width) {
      value = k.widen(k.load(table, {id, k.index(d)}));
      norm = e.fma(value, value, norm);
    }
    k.store(value, keys.data,
            {k.index(d / layout.panel), row, k.index(d % layout.panel)});
  }
  return norm;
}

void raytention::gatherKeys(KernelBuilder &k, Value table,
                            const ArgumentView &ids, const PackedKeys &keys) {
  k.loop(k.index(0), keys.count, 1, [&](Value row) {
    Value id = k.toIndex(
        k.load(ids.memref, {ids.offsets[0], k.add(ids.offsets[1], row)}));
    k.store(gatherRow(k, table, id, row, keys), keys.norms, {row});
  });
}
