//===- PlanEdits.cpp - edits of a generated plan --------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/exec/EditMeanings.h"
#include "tests/exec/StageEdits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace raytention;
using namespace raytention::test;

static constexpr int64_t kAny = ShapedType::kDynamic;

static Value makeIndex(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

/// The index operand `axis` of each load and store of a kernel's argument of
/// that shape, of floats or of integers, becomes `change(index)`; how many did.
static int
changeIndices(ModuleOp module, ArrayRef<int64_t> shape, bool isFloat,
              int64_t axis,
              llvm::function_ref<Value(OpBuilder &, Location, Value)> change) {
  int count = 0;
  module.walk([&](Operation *op) {
    if (!isa<memref::LoadOp, memref::StoreOp>(op))
      return;
    unsigned first = isa<memref::LoadOp>(op) ? 1 : 2;
    Value memref = op->getOperand(first - 1);
    auto argument = dyn_cast<BlockArgument>(memref);
    auto type = cast<MemRefType>(memref.getType());
    bool isOther = type.getShape() != shape ||
                   type.getElementType().isInteger() == isFloat;
    if (!argument || isOther ||
        !isa<gpu::GPUFuncOp>(argument.getOwner()->getParentOp()))
      return;
    OpBuilder b(op);
    OpOperand &index = op->getOpOperand(first + axis);
    index.set(change(b, op->getLoc(), index.get()));
    ++count;
  });
  return count;
}

static void addTo(ModuleOp module, ArrayRef<int64_t> shape, int64_t axis,
                  int64_t amount) {
  int count = changeIndices(
      module, shape, /*isFloat=*/true, axis,
      [&](OpBuilder &b, Location loc, Value index) -> Value {
        return arith::AddIOp::create(b, loc, index, makeIndex(b, loc, amount));
      });
  assert(count > 0);
  (void)count;
}

static void readLaterGammas(ModuleOp module) { addTo(module, {3}, 0, 1); }
static void readLaterRows(ModuleOp module) { addTo(module, {kAny, 8}, 0, 6); }
static void writePastTheEnd(ModuleOp module) {
  addTo(module, {kAny, kAny}, 1, 1000000);
}

/// Of a list whose signals are 25 wide, with a norm and one index.
static void swapSequences(ModuleOp module) {
  auto other = [](OpBuilder &b, Location loc, Value entry) -> Value {
    return arith::SubIOp::create(b, loc, makeIndex(b, loc, 1), entry);
  };
  changeIndices(module, {kAny, kAny, 25}, true, 0, other);
  changeIndices(module, {kAny, kAny}, true, 0, other);
  changeIndices(module, {kAny, kAny, 1}, false, 0, other);
}

static void launchTwice(ModuleOp module) {
  SmallVector<gpu::LaunchFuncOp> launches;
  module.walk([&](gpu::LaunchFuncOp op) { launches.push_back(op); });
  for (gpu::LaunchFuncOp launch : launches)
    OpBuilder(launch).clone(*launch);
}

/// Where the offset is 0, as it is.
static void launchInABranch(ModuleOp module) {
  SmallVector<gpu::LaunchFuncOp> launches;
  module.walk([&](gpu::LaunchFuncOp op) { launches.push_back(op); });
  for (gpu::LaunchFuncOp launch : launches) {
    OpBuilder b(launch);
    Location loc = launch.getLoc();
    auto func = launch->getParentOfType<func::FuncOp>();
    Value holds =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                              func.getArgument(5), makeIndex(b, loc, 0));
    auto branch = scf::IfOp::create(b, loc, holds);
    launch->moveBefore(branch.thenBlock()->getTerminator());
  }
}

/// Sums of four dimensions that a kernel sets to 0.
static void fillWithOne(ModuleOp module) {
  module.walk([](memref::StoreOp op) {
    if (op.getMemRefType().getRank() != 4 ||
        !matchPattern(op.getValue(), m_AnyZeroFloat()))
      return;
    OpBuilder b(op);
    op.getValueMutable().assign(
        arith::ConstantOp::create(b, op.getLoc(), b.getF32FloatAttr(1)));
  });
}

static void beginAtTheSecondChunk(ModuleOp module) {
  module.walk([](scf::ForOp loop) {
    APInt step;
    if (!loop->getParentOfType<gpu::GPUFuncOp>() ||
        !matchPattern(loop.getStep(), m_ConstantInt(&step)) ||
        step != EditProblem::kTile)
      return;
    OpBuilder b(loop);
    loop.setLowerBound(makeIndex(b, loop.getLoc(), EditProblem::kTile));
  });
}

static void dropBarriers(ModuleOp module) {
  module.walk([](gpu::BarrierOp op) { op.erase(); });
}

static void storeByEveryThread(ModuleOp module) {
  module.walk([](gpu::GPUFuncOp kernel) {
    for (BlockArgument argument : kernel.getArguments()) {
      auto type = dyn_cast<MemRefType>(argument.getType());
      if (!type || type.getShape() != ArrayRef<int64_t>{kAny, kAny})
        continue;
      OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
      Location loc = kernel.getLoc();
      Value zero = makeIndex(b, loc, 0);
      Value value = arith::ConstantOp::create(
          b, loc, b.getZeroAttr(type.getElementType()));
      if (type.getElementType().isF32())
        memref::StoreOp::create(b, loc, value, argument,
                                ValueRange{zero, zero});
    }
  });
}

/// Keywords of C++ and names of the prelude.
static void useOddNames(ModuleOp module) {
  const char *names[] = {"class", "template", "__global__", "rt",
                         "int",   "a b",      "main",       "threadIdx"};
  size_t next = 0;
  SmallVector<gpu::GPUFuncOp> kernels;
  module.walk([&](gpu::GPUFuncOp op) { kernels.push_back(op); });
  assert(kernels.size() <= std::size(names));
  for (gpu::GPUFuncOp kernel : kernels) {
    auto name =
        StringAttr::get(module.getContext(), names[next++ % std::size(names)]);
    (void)SymbolTable::replaceAllSymbolUses(kernel, name, module);
    SymbolTable::setSymbolName(kernel, name);
  }
}

static void readOnTheHost(ModuleOp module) {
  auto func = module.lookupSymbol<func::FuncOp>("attend");
  OpBuilder b = OpBuilder::atBlockBegin(&func.getBody().front());
  memref::LoadOp::create(b, func.getLoc(), func.getArgument(3), ValueRange());
}

std::vector<StageEdit> test::getPlanEdits() {
  const std::vector<std::string> some = {"centroid", "decay:backward:1",
                                         "top:1", "entropy"},
                                 two = {"centroid", "decay:backward:1"},
                                 one = {"centroid"};
  Outcome cpu = absent("a plan has kernels");
  std::vector<StageEdit> edits = {
      {"GammasReadLater", two, false, readLaterGammas, meansLaterGammas, cpu,
       computed(), computed()},
      {"TableReadLater",
       {"top:1"},
       false,
       readLaterRows,
       meansLaterRows,
       cpu,
       computed(),
       computed()},
      {"ResultsOfTheOtherSequence", some, false, swapSequences,
       meansSwappedSequences, cpu, computed(), computed()},
      {"ResultsPastTheEnd", one, false, writePastTheEnd, meansAnything, cpu,
       faults("out"), faults("out")},
      {"EachLaunchTwice", some, false, launchTwice, meansTheSame, cpu,
       computed(), computed()},
      {"LaunchesInABranch", one, false, launchInABranch, meansTheSame, cpu,
       computed(), computed()},
      {"SumsStartAtOne", one, false, fillWithOne, meansSumsFromOne, cpu,
       computed(), computed()},
      {"KeysFromTheSecondChunk",
       {"centroid", "top:1", "entropy"},
       false,
       beginAtTheSecondChunk,
       meansLaterKeys,
       cpu,
       computed(),
       absent("no loop over keys in this family")},
      {"NoBarriers", one, false, dropBarriers, meansAnything, cpu,
       faults("race"), faults("race")},
      {"AStoreByEveryThread", one, false, storeByEveryThread, meansAnything,
       cpu, faults("race"), faults("race")},
      {"OddNames", some, false, useOddNames, meansTheSame, cpu, computed(),
       computed()},
      {"AnElementReadOnTheHost", one, false, readOnTheHost, meansAnything, cpu,
       refused("'memref.load' op"), refused("'memref.load' op")},
  };
  for (StageEdit &edit : edits)
    edit.stage = "plan";
  return edits;
}
