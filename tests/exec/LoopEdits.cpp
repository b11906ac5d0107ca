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

/// What a loop starts from becomes sevens.
static void startFromSevens(StageEditor &edit, Operation *loop,
                            MutableOperandRange starts) {
  edit.b.setInsertionPoint(loop);
  for (OpOperand &start : starts) {
    Type element = getElementTypeOrSelf(start.get().getType());
    TypedAttr seven = isa<FloatType>(element)
                          ? TypedAttr(edit.b.getFloatAttr(element, 7))
                          : TypedAttr(edit.b.getIntegerAttr(element, 7));
    Value value = arith::ConstantOp::create(edit.b, edit.loc, seven);
    start.set(linalg::FillOp::create(edit.b, edit.loc, value, start.get())
                  .getResult(0));
  }
}

/// Outputs of sevens, of which the loop begins to write at row 8.
static void beginLaterOnSevens(ModuleOp module) {
  StageEditor edit(module);
  scf::ForallOp loop = edit.tilesOf(edit.only<FinalizeOp>());
  startFromSevens(edit, loop, loop.getOutputsMutable());
  loop.setStaticLowerBound({0, EditProblem::kTile});
}

static void reverseTiles(ModuleOp module) {
  StageEditor edit(module);
  scf::ForallOp loop = edit.tilesOf(edit.only<FinalizeOp>());
  edit.b.setInsertionPoint(loop);
  edit.reverse(loop.getInductionVar(1), loop.getUpperBound(edit.b)[1],
               edit.index(EditProblem::kTile), loop.getBody());
}

static void reverseChunks(ModuleOp module) {
  StageEditor edit(module);
  for (auto loop : edit.all<scf::ForOp>())
    edit.reverse(loop.getInductionVar(), loop.getUpperBound(), loop.getStep(),
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

static void computeTheOffset(ModuleOp module) {
  StageEditor(module).computeTheOffset();
}

/// 7 where the offset is 0, as it is.
static void chooseTheOffset(ModuleOp module) {
  StageEditor edit(module);
  Value offset = edit.argument(StageEditor::Offset);
  Value holds = edit.isZero(offset), seven = edit.index(7);
  scf::IfOp chosen = edit.branch(holds, seven, offset);
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
    Value holds = edit.isZero(offset), seven = edit.index(7);
    use->set(edit.branch(holds, seven, offset).getResult(0));
  }
}

static void addWhere(StageEditor &edit, linalg::ContractOp product,
                     Value holds) {
  Value sums = product->getResult(0), before = product.getOutputs()[0];
  scf::IfOp chosen = edit.branch(holds, sums, before);
  sums.replaceAllUsesExcept(chosen.getResult(0),
                            chosen.thenBlock()->getTerminator());
  product->moveBefore(chosen.thenBlock()->getTerminator());
}

/// Where the offset is 0, as it is.
static void addInABranch(ModuleOp module) {
  StageEditor edit(module);
  auto product = edit.only<linalg::ContractOp>();
  edit.b.setInsertionPoint(product);
  addWhere(edit, product, edit.isZero(edit.argument(StageEditor::Offset)));
}

/// One buffer, written in either branch.
static void addInBothBranches(ModuleOp module) {
  StageEditor edit(module);
  auto product = edit.only<linalg::ContractOp>();
  edit.b.setInsertionPoint(product);
  Value holds = edit.isZero(edit.argument(StageEditor::Offset));
  Value sums = product->getResult(0);
  scf::IfOp chosen = edit.branch(holds, sums, sums);
  for (Block *block : {chosen.elseBlock(), chosen.thenBlock()}) {
    edit.b.setInsertionPointToStart(block);
    block->getTerminator()->setOperand(0, edit.b.clone(*product)->getResult(0));
  }
  sums.replaceAllUsesWith(chosen.getResult(0));
  product->erase();
}

static void addForTheFirstSequence(ModuleOp module) {
  StageEditor edit(module);
  auto product = edit.only<linalg::ContractOp>();
  edit.b.setInsertionPoint(product);
  addWhere(edit, product,
           edit.isZero(edit.tilesOf(product).getInductionVar(0)));
}

/// All of the finish only where an index is 0.
static void finishWhereZero(StageEditor &edit, Value index) {
  auto finish = edit.only<FinalizeOp>();
  scf::ForallOp loop = edit.tilesOf(finish);
  Operation *whole = edit.nestOf(finish);
  edit.b.setInsertionPoint(whole);
  Value holds = edit.isZero(index);
  SmallVector<Value> before = {finish.getSignalsIn(), finish.getNormIn(),
                               finish.getIndicesIn()};
  if (loop)
    before.assign(loop.getOutputs().begin(), loop.getOutputs().end());
  scf::IfOp chosen = edit.branch(holds, whole->getResults(), before);
  Operation *yield = chosen.thenBlock()->getTerminator();
  for (auto [result, other] :
       llvm::zip(whole->getResults(), chosen.getResults()))
    result.replaceAllUsesExcept(other, yield);
  whole->moveBefore(yield);
}

/// The offset is 0.
static void finishInABranch(ModuleOp module) {
  StageEditor edit(module);
  finishWhereZero(edit, edit.argument(StageEditor::Offset));
}

/// Of the first chunk of rows, on outputs of sevens.
static void finishTheFirstChunk(ModuleOp module) {
  StageEditor edit(module);
  auto chunks =
      edit.tilesOf(edit.only<FinalizeOp>())->getParentOfType<scf::ForOp>();
  startFromSevens(edit, chunks, chunks.getInitArgsMutable());
  finishWhereZero(edit, chunks.getInductionVar());
}

//===----------------------------------------------------------------------===//
// More than one
//===----------------------------------------------------------------------===//

/// The norm is that of a second loop.
static void finishTwice(ModuleOp module) {
  StageEditor edit(module);
  Operation *first = edit.nestOf(edit.only<FinalizeOp>());
  edit.b.setInsertionPointAfter(first);
  Operation *second = edit.b.clone(*first);
  first->getResult(1).replaceAllUsesWith(second->getResult(1));
}

/// Each key is the one at the position that its id names.
static void lookUpAgain(ModuleOp module) {
  StageEditor edit(module);
  auto lookup = edit.only<LookupOp>();
  Value keys = edit.nestOf(lookup)->getResult(0);
  edit.b.setInsertionPointAfterValue(keys);
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
  const char *noChunks = "no loop over chunks of rows";
  const char *inTile = "keys are read in the tile";
  const char *ofChunk = "rows of a tile are those of a chunk";
  const char *before = "positions are computed before the tiles";
  std::vector<StageEdit> edits = {
      {"OutputsOfSevensFromRow8", two, false, beginLaterOnSevens,
       meansSevensFirst, computed(), computed(), computed(), "tiled",
       absent(ofChunk)},
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
       computed(), computed(), computed(), "tiled", absent(before)},
      typical({"SumsInABranch", one, false, addForTheFirstSequence,
               meansSumsOfTheFirst, computed(), computed(),
               refused("handed on by a branch")}),
      {"SumsInBothBranches", one, false, addInBothBranches, meansTheSame,
       computed(), computed(), refused("handed on by a branch")},
      {"AFinishInABranch", one, false, finishInABranch, meansTheSame,
       refused("'arith.select' op"), refused("a choice between two scalars"),
       refused("a choice between two scalars"), "tiled", computed()},
      typical({"AFinishOfTheFirstChunk", two, false, finishTheFirstChunk,
               meansSevensLast, absent(noChunks), absent(noChunks),
               absent(noChunks), "tiled", computed()}),
      typical({"TwoFinishes", two, false, finishTwice, meansTheSame, computed(),
               computed(), computed()}),
      {"KeysLookedUpAgain", one, false, lookUpAgain, meansIdsOfIds,
       absent(inTile), absent(inTile), computed()},
      {"OddNames", one, false, addOddNames, meansTheSame, computed(),
       computed(), computed()},
  };
  std::vector<StageEdit> whole = {
      {"AnElementReadBefore", one, false, computeTheOffset, meansLaterPositions,
       computed(), refused("'memref.load' op"), refused("'memref.load' op")},
      {"AChoiceBefore", one, false, chooseTheOffset, meansLaterPositions,
       computed(), computed(), computed()},
      {"SumsInABranch", one, false, addInABranch, meansTheSame,
       refused("in a branch"), refused("in a branch"),
       refused("choice between two scalars")},
      {"AFinishInABranch", one, false, finishInABranch, meansTheSame,
       refused("'arith.select' op"), refused("a choice between two scalars"),
       refused("a choice between two scalars")},
      {"TwoFinishes", two, false, finishTwice, meansTheSame, computed(),
       computed(), computed()},
      {"KeysLookedUpAgain", one, false, lookUpAgain, meansIdsOfIds,
       refused("bounded by a constant"), refused("a constant bound"),
       computed()},
  };
  addWhole(edits, whole);
  return edits;
}
