//===- TileKernelsPass.cpp - each op in a parallel loop of its own -*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/RayTention.h"
#include "passes/Tile/Bounds.h"
#include "passes/Tile/ChunkRows.h"
#include "passes/Tile/Cleanup.h"
#include "passes/Tile/Passes.h"
#include "passes/Tile/ProducerFuser.h"
#include "passes/Tile/SequenceLength.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "llvm/ADT/TypeSwitch.h"

namespace raytention {
#define GEN_PASS_DEF_TILEKERNELSPASS
#include "passes/Tile/Passes.h.inc"
} // namespace raytention

using namespace mlir;
using namespace raytention;

namespace {

/// Sizes of the tiles along an op's loops; 0 leaves a loop whole.
using TileSizes = SmallVector<int64_t>;

struct Sizes {
  int64_t queryTile, keyChunk;
};

/// A product has one tile of rows and columns per entry of its other loops; its
/// sums are whole.
TileSizes getTileSizes(linalg::ContractOp op, const Sizes &sizes) {
  AffineMap out = op.getIndexingMapsArray().back();
  TileSizes tiles(out.getNumDims(), 0);
  int64_t rank = out.getNumResults();
  for (int64_t axis = 0; axis < rank; ++axis)
    tiles[out.getDimPosition(axis)] = axis == rank - 1   ? sizes.keyChunk
                                      : axis == rank - 2 ? sizes.queryTile
                                                         : 1;
  return tiles;
}

/// None for an op that needs no kernel of its own.
std::optional<TileSizes> getTileSizes(Operation *op, const Sizes &sizes) {
  using Result = std::optional<TileSizes>;
  int64_t rows = sizes.queryTile, keys = sizes.keyChunk;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<DistanceOp, WeighOp>([&](auto) -> Result {
        return TileSizes{1, rows, keys};
      })
      .Case([&](LookupOp) -> Result {
        return TileSizes{1, keys};
      })
      .Case<ScoreSweepOp, ReduceSweepOp>([&](auto) -> Result {
        return TileSizes{1, rows, 0};
      })
      .Case([&](FinalizeOp) -> Result {
        return TileSizes{1, rows};
      })
      .Case([&](linalg::ContractOp op) -> Result {
        return getTileSizes(op, sizes);
      })
      .Default([](Operation *) -> Result { return std::nullopt; });
}

/// What starts an accumulator belongs to the kernel that adds to it.
bool startsAccumulator(Operation *op) {
  return isa<InitOp, linalg::FillOp, tensor::EmptyOp>(op);
}

/// The loop's tiles cover what it writes: where no tile reads what stood there
/// before, an empty tensor will do.
void dropInitialValues(RewriterBase &rewriter, scf::ForallOp loop) {
  for (OpOperand &output : loop.getOutputsMutable()) {
    Operation *start = output.get().getDefiningOp();
    BlockArgument argument = loop.getTiedBlockArgument(&output);
    if (!isa_and_nonnull<InitOp>(start) ||
        !llvm::all_of(argument.getUsers(),
                      llvm::IsaPred<tensor::ParallelInsertSliceOp>))
      continue;
    rewriter.setInsertionPoint(loop);
    ReifiedRankedShapedTypeDims shapes;
    if (failed(reifyResultShapes(rewriter, start, shapes)))
      continue;
    output.set(tensor::EmptyOp::create(
        rewriter, loop.getLoc(),
        shapes[cast<OpResult>(output.get()).getResultNumber()],
        getElementTypeOrSelf(output.get().getType())));
  }
}

/// See hasNoElements(): nothing is read from there, and nothing is written.
void dropEmptySlices(RewriterBase &rewriter, func::FuncOp func) {
  func.walk([&](tensor::ExtractSliceOp op) {
    if (!hasNoElements(op.getType()))
      return;
    rewriter.setInsertionPoint(op);
    rewriter.replaceOpWithNewOp<tensor::EmptyOp>(op, op.getMixedSizes(),
                                                 op.getType().getElementType());
  });
  func.walk([&](tensor::InsertSliceOp op) {
    if (hasNoElements(op.getType()))
      rewriter.replaceOp(op, op.getDest());
  });
  func.walk([&](tensor::ParallelInsertSliceOp op) {
    if (!hasNoElements(op.getSourceType()))
      return;
    auto loop = op->getParentOfType<scf::ForallOp>();
    OpOperand *init = loop.getTiedOpOperand(cast<BlockArgument>(op.getDest()));
    rewriter.replaceAllUsesWith(loop.getTiedOpResult(init), init->get());
    rewriter.eraseOp(op);
  });
}

/// Where the weights stand that a product sums.
struct Weights {
  Value row, key, lengths;
  Attribute mask;
};

Weights getWeights(linalg::ContractOp op) {
  auto weigh = op.getInputs()[0].getDefiningOp<WeighOp>();
  if (!weigh)
    return {};
  return {weigh.getRow(), weigh.getKey(), weigh.getLengths(),
          weigh.getMaskAttr()};
}

/// One past the last key of a tile of weights that one of its rows sees.
Value buildSumEnd(OpBuilder &b, Location loc, const Weights &weights,
                  tensor::ExtractSliceOp tile) {
  auto value = [&](OpFoldResult size) {
    return getValueOrCreateConstantIndexOp(b, loc, size);
  };
  SmallVector<OpFoldResult> offsets = tile.getMixedOffsets(),
                            sizes = tile.getMixedSizes();
  Value row = value(addOffsets(b, loc, weights.row, offsets[2]));
  Value key = value(addOffsets(b, loc, weights.key, offsets[3]));
  Value all = arith::AddIOp::create(b, loc, key, value(sizes[3]));
  Value length =
      buildSequenceLength(b, loc, weights.lengths, value(offsets[0]), all);
  Value end =
      buildVisibleEnd(b, loc, weights.mask, row, value(sizes[2]), length);
  Value left = arith::SubIOp::create(b, loc, end, key);
  return arith::MaxSIOp::create(b, loc, left, value(b.getIndexAttr(0)));
}

/// Ends the sums of a tile of rows behind the last key that one of them sees:
/// further weights are 0, and a key that no row sees may be anything.
void endSums(RewriterBase &b, linalg::ContractOp op, const Weights &weights) {
  auto tile = op.getInputs()[0].getDefiningOp<tensor::ExtractSliceOp>();
  if (!weights.row || !tile || tile.getType().getRank() != 4)
    return;
  b.setInsertionPoint(op);
  Location loc = op.getLoc();
  Value end = buildSumEnd(b, loc, weights, tile);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineExpr key = maps[0].getResult(3);
  for (auto [number, map] : llvm::enumerate(ArrayRef(maps).take_front(2))) {
    OpOperand &input = op->getOpOperand(number);
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(b, loc, input.get());
    sizes[*map.getResultPosition(key)] = end;
    SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0)),
        strides(sizes.size(), b.getIndexAttr(1));
    input.set(tensor::ExtractSliceOp::create(b, loc, input.get(), offsets,
                                             sizes, strides));
  }
}

/// Makes of `op` a parallel loop, with what it adds to in it. The result is the
/// op on a tile.
FailureOr<Operation *> tile(RewriterBase &rewriter, Operation *op,
                            ArrayRef<int64_t> sizes) {
  auto tiled = dyn_cast<TilingInterface>(op);
  if (!tiled)
    return op->emitOpError() << "expected an op that can be tiled";
  scf::SCFTileAndFuseOptions options;
  options.tilingOptions.setLoopType(scf::SCFTilingOptions::LoopType::ForallOp);
  options.tilingOptions.setTileSizes(
      getAsIndexOpFoldResult(op->getContext(), sizes));
  using Control = std::optional<scf::SCFTileAndFuseOptions::ControlFnResult>;
  options.setFusionControlFn(
      [&](tensor::ExtractSliceOp, OpResult producer, bool) -> Control {
        if (!startsAccumulator(producer.getOwner()) ||
            hasNoElements(producer.getType()))
          return std::nullopt;
        return scf::SCFTileAndFuseOptions::ControlFnResult{};
      });
  rewriter.setInsertionPoint(op);
  FailureOr<scf::SCFTileAndFuseResult> done =
      scf::tileConsumerAndFuseProducersUsingSCF(rewriter, tiled, options);
  if (failed(done))
    return op->emitOpError() << "cannot be tiled";
  for (OpResult result : op->getResults())
    if (Value replacement = done->replacements.lookup(result))
      rewriter.replaceAllUsesWith(result, replacement);
  return done->tiledAndFusedOps.front();
}

struct TileKernelsPass
    : public raytention::impl::TileKernelsPassBase<TileKernelsPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    FailureOr<ScheduleAttr> schedule = getSchedule(func);
    if (failed(schedule))
      return signalPassFailure();
    if (schedule->getFamily() != Family::Stored)
      return;
    FailureOr<int64_t> chunk = chooseSize(func, "query-chunk", queryChunk,
                                          &ScheduleAttr::getQueryChunk);
    if (failed(chunk) || failed(chunkRows(func, *chunk)) ||
        failed(tileOps(func, *schedule)))
      return signalPassFailure();
  }

  LogicalResult tileOps(func::FuncOp func, ScheduleAttr schedule) {
    Sizes sizes{schedule.getQueryTile(), schedule.getKeyChunk()};
    // Of a loop that was there before, nobody knows that its tiles cover.
    llvm::DenseSet<Operation *> given;
    func.walk([&](scf::ForallOp loop) { given.insert(loop); });
    SmallVector<Operation *> ops;
    llvm::DenseMap<Operation *, Weights> products; // before weights have loops
    func.walk([&](linalg::ContractOp op) { products[op] = getWeights(op); });
    func.walk([&](Operation *op) {
      if (getTileSizes(op, sizes) && !op->getParentOfType<scf::ForallOp>())
        ops.push_back(op);
    });
    IRRewriter rewriter(func);
    for (Operation *op : ops) {
      auto product = dyn_cast<linalg::ContractOp>(op);
      Weights weights = product ? products.lookup(product) : Weights();
      FailureOr<Operation *> tiled =
          tile(rewriter, op, *getTileSizes(op, sizes));
      if (failed(tiled))
        return failure();
      if (product)
        endSums(rewriter, cast<linalg::ContractOp>(*tiled), weights);
      ++numKernels;
    }
    dropEmptySlices(rewriter, func);
    cleanUp(func);
    func.walk([&](scf::ForallOp loop) {
      if (!given.contains(loop))
        dropInitialValues(rewriter, loop);
    });
    cleanUp(func);
    return success();
  }
};

} // namespace
