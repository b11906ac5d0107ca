//===- LoopEdits.cpp - loops, branches and functions ----------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/exec/EditMeanings.h"
#include "tests/exec/StageEditor.h"
#include "tests/exec/StageEdits.h"

using namespace mlir;
using namespace raytention;
using namespace raytention::test;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Outputs of sevens, of which the loop begins to write at row 8.
static void beginLaterOnSevens(ModuleOp module) {
  StageEditor edit(module);
  scf::ForallOp loop = edit.tilesOf(edit.only<FinalizeOp>());
  edit.b.setInsertionPoint(loop);
  for (OpOperand &output : loop.getOutputsMutable()) {
    Type element = getElementTypeOrSelf(output.get().getType());
    TypedAttr seven = isa<FloatType>(element)
                          ? TypedAttr(edit.b.getFloatAttr(element, 7))
                          : TypedAttr(edit.b.getIntegerAttr(element, 7));
    Value value = arith::ConstantOp::create(edit.b, edit.loc, seven);
    output.set(linalg::FillOp::create(edit.b, edit.loc, value, output.get())
                   .getResult(0));
  }
  loop.setStaticLowerBound({0, EditProblem::kTile});
}

/// Iteration i becomes iteration n - 1 - i.
static void reverse(StageEditor &edit, Value counter, Value end, Value step,
                    Block *body) {
  edit.b.setInsertionPointToStart(body);
  Value count = arith::CeilDivSIOp::create(edit.b, edit.loc, end, step);
  Value last = arith::SubIOp::create(edit.b, edit.loc, count, edit.index(1));
  Value begin = arith::MulIOp::create(edit.b, edit.loc, last, step);
  auto other = arith::SubIOp::create(edit.b, edit.loc, begin, counter);
  counter.replaceAllUsesExcept(other, other);
}

static void reverseTiles(ModuleOp module) {
  StageEditor edit(module);
  scf::ForallOp loop = edit.tilesOf(edit.only<FinalizeOp>());
  edit.b.setInsertionPoint(loop);
  reverse(edit, loop.getInductionVar(1), loop.getUpperBound(edit.b)[1],
          edit.index(EditProblem::kTile), loop.getBody());
}

static void reverseChunks(ModuleOp module) {
  StageEditor edit(module);
  for (auto loop : edit.all<scf::ForOp>())
    reverse(edit, loop.getInductionVar(), loop.getUpperBound(), loop.getStep(),
            loop.getBody());
}

static void beginAtTheSecondChunk(ModuleOp module) {
  StageEditor edit(module);
  Value chunk = edit.index(EditProblem::kTile);
  for (auto loop : edit.all<scf::ForOp>())
    loop.setLowerBound(chunk);
}

/// Tiles outside, entries inside.
static void exchangeLoops(ModuleOp module) {
  StageEditor edit(module);
  scf::ForallOp loop = edit.tilesOf(edit.only<FinalizeOp>());
  loop.getDynamicStepMutable().clear();
  loop.setStaticStep({EditProblem::kTile, 1});
  SmallVector<Value> ends(loop.getDynamicUpperBound());
  loop.getDynamicUpperBoundMutable().assign({ends[1], ends[0]});
  Value first = loop.getInductionVar(0), second = loop.getInductionVar(1);
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : first.getUses())
    uses.push_back(&use);
  second.replaceAllUsesWith(first);
  for (OpOperand *use : uses)
    use->set(second);
}

//===----------------------------------------------------------------------===//
// Branches and scalars
//===----------------------------------------------------------------------===//

/// `lengths[0] - lengths[1]`.
static void computeTheOffset(ModuleOp module) {
  StageEditor edit(module);
  auto load = [&](int64_t at) -> Value {
    Value element = tensor::ExtractOp::create(
        edit.b, edit.loc, edit.argument(StageEditor::Lengths),
        ValueRange{edit.index(at)});
    return arith::IndexCastOp::create(edit.b, edit.loc, edit.b.getIndexType(),
                                      element);
  };
  Value first = load(0), second = load(1);
  Value shift = arith::SubIOp::create(edit.b, edit.loc, first, second);
  edit.argument(StageEditor::Offset).replaceAllUsesWith(shift);
}

/// `offset == 0 ? value : other`.
static scf::IfOp branch(StageEditor &edit, TypeRange types, Value condition,
                        ValueRange values, ValueRange others) {
  return scf::IfOp::create(
      edit.b, edit.loc, condition,
      [&](OpBuilder &b, Location loc) { scf::YieldOp::create(b, loc, values); },
      [&](OpBuilder &b, Location loc) {
        scf::YieldOp::create(b, loc, others);
      });
}

static Value isZero(StageEditor &edit, Value value) {
  return arith::CmpIOp::create(edit.b, edit.loc, arith::CmpIPredicate::eq,
                               value, edit.index(0));
}

/// 7 where the offset is 0, as it is.
static void chooseTheOffset(ModuleOp module) {
  StageEditor edit(module);
  Value offset = edit.argument(StageEditor::Offset);
  Value holds = isZero(edit, offset), seven = edit.index(7);
  scf::IfOp chosen = branch(edit, edit.b.getIndexType(), holds, seven, offset);
  offset.replaceUsesWithIf(chosen.getResult(0), [&](OpOperand &use) {
    return use.getOwner() != holds.getDefiningOp() &&
           use.getOwner()->getParentOp() != chosen;
  });
}

/// The same in the tiles, for each position of a row.
static void chooseInTheTile(ModuleOp module) {
  StageEditor edit(module);
  Value offset = edit.argument(StageEditor::Offset);
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : offset.getUses())
    uses.push_back(&use);
  for (OpOperand *use : uses) {
    if (!use->getOwner()->getParentOfType<scf::ForallOp>())
      continue;
    edit.b.setInsertionPoint(use->getOwner());
    Value holds = isZero(edit, offset), seven = edit.index(7);
    use->set(
        branch(edit, edit.b.getIndexType(), holds, seven, offset).getResult(0));
  }
}

static void addForTheFirstSequence(ModuleOp module) {
  StageEditor edit(module);
  auto product = edit.only<linalg::ContractOp>();
  Value sums = product->getResult(0), before = product.getOutputs()[0];
  edit.b.setInsertionPoint(product);
  Value holds = isZero(edit, edit.tilesOf(product).getInductionVar(0));
  scf::IfOp chosen = branch(edit, sums.getType(), holds, sums, before);
  sums.replaceAllUsesExcept(chosen.getResult(0),
                            chosen.thenBlock()->getTerminator());
  product->moveBefore(chosen.thenBlock()->getTerminator());
}

/// All of the finish only where the offset is 0.
static void finishInABranch(ModuleOp module) {
  StageEditor edit(module);
  scf::ForallOp loop = edit.tilesOf(edit.only<FinalizeOp>());
  edit.b.setInsertionPoint(loop);
  Value holds = isZero(edit, edit.argument(StageEditor::Offset));
  SmallVector<Value> before(loop.getOutputs());
  scf::IfOp chosen =
      branch(edit, loop.getResultTypes(), holds, loop.getResults(), before);
  Operation *yield = chosen.thenBlock()->getTerminator();
  for (auto [result, other] : llvm::zip(loop.getResults(), chosen.getResults()))
    result.replaceAllUsesExcept(other, yield);
  loop->moveBefore(yield);
}

//===----------------------------------------------------------------------===//
// More than one
//===----------------------------------------------------------------------===//

/// The norm is that of a second loop.
static void finishTwice(ModuleOp module) {
  StageEditor edit(module);
  scf::ForallOp loop = edit.tilesOf(edit.only<FinalizeOp>());
  edit.b.setInsertionPointAfter(loop);
  Operation *second = edit.b.clone(*loop);
  loop.getResult(1).replaceAllUsesWith(second->getResult(1));
}

/// Each key is the one at the position that its id names.
static void lookUpAgain(ModuleOp module) {
  StageEditor edit(module);
  auto lookup = edit.only<LookupOp>();
  scf::ForallOp loop = edit.tilesOf(lookup);
  Value keys = loop.getResult(0);
  edit.b.setInsertionPointAfter(loop);
  auto again = LookupOp::create(edit.b, edit.loc, keys.getType(), keys,
                                edit.argument(StageEditor::Ids));
  keys.replaceAllUsesExcept(again.getRows(), again);
}

/// Functions that nobody calls, under names of the compiler and of C++.
static void addOddNames(ModuleOp module) {
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  for (const char *name : {"kernels", "attend_finalize", "class", "main",
                           "rt_device", "__global__", "a b"}) {
    auto func = func::FuncOp::create(b, module.getLoc(), name,
                                     b.getFunctionType({}, {}));
    b.setInsertionPointToStart(func.addEntryBlock());
    func::ReturnOp::create(b, module.getLoc());
    b.setInsertionPointToEnd(module.getBody());
  }
  auto outside = func::FuncOp::create(b, module.getLoc(), "outside",
                                      b.getFunctionType({}, {}));
  outside.setPrivate();
}

std::vector<StageEdit> test::getLoopEdits() {
  const std::vector<std::string> some = {"centroid", "decay:backward:1",
                                         "top:1", "entropy"},
                                 one = {"centroid"},
                                 two = {"centroid", "top:1"};
  const char *noLoop = "no loop over keys in this family";
  const char *inTile = "keys are read in the tile";
  return {
      {"OutputsOfSevensFromRow8", two, false, beginLaterOnSevens,
       meansSevensFirst, computed(), computed(), computed()},
      {"TilesReversed", some, false, reverseTiles, meansTheSame, computed(),
       computed(), computed()},
      {"ChunksReversed", some, false, reverseChunks, meansTheSame, computed(),
       computed(), absent(noLoop)},
      {"KeysFromTheSecondChunk",
       {"centroid", "top:1", "entropy"},
       false,
       beginAtTheSecondChunk,
       meansLaterKeys,
       computed(),
       computed(),
       absent(noLoop)},
      {"LoopsExchanged", two, false, exchangeLoops, meansTheSame,
       refused("expected at most 1 rows"), computed(), computed()},
      {"AnElementReadBefore", one, false, computeTheOffset, meansLaterPositions,
       computed(), refused("'memref.load' op"), refused("'memref.load' op")},
      {"AChoiceBefore", one, false, chooseTheOffset, meansLaterPositions,
       computed(), computed(), computed()},
      {"AChoiceInTheTile", one, false, chooseInTheTile, meansLaterPositions,
       computed(), computed(), computed()},
      {"SumsInABranch", one, false, addForTheFirstSequence, meansSumsOfTheFirst,
       computed(), computed(), refused("handed on by a branch")},
      {"AFinishInABranch", one, false, finishInABranch, meansTheSame,
       refused("'arith.select' op"), refused("a choice between two scalars"),
       refused("a choice between two scalars")},
      {"TwoFinishes", two, false, finishTwice, meansTheSame, computed(),
       computed(), computed()},
      {"KeysLookedUpAgain", one, false, lookUpAgain, meansIdsOfIds,
       absent(inTile), absent(inTile), computed()},
      {"OddNames", one, false, addOddNames, meansTheSame, computed(),
       computed(), computed()},
  };
}
