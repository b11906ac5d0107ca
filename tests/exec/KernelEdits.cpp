//===- KernelEdits.cpp - edits of kernels on tiles in buffers -------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/RayTention.h"
#include "dialect/RayTile/RayTile.h"
#include "tests/exec/EditMeanings.h"
#include "tests/exec/StageEdits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace raytention;
using namespace raytention::test;

static constexpr int64_t kTile = EditProblem::kTile;

static Value makeIndex(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

template <typename Op> static SmallVector<Op> all(ModuleOp module) {
  SmallVector<Op> ops;
  module.walk([&](Op op) { ops.push_back(op); });
  return ops;
}

/// The ops on tiles that hold one of `Ops`.
template <typename... Ops>
static SmallVector<tile::ComputeOp> computing(ModuleOp module) {
  return llvm::filter_to_vector(
      all<tile::ComputeOp>(module),
      [](tile::ComputeOp op) { return isa<Ops...>(op.getOp()); });
}

//===----------------------------------------------------------------------===//
// What is read and written where
//===----------------------------------------------------------------------===//

/// Lets tiles that read an argument of a kernel, of floats of that shape, read
/// a part of it.
static void readPart(ModuleOp module, ArrayRef<int64_t> shape,
                     ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes) {
  for (auto op : all<tile::ComputeOp>(module))
    for (auto [number, buffer] : llvm::enumerate(op.getInputs())) {
      auto type = cast<MemRefType>(buffer.getType());
      if (!isa<BlockArgument>(buffer) || type.getShape() != shape ||
          !type.getElementType().isF32())
        continue;
      OpBuilder b(op);
      SmallVector<int64_t> strides(sizes.size(), 1);
      Value part = memref::SubViewOp::create(b, op.getLoc(), buffer, offsets,
                                             sizes, strides);
      op.getInputsMutable()[number].set(part);
      op.getBody().getArgument(number).setType(
          RankedTensorType::get(sizes, type.getElementType()));
    }
}

static void readLaterGammas(ModuleOp module) {
  readPart(module, {3}, {1}, {2});
}
static void readLaterRows(ModuleOp module) {
  readPart(module, {ShapedType::kDynamic, 8}, {6, 0}, {6, 8});
}

/// Changes where the views of an operand's buffer begin along one axis.
static void moveView(Value buffer, int64_t axis,
                     llvm::function_ref<Value(OpBuilder &, Value)> change) {
  auto view = buffer.getDefiningOp<memref::SubViewOp>();
  if (!view)
    return;
  OpBuilder b(view);
  auto offset = dyn_cast<Value>(view.getMixedOffsets()[axis]);
  assert(offset && "expected a view that moves");
  view.getOffsetsMutable()[axis].assign(change(b, offset));
}

static Value getOther(OpBuilder &b, Value entry) {
  Location loc = entry.getLoc();
  return arith::SubIOp::create(b, loc, makeIndex(b, loc, 1), entry);
}

static void swapResults(ModuleOp module) {
  for (auto op : computing<FinalizeOp>(module))
    for (Value buffer : op.getOutputs())
      moveView(buffer, 0, getOther);
}

static void swapIds(ModuleOp module) {
  for (auto view : all<memref::SubViewOp>(module))
    if (view.getSourceType().getElementType().isInteger(32) &&
        view.getSourceType().getRank() == 2)
      moveView(view, 0, getOther);
}

static void writePastTheEnd(ModuleOp module) {
  for (auto op : computing<FinalizeOp>(module))
    for (Value buffer : op.getOutputs())
      moveView(buffer, 1, [](OpBuilder &b, Value row) -> Value {
        Location loc = row.getLoc();
        return arith::AddIOp::create(b, loc, row, makeIndex(b, loc, 1000000));
      });
}

//===----------------------------------------------------------------------===//
// Ops on tiles
//===----------------------------------------------------------------------===//

/// Each writes the same twice.
static void repeatTiles(ModuleOp module) {
  for (auto op :
       computing<LookupOp, DistanceOp, InitOp, WeighOp, FinalizeOp>(module)) {
    OpBuilder b(op);
    b.clone(*op);
  }
}

static void repeatSweeps(ModuleOp module) {
  for (auto op : computing<ScoreSweepOp>(module)) {
    OpBuilder b(op);
    b.clone(*op);
  }
}

static void addTwice(ModuleOp module) {
  for (auto op : all<linalg::ContractOp>(module)) {
    OpBuilder b(op);
    b.clone(*op);
  }
}

static void fillWithOne(ModuleOp module) {
  for (auto op : all<linalg::FillOp>(module)) {
    OpBuilder b(op);
    op.getInputsMutable().assign(
        arith::ConstantOp::create(b, op.getLoc(), b.getF32FloatAttr(1)));
  }
}

/// Loop d3 (width) indexes the keys' rows, d4 (keys) their columns.
static void transposeKeys(ModuleOp module) {
  for (auto op : all<linalg::ContractOp>(module)) {
    auto maps = op.getIndexingMapsArray();
    SmallVector<AffineExpr> results(maps[1].getResults());
    std::swap(results[1], results[2]);
    maps[1] = AffineMap::get(5, 0, results, module.getContext());
    op.setIndexingMapsAttr(OpBuilder(op).getAffineMapArrayAttr(maps));
  }
}

/// Of the second sequence, no sums.
static void addForTheFirstSequence(ModuleOp module) {
  for (auto op : all<linalg::ContractOp>(module)) {
    OpBuilder b(op);
    Location loc = op.getLoc();
    // The last axis of the grid: one kernel has no axis for channels.
    bool isFused = all<gpu::LaunchFuncOp>(module).size() == 1;
    Value entry = gpu::BlockIdOp::create(
        b, loc, isFused ? gpu::Dimension::y : gpu::Dimension::z);
    Value holds = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, entry,
                                        makeIndex(b, loc, 0));
    auto branch = scf::IfOp::create(b, loc, holds);
    op->moveBefore(branch.thenBlock()->getTerminator());
  }
}

static void addBarriers(ModuleOp module) {
  for (auto op : all<tile::ComputeOp>(module)) {
    OpBuilder b(op);
    gpu::BarrierOp::create(b, op.getLoc());
  }
}

static void storeByEveryThread(ModuleOp module) {
  for (auto op : computing<FinalizeOp>(module)) {
    OpBuilder b(op->getBlock()->getTerminator());
    Location loc = op.getLoc();
    Value zero = makeIndex(b, loc, 0);
    Value number = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
    memref::StoreOp::create(b, loc, number, op.getOutputs()[0],
                            ValueRange{zero, zero, zero});
  }
}

//===----------------------------------------------------------------------===//
// Loops and launches
//===----------------------------------------------------------------------===//

static SmallVector<scf::ForOp> getChunks(ModuleOp module) {
  return llvm::filter_to_vector(all<scf::ForOp>(module), [](scf::ForOp loop) {
    return bool(loop->getParentOfType<gpu::GPUFuncOp>());
  });
}

static void reverseChunks(ModuleOp module) {
  for (scf::ForOp loop : getChunks(module)) {
    OpBuilder b = OpBuilder::atBlockBegin(loop.getBody());
    Location loc = loop.getLoc();
    Value step = loop.getStep(), first = loop.getInductionVar();
    Value count =
        arith::CeilDivSIOp::create(b, loc, loop.getUpperBound(), step);
    Value last = arith::SubIOp::create(b, loc, count, makeIndex(b, loc, 1));
    Value begin = arith::MulIOp::create(b, loc, last, step);
    auto other = arith::SubIOp::create(b, loc, begin, first);
    first.replaceAllUsesExcept(other, other);
  }
}

static void beginAtTheSecondChunk(ModuleOp module) {
  for (scf::ForOp loop : getChunks(module)) {
    OpBuilder b(loop);
    loop.setLowerBound(makeIndex(b, loop.getLoc(), kTile));
  }
}

/// Block i does what block n - 1 - i did.
static void reverseTiles(ModuleOp module) {
  for (auto id : all<gpu::BlockIdOp>(module)) {
    if (id.getDimension() != gpu::Dimension::x)
      continue;
    OpBuilder b(id->getContext());
    b.setInsertionPointAfter(id);
    Location loc = id.getLoc();
    Value count = gpu::GridDimOp::create(b, loc, gpu::Dimension::x);
    Value last = arith::SubIOp::create(b, loc, count, makeIndex(b, loc, 1));
    auto other = arith::SubIOp::create(b, loc, last, id);
    id.getResult().replaceAllUsesExcept(other, other);
  }
}

/// What the lengths of the two sequences differ by.
static void shiftByLaunches(ModuleOp module) {
  auto func = module.lookupSymbol<func::FuncOp>("attend");
  for (auto launch : all<gpu::LaunchFuncOp>(module)) {
    OpBuilder b(launch);
    Value seven = makeIndex(b, launch.getLoc(), 7);
    launch->replaceUsesOfWith(func.getArgument(5), seven);
  }
}

static void forgetTheLastLaunch(ModuleOp module) {
  all<gpu::LaunchFuncOp>(module).back().erase();
}

/// Buffers are freed before the last kernel reads them.
static void freeEarly(ModuleOp module) {
  gpu::LaunchFuncOp last = all<gpu::LaunchFuncOp>(module).back();
  for (auto op : all<memref::DeallocOp>(module))
    op->moveBefore(last);
}

/// Blocks of another size than the kernels say.
static void launchFewerThreads(ModuleOp module) {
  for (auto launch : all<gpu::LaunchFuncOp>(module)) {
    OpBuilder b(launch);
    launch.getBlockSizeXMutable().assign(makeIndex(b, launch.getLoc(), 64));
  }
}

std::vector<StageEdit> test::getKernelEdits() {
  const std::vector<std::string> some = {"centroid", "decay:backward:1",
                                         "top:1", "entropy"},
                                 two = {"centroid", "decay:backward:1"},
                                 one = {"centroid"};
  Outcome cpu = absent("kernels are a device's");
  const char *noLoop = "no loop over keys in this family";
  const char *oneKernel = "one kernel, and no buffer between several";
  std::vector<StageEdit> edits = {
      {"GammasReadLater", two, false, readLaterGammas, meansLaterGammas, cpu,
       computed(), computed()},
      typical({"TableReadLater",
               {"top:1"},
               false,
               readLaterRows,
               meansLaterRows,
               cpu,
               computed(),
               computed()}),
      {"IdsOfTheOtherSequence", some, false, swapIds, meansSwappedIds, cpu,
       computed(), computed()},
      {"ResultsOfTheOtherSequence", some, false, swapResults,
       meansSwappedSequences, cpu, computed(), computed()},
      {"ResultsPastTheEnd", one, false, writePastTheEnd, meansAnything, cpu,
       faults("out"), faults("out")},
      {"EachTileTwice", some, false, repeatTiles, meansTheSame, cpu, computed(),
       computed()},
      {"MaximaTwice",
       {"max_score", "top:1"},
       false,
       repeatSweeps,
       meansTheSame,
       cpu,
       computed(),
       computed()},
      {"SumsAreAddedTwice", one, false, addTwice, meansSumsTwice, cpu,
       computed(), computed()},
      typical({"SumsStartAtOne", one, false, fillWithOne, meansSumsFromOne, cpu,
               computed(), computed()}),
      {"KeysAreTransposed", one, true, transposeKeys, meansTransposedKeys, cpu,
       computed(), computed()},
      {"SumsInABranch", one, false, addForTheFirstSequence, meansSumsOfTheFirst,
       cpu, computed(), computed()},
      {"MoreBarriers", some, false, addBarriers, meansTheSame, cpu, computed(),
       computed()},
      {"AStoreByEveryThread", one, false, storeByEveryThread, meansAnything,
       cpu, refused("every thread"), refused("every thread")},
      {"ChunksReversed", some, false, reverseChunks, meansTheSame, cpu,
       computed(), absent(noLoop)},
      typical({"KeysFromTheSecondChunk",
               {"centroid", "top:1", "entropy"},
               false,
               beginAtTheSecondChunk,
               meansLaterKeys,
               cpu,
               computed(),
               absent(noLoop)}),
      {"TilesReversed", some, false, reverseTiles, meansTheSame, cpu,
       computed(), computed()},
      typical({"PositionsOfTheLaunch", one, false, shiftByLaunches,
               meansLaterPositions, cpu, computed(), computed()}),
      {"TheLastLaunchIsMissing", one, false, forgetTheLastLaunch, meansAnything,
       cpu, computed(), computed()},
      typical({"BuffersFreedEarly", one, false, freeEarly, meansAnything, cpu,
               absent(oneKernel), faults("freed")}),
      {"FewerThreadsThanAKernelSays", one, false, launchFewerThreads,
       meansAnything, cpu, refused("64"), refused("64")},
  };
  for (StageEdit &edit : edits)
    edit.stage = "kernels";
  return edits;
}
