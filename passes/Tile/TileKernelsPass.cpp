//===- TileKernelsPass.cpp - each op in a parallel loop of its own -*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/RayTention.h"
#include "passes/Tile/Passes.h"
#include "passes/Tile/ProducerFuser.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/RegionUtils.h"
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

/// States without fields are no results of loops: a slice cannot begin at the
/// end of what it cuts.
void dropEmptyResults(RewriterBase &rewriter, scf::ForallOp loop) {
  for (OpOperand &output : loop.getOutputsMutable()) {
    if (!hasNoElements(output.get().getType()))
      continue;
    BlockArgument argument = loop.getTiedBlockArgument(&output);
    for (Operation *user : llvm::make_early_inc_range(argument.getUsers()))
      if (isa<tensor::ParallelInsertSliceOp>(user))
        rewriter.eraseOp(user);
    rewriter.replaceAllUsesWith(argument, output.get());
    rewriter.replaceAllUsesWith(loop.getTiedOpResult(&output), output.get());
  }
}

/// Nor are slices of them taken.
void replaceEmptySlice(RewriterBase &rewriter, tensor::ExtractSliceOp slice) {
  RankedTensorType type = slice.getType();
  if (!hasNoElements(type))
    return;
  SmallVector<OpFoldResult> sizes;
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  for (auto [axis, size] : llvm::enumerate(slice.getMixedSizes()))
    if (!dropped.test(axis))
      sizes.push_back(size);
  rewriter.setInsertionPoint(slice);
  rewriter.replaceOpWithNewOp<tensor::EmptyOp>(slice, sizes,
                                               type.getElementType());
}

/// Tiles `op` by loops of `type`; fuses the producers that `fuses` names.
LogicalResult tile(RewriterBase &rewriter, Operation *op,
                   ArrayRef<int64_t> sizes,
                   scf::SCFTilingOptions::LoopType type,
                   llvm::function_ref<bool(Operation *)> fuses) {
  auto tiled = dyn_cast<TilingInterface>(op);
  if (!tiled)
    return op->emitOpError() << "expected an op that can be tiled";
  scf::SCFTileAndFuseOptions options;
  options.tilingOptions.setLoopType(type);
  options.tilingOptions.setTileSizes(
      getAsIndexOpFoldResult(op->getContext(), sizes));
  using Control = std::optional<scf::SCFTileAndFuseOptions::ControlFnResult>;
  options.setFusionControlFn(
      [&](tensor::ExtractSliceOp, OpResult producer, bool) -> Control {
        if (!fuses(producer.getOwner()) || hasNoElements(producer.getType()))
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
  return success();
}

struct TileKernelsPass
    : public raytention::impl::TileKernelsPassBase<TileKernelsPass> {
  using Base::Base;
  using LoopType = scf::SCFTilingOptions::LoopType;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    FailureOr<ScheduleAttr> schedule = getSchedule(func);
    if (failed(schedule))
      return signalPassFailure();
    if (schedule->getFamily() != Family::Stored)
      return;
    if (failed(tileRows(func)) || failed(tileOps(func, *schedule)))
      return signalPassFailure();
  }

  /// A loop over chunks of queries around everything but the keys.
  LogicalResult tileRows(func::FuncOp func) {
    if (queryChunk == 0)
      return success();
    SmallVector<FinalizeOp> finishes;
    func.walk([&](FinalizeOp op) { finishes.push_back(op); });
    IRRewriter rewriter(func);
    for (FinalizeOp finish : finishes)
      if (failed(tile(rewriter, finish, {0, queryChunk}, LoopType::ForOp,
                      [](Operation *op) { return !isa<LookupOp>(op); })))
        return failure();
    cleanUpOps(func);
    return success();
  }

  LogicalResult tileOps(func::FuncOp func, ScheduleAttr schedule) {
    Sizes sizes{schedule.getQueryTile(), schedule.getKeyChunk()};
    SmallVector<Operation *> ops;
    func.walk([&](Operation *op) {
      if (getTileSizes(op, sizes) && !op->getParentOfType<scf::ForallOp>())
        ops.push_back(op);
    });
    IRRewriter rewriter(func);
    for (Operation *op : ops) {
      if (failed(tile(rewriter, op, *getTileSizes(op, sizes),
                      LoopType::ForallOp, startsAccumulator)))
        return failure();
      ++numKernels;
    }
    cleanUpOps(func);
    func.walk([&](scf::ForallOp loop) { dropInitialValues(rewriter, loop); });
    dropEmptyTensors(func);
    cleanUpOps(func);
    return success();
  }

  static void dropEmptyTensors(func::FuncOp func) {
    IRRewriter rewriter(func.getContext());
    func.walk([&](scf::ForallOp loop) { dropEmptyResults(rewriter, loop); });
    func.walk([&](tensor::ExtractSliceOp slice) {
      replaceEmptySlice(rewriter, slice);
    });
    RewritePatternSet patterns(func.getContext());
    scf::ForallOp::getCanonicalizationPatterns(patterns, func.getContext());
    (void)applyPatternsGreedily(func, std::move(patterns));
  }

  /// Removes what lost its users, and what is there twice.
  static void cleanUpOps(func::FuncOp func) {
    IRRewriter rewriter(func.getContext());
    (void)simplifyRegions(rewriter, func->getRegions());
    DominanceInfo dominance(func);
    eliminateCommonSubExpressions(rewriter, dominance, func);
  }
};

} // namespace
