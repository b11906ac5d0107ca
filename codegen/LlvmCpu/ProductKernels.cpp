//===- ProductKernels.cpp - register-tiled matrix products ------*- C++ -*-===//
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

namespace {

/// One step of a register tile: acc[i][v] += left(i) * right(v), with
/// `combine`, of these three, i and v, in place of the multiply-add.
struct TileStep {
  KernelBuilder &k;
  llvm::function_ref<Value(Value, Value, Value, int64_t, int64_t)> combine;

  Values operator()(llvm::function_ref<Value(int64_t)> left,
                    llvm::function_ref<Value(int64_t)> right,
                    ValueRange acc) const {
    const TileLayout &layout = k.layout;
    Values columns, next;
    for (int64_t v = 0; v < layout.tileVectors; ++v)
      columns.push_back(right(v));
    for (int64_t i = 0; i < layout.tileRows; ++i) {
      Value scalar = k.splat(left(i));
      for (int64_t v = 0; v < layout.tileVectors; ++v)
        next.push_back(
            combine(scalar, columns[v], acc[i * layout.tileVectors + v], i, v));
    }
    return next;
  }
};

} // namespace

static Values zeroTile(KernelBuilder &k) {
  return Values(k.layout.tileRows * k.layout.tileVectors, k.zeroVector());
}

/// Panels of items: a stack has those of all its channels.
static int64_t getNumPanels(const PackedLanes &lanes) {
  return cast<MemRefType>(lanes.data.getType()).getDimSize(0);
}

/// Partial sums over more than this many terms are added to memory instead of
/// being carried on: it bounds rounding and keeps panels in the first cache.
constexpr int64_t kProductDepth = 256;

namespace {
/// What a product of panels makes of one more run of the width: `value`, of the
/// vector of lanes at `lane` and a row, becomes what is stored.
using FinishRun = llvm::function_ref<Value(Value value, Value row, Value lane)>;
} // namespace

/// The product over width panels [begin, end), finished, into or onto `out`.
static void runProduct(KernelBuilder &k, const PackedLanes &lanes,
                       const PackedRows &rows, Precision precision, Value begin,
                       Value end, bool onto, FinishRun finish,
                       const ScoreView &out) {
  const TileLayout &layout = k.layout;
  ElementBuilder e(k.b, k.loc, layout.vectorType());
  auto combine = [&](Value a, Value c, Value acc, int64_t, int64_t) -> Value {
    if (precision == Precision::Fast)
      return e.fma(a, c, acc);
    Value difference = e.sub(a, c);
    return e.fma(difference, difference, acc);
  };
  TileStep step{k, combine};
  Value zero = k.index(0);
  auto tile = [&](Value row, Value lanePanel) {
    Values acc =
        k.carry(begin, end, 1, zeroTile(k), [&](Value p, ValueRange a) {
          return k.carry(
              zero, k.index(layout.panel), 1, a, [&](Value d, ValueRange a) {
                auto left = [&](int64_t i) {
                  return k.load(rows.data, {p, k.add(row, i), d});
                };
                auto right = [&](int64_t v) {
                  return k.loadVector(
                      lanes.data, {lanePanel, k.add(k.mul(p, layout.panel), d),
                                   k.index(v * layout.lanes)});
                };
                return step(left, right, a);
              });
        });
    for (int64_t i = 0; i < layout.tileRows; ++i)
      for (int64_t v = 0; v < layout.tileVectors; ++v) {
        Value at = k.add(row, i);
        Value lane = k.add(k.mul(lanePanel, layout.panel), v * layout.lanes);
        Value value = finish(acc[i * layout.tileVectors + v], at, lane);
        Values place = {k.add(out.begin, at), lane};
        if (onto)
          value = e.add(value, k.loadVector(out.data, place));
        k.storeVector(value, out.data, place);
      }
  };
  k.loop(zero, rows.count, layout.tileRows, [&](Value row) {
    k.loop(zero, k.index(getNumPanels(lanes)), 1,
           [&](Value lanePanel) { tile(row, lanePanel); });
  });
}

/// ||unit (q - k)||^2 by differences, for one row and the vector of lanes at
/// `panel`.
static Value differenceNorm(KernelBuilder &k, const PackedLanes &lanes,
                            const PackedRows &rows, Value row, Value panel,
                            Value inPanel, double unit) {
  const TileLayout &layout = k.layout;
  ElementBuilder e(k.b, k.loc, layout.vectorType());
  Value zero = k.index(0);
  return k.carry(
      zero, k.index(layout.widthPanels()), 1, {k.zeroVector()},
      [&](Value p, ValueRange a) {
        return k.carry(
            zero, k.index(layout.panel), 1, a,
            [&](Value d, ValueRange a) -> Values {
              Value passing = k.splat(k.load(rows.data, {p, row, d}));
              Value item = k.loadVector(
                  lanes.data,
                  {panel, k.add(k.mul(p, layout.panel), d), inPanel});
              Value difference = e.sub(item, passing);
              if (unit != 1)
                difference = e.mul(difference, e.constant(unit));
              return {e.fma(difference, difference, a[0])};
            });
      })[0];
}

static Value isAny(KernelBuilder &k, Value flags) {
  return vector::ReductionOp::create(k.b, k.loc, vector::CombiningKind::OR,
                                     flags);
}

namespace {
/// A row against the vector of lanes at `lane`.
struct PairVector {
  const PackedLanes &lanes;
  const PackedRows &rows;
  Value row;
  int64_t lane;

  Value differenceNorm(KernelBuilder &k, double unit) const {
    int64_t panel = k.layout.panel;
    return ::differenceNorm(k, lanes, rows, row, k.index(lane / panel),
                            k.index(lane % panel), unit);
  }
};
} // namespace

/// The root of a squared distance, which was expanded if there are `norms`. An
/// expansion loses the digits that a root then magnifies, so squares that are
/// small beside the norms are computed again.
static Value takeRoot(KernelBuilder &k, const PairVector &pair, Value square,
                      Value norms) {
  ElementBuilder e(k.b, k.loc, k.layout.vectorType());
  TinySquares tiny = getTinySquares(k.layout.element.isF64());
  Value bound = e.constant(tiny.square);
  if (norms)
    bound = e.max(bound, e.mul(norms, e.constant(kNearShare)));
  Value close = e.less(square, bound);
  return k.ifElseValue(
      isAny(k, close), square.getType(),
      [&]() -> Value {
        Value exact =
            norms ? e.select(close, pair.differenceNorm(k, 1), square) : square;
        Value isTiny = e.less(exact, e.constant(tiny.square));
        return k.ifElseValue(
            isAny(k, isTiny), square.getType(),
            [&]() -> Value {
              Value scaled = e.sqrt(pair.differenceNorm(k, tiny.unit));
              scaled = e.mul(scaled, e.constant(1 / tiny.unit));
              return e.select(isTiny, scaled, e.sqrt(exact));
            },
            [&] { return e.sqrt(exact); });
      },
      [&] { return e.sqrt(square); });
}

/// From the squared distance, by expansion or exact, to that of the metric.
static void finishDistances(KernelBuilder &k, const PackedLanes &lanes,
                            const PackedRows &rows, Metric metric,
                            Precision precision, const ScoreView &distances) {
  const TileLayout &layout = k.layout;
  ElementBuilder e(k.b, k.loc, layout.vectorType());
  bool fast = precision == Precision::Fast;
  if (!fast && metric == Metric::SqL2)
    return;
  auto finish = [&](Value row, int64_t lane) {
    Values at = {k.add(distances.begin, row), k.index(lane)};
    Value value = k.loadVector(distances.data, at);
    Value norms;
    if (fast)
      value = e.max(value, e.constant(0));
    if (fast && metric == Metric::L2) {
      Value all = k.index(layout.normBlocks());
      Value rowNorm = k.splat(k.load(rows.norms, {all, row}));
      norms = e.add(k.loadVector(lanes.norms, {all, k.index(lane)}), rowNorm);
    }
    if (metric == Metric::L2)
      value = takeRoot(k, {lanes, rows, row, lane}, value, norms);
    k.storeVector(value, distances.data, at);
  };
  k.loop(k.index(0), rows.count, 1, [&](Value row) {
    for (int64_t lane = 0; lane < layout.itemLanes(); lane += layout.lanes)
      finish(row, lane);
  });
}

/// out = 0 for every row of a register tile.
static void clearScores(KernelBuilder &k, const PackedRows &rows,
                        const PackedLanes &lanes, const ScoreView &out) {
  Value end =
      k.mul(k.ceilDiv(rows.count, k.layout.tileRows), k.layout.tileRows);
  int64_t columns = getNumPanels(lanes) * k.layout.panel;
  k.loop(k.index(0), end, 1, [&](Value row) {
    k.loop(k.index(0), k.index(columns), k.layout.lanes, [&](Value lane) {
      k.storeVector(k.zeroVector(), out.data, {k.add(out.begin, row), lane});
    });
  });
}

/// Adds up body(begin, end, onto) over runs of `depth` panels of [begin, end).
/// One run writes, several add: one body serves all, which halves the code.
static void sumRuns(KernelBuilder &k, Value begin, Value end, int64_t depth,
                    bool isOne, llvm::function_ref<void()> clear,
                    llvm::function_ref<void(Value, Value, bool)> body) {
  if (isOne)
    return body(begin, end, /*onto=*/false);
  clear();
  k.loop(begin, end, depth, [&](Value next) {
    body(next, k.min(k.add(next, depth), end), /*onto=*/true);
  });
}

/// Squared distances over the panels [begin, end), block by block: each block's
/// norms less twice its product, or its differences squared.
static void sumBlocks(KernelBuilder &k, const PackedLanes &lanes,
                      const PackedRows &rows, Precision precision, Value begin,
                      Value end, const ScoreView &out) {
  const TileLayout &layout = k.layout;
  ElementBuilder e(k.b, k.loc, layout.vectorType());
  sumRuns(
      k, begin, end, layout.blockPanels(), layout.normBlocks() == 1,
      [&] { clearScores(k, rows, lanes, out); },
      [&](Value begin, Value end, bool onto) {
        Value block = k.div(begin, layout.blockPanels());
        auto finish = [&](Value value, Value row, Value lane) -> Value {
          if (precision == Precision::Exact)
            return value;
          Value rowNorm = k.splat(k.load(rows.norms, {block, row}));
          Value norms =
              e.add(k.loadVector(lanes.norms, {block, lane}), rowNorm);
          return e.fma(value, e.constant(-2), norms);
        };
        runProduct(k, lanes, rows, precision, begin, end, onto, finish, out);
      });
}

/// sums += part, for every row present.
static void addScores(KernelBuilder &k, Value count, const ScoreView &part,
                      const ScoreView &sums) {
  ElementBuilder e(k.b, k.loc, k.layout.vectorType());
  k.loop(k.index(0), count, 1, [&](Value row) {
    for (int64_t lane = 0; lane < k.layout.itemLanes();
         lane += k.layout.lanes) {
      Values at = {k.add(sums.begin, row), k.index(lane)};
      Value value =
          k.loadVector(part.data, {k.add(part.begin, row), k.index(lane)});
      k.storeVector(e.add(value, k.loadVector(sums.data, at)), sums.data, at);
    }
  });
}

void raytention::computeDistances(KernelBuilder &k, const PackedLanes &lanes,
                                  const PackedRows &rows, Metric metric,
                                  Precision precision,
                                  const ScoreView &distances,
                                  std::optional<ScoreView> part) {
  Value zero = k.index(0), panels = k.index(k.layout.widthPanels());
  if (!part) {
    sumBlocks(k, lanes, rows, precision, zero, panels, distances);
  } else {
    clearScores(k, rows, lanes, distances);
    int64_t depth = k.layout.blocksPerPart() * k.layout.blockPanels();
    k.loop(zero, panels, depth, [&](Value begin) {
      Value end = k.min(k.add(begin, depth), panels);
      sumBlocks(k, lanes, rows, precision, begin, end, *part);
      addScores(k, rows.count, *part, distances);
    });
  }
  finishDistances(k, lanes, rows, metric, precision, distances);
}

void raytention::computeProducts(KernelBuilder &k, const PackedLanes &lanes,
                                 const PackedRows &rows,
                                 const ScoreView &products) {
  int64_t depth = std::max<int64_t>(1, kProductDepth / k.layout.panel);
  auto keep = [](Value value, Value, Value) { return value; };
  sumRuns(
      k, k.index(0), k.index(k.layout.widthPanels()), depth,
      k.layout.widthPanels() <= depth,
      [&] { clearScores(k, rows, lanes, products); },
      [&](Value begin, Value end, bool onto) {
        runProduct(k, lanes, rows, Precision::Fast, begin, end, onto, keep,
                   products);
      });
}

void raytention::accumulateSums(KernelBuilder &k, int64_t sumRows,
                                Value weights, const PackedRows &rows,
                                const PartView &sums, SumRule term) {
  const TileLayout &layout = k.layout;
  ElementBuilder e(k.b, k.loc, layout.vectorType());
  Value zero = k.index(0);
  auto tile = [&](Value row, Value panel) {
    auto place = [&](int64_t i, int64_t v) {
      return SumPlace{panel, k.add(row, i), k.index(v * layout.lanes)};
    };
    auto combine = [&](Value a, Value c, Value acc, int64_t i, int64_t v) {
      return e.fma(a, term ? term(c, place(i, v)) : c, acc);
    };
    TileStep step{k, combine};
    Values acc =
        k.carry(zero, rows.count, 1, zeroTile(k), [&](Value key, ValueRange a) {
          auto left = [&](int64_t i) {
            return k.load(weights, {key, k.add(row, i)});
          };
          auto right = [&](int64_t v) {
            return k.loadVector(rows.data,
                                {panel, key, k.index(v * layout.lanes)});
          };
          return step(left, right, a);
        });
    for (int64_t i = 0; i < layout.tileRows; ++i)
      for (int64_t v = 0; v < layout.tileVectors; ++v) {
        SumPlace at = place(i, v);
        Value sum = acc[i * layout.tileVectors + v];
        Values indices = {sums.part, at.panel, at.row, at.column};
        Value old = k.loadVector(sums.data, indices);
        k.storeVector(e.add(old, sum), sums.data, indices);
      }
  };
  k.loop(zero, k.index(sumRows), layout.tileRows, [&](Value row) {
    k.loop(zero, k.index(layout.widthPanels()), 1,
           [&](Value panel) { tile(row, panel); });
  });
}
