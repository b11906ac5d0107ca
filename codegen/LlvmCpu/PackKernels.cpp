//===- PackKernels.cpp - panels of queries and keys ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LlvmCpu/CpuKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace raytention;

using Values = KernelBuilder::Values;

/// Calls body(d, value vector) for whole panels, body(d, scalar) for the rest.
static void forEachElement(KernelBuilder &k, const RowPointer &row,
                           llvm::function_ref<void(Value, Value)> whole,
                           llvm::function_ref<void(int64_t, Value)> rest) {
  const TileLayout &layout = k.layout;
  int64_t end = layout.width / layout.panel * layout.panel;
  k.loop(k.index(0), k.index(end), layout.lanes,
         [&](Value d) { whole(d, k.loadVector(row.memref, row.at(k, d))); });
  for (int64_t d = end; d < layout.width; ++d)
    rest(d, k.widen(k.load(row.memref, row.at(k, k.index(d)))));
}

/// The sum of the squares of `panels` whole panels from column `begin` on.
static Value sumSquares(KernelBuilder &k, const RowPointer &row, Value begin,
                        int64_t panels) {
  const TileLayout &layout = k.layout;
  ElementBuilder v(k.b, k.loc, layout.vectorType());
  Values sums(layout.tileVectors, k.zeroVector());
  for (int64_t i = 0; i < panels * layout.tileVectors; ++i) {
    Value d = k.add(begin, i * layout.lanes);
    Value value = k.loadVector(row.memref, row.at(k, d));
    Value &sum = sums[i % layout.tileVectors];
    sum = v.fma(value, value, sum);
  }
  for (int64_t i = 1; i < layout.tileVectors; ++i)
    sums[0] = v.add(sums[0], sums[i]);
  return k.sumLanes(sums[0]);
}

/// The squared norms of a row's blocks and of all of it, at column `at`: the
/// same bits whatever form the row is packed in, so that a distance computed
/// again has the bits that it had.
static void storeNorms(KernelBuilder &k, const RowPointer &row, Value at,
                       Value norms) {
  if (!norms)
    return;
  const TileLayout &layout = k.layout;
  ElementBuilder e(k.b, k.loc, layout.element);
  int64_t whole = layout.width / layout.blockWidth();
  int64_t end = whole * layout.blockWidth();
  Value total = k.carry(k.index(0), k.index(whole), 1, {k.zero()},
                        [&](Value block, ValueRange sum) -> Values {
                          Value norm = sumSquares(
                              k, row, k.mul(block, layout.blockWidth()),
                              layout.blockPanels());
                          k.store(norm, norms, {block, at});
                          return {e.add(sum[0], norm)};
                        })[0];
  if (end < layout.width) {
    int64_t panels = (layout.width - end) / layout.panel;
    Value norm = sumSquares(k, row, k.index(end), panels);
    for (int64_t d = end + panels * layout.panel; d < layout.width; ++d) {
      Value value = k.widen(k.load(row.memref, row.at(k, k.index(d))));
      norm = e.fma(value, value, norm);
    }
    k.store(norm, norms, {k.index(whole), at});
    total = e.add(total, norm);
  }
  k.store(total, norms, {k.index(layout.normBlocks()), at});
}

/// One row into lane `lane` of lane panels, or its norms alone.
static void packLane(KernelBuilder &k, const RowPointer &row, Value lane,
                     const PackedLanes &packed) {
  const TileLayout &layout = k.layout;
  if (!packed.data)
    return storeNorms(k, row, lane, packed.norms);
  Value panel = k.div(lane, layout.panel), in = k.rem(lane, layout.panel);
  k.loop(k.index(0), k.index(layout.width), 1, [&](Value d) {
    Value value = k.widen(k.load(row.memref, row.at(k, d)));
    k.store(value, packed.data, {panel, d, in});
  });
  for (int64_t d = layout.width; d < layout.paddedWidth(); ++d)
    k.store(k.zero(), packed.data, {panel, k.index(d), in});
  storeNorms(k, row, lane, packed.norms);
}

/// One row as row `at` of row panels.
static void packRow(KernelBuilder &k, const RowPointer &row, Value at,
                    const PackedRows &packed) {
  const TileLayout &layout = k.layout;
  forEachElement(
      k, row,
      [&](Value d, Value value) {
        k.storeVector(value, packed.data,
                      {k.div(d, layout.panel), at, k.rem(d, layout.panel)});
      },
      [&](int64_t d, Value value) {
        k.store(value, packed.data,
                {k.index(d / layout.panel), at, k.index(d % layout.panel)});
      });
  for (int64_t d = layout.width; d < layout.paddedWidth(); ++d)
    k.store(k.zero(), packed.data,
            {k.index(d / layout.panel), at, k.index(d % layout.panel)});
  storeNorms(k, row, at, packed.norms);
}

/// Row `row` of a slice of queries.
static RowPointer pointTo(KernelBuilder &k, const ArgumentView &queries,
                          Value row) {
  return {
      queries.memref,
      {queries.offsets[0], k.add(queries.offsets[1], row), queries.offsets[2]}};
}

/// The table row of the id at `position`.
static RowPointer pointTo(KernelBuilder &k, const KeySource &keys,
                          Value position) {
  Value id = k.toIndex(
      k.load(keys.ids.memref,
             {keys.ids.offsets[0], k.add(keys.ids.offsets[1], position)}));
  return {keys.table.memref,
          {k.add(keys.table.offsets[0], id), keys.table.offsets[1]}};
}

/// Fills all lanes; those beyond `count` repeat the last item.
template <typename Source>
static void packLanes(KernelBuilder &k, const Source &source, Value count,
                      const PackedLanes &packed) {
  Value last = k.add(count, -1);
  k.loop(k.index(0), k.index(k.layout.itemLanes()), 1, [&](Value lane) {
    packLane(k, pointTo(k, source, k.min(lane, last)), lane, packed);
  });
}

template <typename Source>
static void packRows(KernelBuilder &k, const Source &source,
                     const PackedRows &packed) {
  k.loop(k.index(0), packed.count, 1,
         [&](Value row) { packRow(k, pointTo(k, source, row), row, packed); });
}

void raytention::packQueryLanes(KernelBuilder &k, const ArgumentView &queries,
                                Value rows, const PackedLanes &packed) {
  packLanes(k, queries, rows, packed);
}
void raytention::packQueryRows(KernelBuilder &k, const ArgumentView &queries,
                               const PackedRows &packed) {
  packRows(k, queries, packed);
}
void raytention::gatherKeyLanes(KernelBuilder &k, const KeySource &keys,
                                Value count, const PackedLanes &packed) {
  packLanes(k, keys, count, packed);
}
void raytention::gatherKeyRows(KernelBuilder &k, const KeySource &keys,
                               const PackedRows &packed) {
  packRows(k, keys, packed);
}
