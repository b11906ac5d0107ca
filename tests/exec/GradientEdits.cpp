//===- GradientEdits.cpp - edits of a stage with a gradient ---------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/exec/GradientEdits.h"
#include "tests/exec/StageEditor.h"

using namespace mlir;
using namespace raytention;
using namespace raytention::test;

using Sizes = SmallVector<OpFoldResult>;

static constexpr int64_t kTile = GradientSizes::kTile,
                         kChunk = GradientSizes::kChunk;

namespace {

/// The function @attend_backward.
class BackwardEditor : public StageEditor {
public:
  explicit BackwardEditor(ModuleOp module)
      : StageEditor(module, "attend_backward") {}

  Value dy() { return func.getArgument(func.getNumArguments() - 1); }
  /// The sum of a side.
  SumDifferencesOp sumOf(PairSide side) {
    for (auto op : all<SumDifferencesOp>())
      if (op.getSide() == side)
        return op;
    llvm_unreachable("both sides have a sum");
  }
  /// The product of weights with the rows' stack.
  linalg::ContractOp weightedSum() {
    return sumOf(PairSide::Key).getSumsIn().getDefiningOp<linalg::ContractOp>();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

template <typename... Ops> static void repeat(ModuleOp module) {
  BackwardEditor(module).repeat<Ops...>();
}

/// What starts from an operand hands it on.
static void drop(Operation *op, Value start) {
  op->getResult(0).replaceAllUsesWith(start);
}

static void dropQuerySums(ModuleOp module) {
  auto op = BackwardEditor(module).sumOf(PairSide::Query);
  drop(op, op.getSumsIn());
}
static void dropKeySums(ModuleOp module) {
  auto op = BackwardEditor(module).sumOf(PairSide::Key);
  drop(op, op.getSumsIn());
}
static void dropWeightedSums(ModuleOp module) {
  auto op = BackwardEditor(module).weightedSum();
  drop(op, op.getOutputs()[0]);
}

/// What sums start from, before any loop.
static Value getStart(StageEditor &edit, Value sums) {
  if (auto argument = dyn_cast<BlockArgument>(sums))
    if (auto tiles =
            dyn_cast<scf::ForallOp>(argument.getOwner()->getParentOp()))
      sums = tiles.getTiedOpOperand(argument)->get();
  while (Operation *op = sums.getDefiningOp()) {
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      edit.b.setInsertionPointAfter(slice);
      Operation *copy = edit.b.clone(*slice);
      copy->setOperand(0, getStart(edit, slice.getSource()));
      return copy->getResult(0);
    }
    if (auto loop = dyn_cast<scf::ForOp>(op))
      sums = loop.getTiedLoopInit(cast<OpResult>(sums))->get();
    else if (auto sum = dyn_cast<SumDifferencesOp>(op))
      sums = sum.getSumsIn();
    else if (auto copy = dyn_cast<CopyGradOp>(op))
      sums = copy.getSumsIn();
    else if (auto product = dyn_cast<linalg::ContractOp>(op))
      sums = product.getOutputs()[0];
    else
      break;
  }
  return sums;
}

static void readTheFirstQuerySums(ModuleOp module) {
  BackwardEditor edit(module);
  auto finish = edit.only<QueryGradOp>();
  finish.getSumsMutable().assign(getStart(edit, finish.getSums()));
}
static void readTheFirstKeySums(ModuleOp module) {
  BackwardEditor edit(module);
  auto finish = edit.only<KeyGradOp>();
  finish.getSumsMutable().assign(getStart(edit, finish.getSums()));
}

/// Makes a copy of the zeros that `start` is one of ones.
static Value makeOnes(StageEditor &edit, Value zeros) {
  auto fill = zeros.getDefiningOp<linalg::FillOp>();
  edit.b.setInsertionPointAfter(fill);
  Value one =
      arith::ConstantOp::create(edit.b, edit.loc, edit.b.getF32FloatAttr(1));
  Value empty =
      edit.b.clone(*fill.getOutputs()[0].getDefiningOp())->getResult(0);
  return linalg::FillOp::create(edit.b, edit.loc, one, empty).getResult(0);
}

static void sumQueriesFromOne(ModuleOp module) {
  BackwardEditor edit(module);
  auto sum = edit.sumOf(PairSide::Query);
  auto loop = sum->getParentOfType<scf::ForOp>();
  OpOperand *start = &sum.getSumsInMutable();
  if (auto argument = dyn_cast<BlockArgument>(sum.getSumsIn()))
    start = loop.getTiedLoopInit(argument);
  start->set(makeOnes(edit, start->get()));
}

static void scatterOnOnes(ModuleOp module) {
  BackwardEditor edit(module);
  auto scatter = edit.only<ScatterAddOp>();
  for (OpOperand &operand : scatter->getOpOperands())
    if (operand.get().getDefiningOp<linalg::FillOp>())
      operand.set(makeOnes(edit, operand.get()));
}

/// Stack and keys, or weights and stack, by maps that no lowering makes.
template <bool ofKeys> static void transpose(ModuleOp module) {
  BackwardEditor edit(module);
  auto product =
      ofKeys ? edit.weightedSum() : edit.all<linalg::ContractOp>().front();
  auto maps = product.getIndexingMapsArray();
  AffineMap &map = maps[ofKeys ? 0 : 1];
  SmallVector<AffineExpr> results(map.getResults());
  std::swap(results[results.size() - 2], results.back());
  map = AffineMap::get(5, 0, results, edit.b.getContext());
  product.setIndexingMapsAttr(edit.b.getAffineMapArrayAttr(maps));
}

/// An element that a tile writes by itself.
static void insertNumber(ModuleOp module) {
  BackwardEditor edit(module);
  auto sum = edit.sumOf(PairSide::Query);
  edit.b.setInsertionPointAfter(sum);
  Value zero = edit.index(0);
  auto insert =
      tensor::InsertOp::create(edit.b, edit.loc, edit.zero(edit.b.getF32Type()),
                               sum.getSums(), ValueRange{zero, zero, zero});
  sum.getSums().replaceAllUsesExcept(insert.getResult(), insert);
}

//===----------------------------------------------------------------------===//
// What is read and written where
//===----------------------------------------------------------------------===//

static void readLaterRows(ModuleOp module) {
  for (const char *name : {"attend", "attend_backward"}) {
    StageEditor edit(module, name);
    Value table = edit.argument(StageEditor::Table);
    auto attr = [&](ArrayRef<int64_t> values) {
      return getAsIndexOpFoldResult(edit.b.getContext(), values);
    };
    Value part = tensor::ExtractSliceOp::create(
        edit.b, edit.loc, table, attr({6, 0}), attr({6, 8}), attr({1, 1}));
    table.replaceUsesWithIf(part, [](OpOperand &use) {
      return isa<RayTentionDialect>(use.getOwner()->getDialect());
    });
  }
}

static void swapDy(ModuleOp module) {
  BackwardEditor edit(module);
  edit.swapArgument(edit.dy());
}

static Value getOther(StageEditor &edit, Value entry) {
  return arith::SubIOp::create(edit.b, edit.loc, edit.index(1), entry);
}

static void swapQueryGradient(ModuleOp module) {
  BackwardEditor edit(module);
  auto finish = edit.only<QueryGradOp>();
  if (!edit.tilesOf(finish))
    return edit.swapResult(0);
  edit.moveResult(cast<OpResult>(finish.getQueriesGrad()), 0,
                  [&](Value entry) { return getOther(edit, entry); });
}

static void scatterByOtherIds(ModuleOp module) {
  BackwardEditor edit(module);
  auto scatter = edit.only<ScatterAddOp>();
  edit.b.setInsertionPoint(scatter);
  Value ids = edit.argument(StageEditor::Ids);
  scatter->replaceUsesOfWith(ids, edit.swapHalves(ids));
}

/// All that the loop over query tiles stores of pairs for the one over keys.
static void swapStoredPairs(ModuleOp module) {
  BackwardEditor edit(module);
  auto finish = edit.only<QueryGradOp>();
  SmallVector<OpResult> stored;
  for (Operation &op : *edit.tilesOf(finish).getTerminator().getBody()) {
    auto source =
        cast<OpResult>(cast<tensor::ParallelInsertSliceOp>(op).getSource());
    if (source.getOwner() != finish && !isa<GradRowsOp>(source.getOwner()))
      stored.push_back(source);
  }
  for (OpResult source : stored)
    edit.moveResult(source, 0,
                    [&](Value entry) { return getOther(edit, entry); });
}

static void strideQueries(ModuleOp module) {
  BackwardEditor edit(module);
  for (auto slice : edit.all<tensor::ExtractSliceOp>()) {
    if (slice.getSource() != edit.argument(StageEditor::Queries))
      continue;
    Sizes strides = slice.getMixedStrides();
    strides[1] = edit.b.getIndexAttr(2);
    edit.b.setInsertionPoint(slice);
    Value strided = tensor::ExtractSliceOp::create(
        edit.b, edit.loc, slice.getType(), slice.getSource(),
        slice.getMixedOffsets(), slice.getMixedSizes(), strides);
    slice.replaceAllUsesWith(strided);
    slice.erase();
  }
}

//===----------------------------------------------------------------------===//
// Pairs of the side of keys
//===----------------------------------------------------------------------===//

/// Gives the side of keys a copy of the op that weighs.
static WeighGradOp weighForKeys(BackwardEditor &edit) {
  auto own = edit.only<WeighGradOp>();
  edit.b.setInsertionPointAfter(own);
  auto other = cast<WeighGradOp>(edit.b.clone(*own));
  for (Operation *reader : {edit.sumOf(PairSide::Key).getOperation(),
                            edit.weightedSum().getOperation()})
    for (auto [from, to] : llvm::zip(own->getResults(), other->getResults()))
      reader->replaceUsesOfWith(from, to);
  edit.b.setInsertionPoint(other);
  return other;
}

static void seeOneKeyMore(ModuleOp module) {
  BackwardEditor edit(module);
  WeighGradOp other = weighForKeys(edit);
  Value row =
      arith::AddIOp::create(edit.b, edit.loc, other.getRow(), edit.index(1));
  other.getRowMutable().assign(row);
}

/// Rows beyond a sequence have no say.
static void seeAllLengths(ModuleOp module) {
  BackwardEditor edit(module);
  weighForKeys(edit).getLengthsMutable().clear();
}

//===----------------------------------------------------------------------===//
// Loops and branches
//===----------------------------------------------------------------------===//

static void reverseTiles(ModuleOp module) {
  BackwardEditor edit(module);
  for (auto loop : edit.all<scf::ForallOp>()) {
    edit.b.setInsertionPoint(loop);
    Value end = loop.getUpperBound(edit.b)[1], step = loop.getStep(edit.b)[1];
    edit.reverse(loop.getInductionVar(1), end, step, loop.getBody());
  }
}

static void reverseLoops(ModuleOp module) {
  BackwardEditor edit(module);
  for (auto loop : edit.all<scf::ForOp>())
    edit.reverse(loop.getInductionVar(), loop.getUpperBound(), loop.getStep(),
                 loop.getBody());
}

static void beginLater(ModuleOp module, PairSide side, int64_t begin) {
  BackwardEditor edit(module);
  auto loop = edit.sumOf(side)->getParentOfType<scf::ForOp>();
  loop.setLowerBound(edit.index(begin));
}
static void sumLaterKeys(ModuleOp module) {
  beginLater(module, PairSide::Query, kChunk);
}
static void sumLaterRows(ModuleOp module) {
  beginLater(module, PairSide::Key, kTile);
}

static void sumWhere(BackwardEditor &edit, PairSide side,
                     llvm::function_ref<Value(Operation *)> getCondition) {
  auto sum = edit.sumOf(side);
  edit.b.setInsertionPoint(sum);
  Value holds = getCondition(sum);
  scf::IfOp chosen = edit.branch(holds, sum.getSums(), sum.getSumsIn());
  Operation *yield = chosen.thenBlock()->getTerminator();
  sum.getSums().replaceAllUsesExcept(chosen.getResult(0), yield);
  sum->moveBefore(yield);
}

static void sumForTheFirstSequence(ModuleOp module) {
  BackwardEditor edit(module);
  sumWhere(edit, PairSide::Query, [&](Operation *sum) {
    return edit.isZero(edit.tilesOf(sum).getInductionVar(0));
  });
}

/// Where the offset is 0, as it is.
template <PairSide side> static void sumInABranch(ModuleOp module) {
  BackwardEditor edit(module);
  sumWhere(edit, side, [&](Operation *) {
    return edit.isZero(edit.argument(StageEditor::Offset));
  });
}

static void finishInABranch(ModuleOp module) {
  BackwardEditor edit(module);
  auto finish = edit.only<KeyGradOp>();
  scf::ForallOp loop = edit.tilesOf(finish);
  Operation *whole = edit.nestOf(finish);
  edit.b.setInsertionPoint(whole);
  Value holds = edit.isZero(edit.argument(StageEditor::Offset));
  Value before = loop ? loop.getOutputs()[0] : finish.getKeysGradIn();
  scf::IfOp chosen = edit.branch(holds, whole->getResult(0), before);
  Operation *yield = chosen.thenBlock()->getTerminator();
  whole->getResult(0).replaceAllUsesExcept(chosen.getResult(0), yield);
  whole->moveBefore(yield);
}

/// In both functions.
static void computeTheOffset(ModuleOp module) {
  StageEditor(module).computeTheOffset();
  BackwardEditor(module).computeTheOffset();
}

/// The parameters are those of a second finish.
static void finishTwice(ModuleOp module) {
  BackwardEditor edit(module);
  auto finish = edit.only<QueryGradOp>();
  Operation *first = edit.nestOf(finish);
  edit.b.setInsertionPointAfter(first);
  Operation *second = edit.b.clone(*first);
  first->getResult(1).replaceAllUsesWith(second->getResult(1));
}

std::vector<GradientEdit> test::getGradientEdits() {
  const std::vector<std::string> some = {"centroid", "decay:backward:1",
                                         "top:1", "entropy"},
                                 one = {"centroid"};
  const char *fused = "nothing is stored in this family";
  std::vector<GradientEdit> edits;
  // Of the stage "tiled", of "products", and of both.
  auto tiled = [&](GradientEdit edit) { edits.push_back(edit); };
  auto whole = [&](GradientEdit edit) {
    edit.stage = "products";
    edits.push_back(edit);
  };
  auto both = [&](const GradientEdit &edit) {
    tiled(edit);
    whole(edit);
  };
  // Of each kind one, for the plain run.
  auto typical = [](GradientEdit edit) {
    edit.isTypical = true;
    return edit;
  };
  both({"UnusedPairs", some,
        repeat<LookupOp, DistanceOp, linalg::ContractOp, WeighGradOp>,
        gradientIsTheSame, computed(), computed()});
  both({"UnusedRowsAndFinishes", some,
        repeat<GradRowsOp, linalg::FillOp, QueryGradOp, KeyGradOp>,
        gradientIsTheSame, computed(), computed()});
  both({"UnusedSums", some,
        repeat<SumDifferencesOp, CopyGradOp, ParameterGradOp, ScatterAddOp>,
        gradientIsTheSame, computed(), computed()});
  GradientEdit drop = {"QuerySumsAreDropped",  one,        dropQuerySums,
                       gradientWithoutQueries, computed(), computed()};
  tiled(typical(drop));
  whole(drop);
  both({"DifferencesAreDropped", one, dropKeySums, gradientWithoutDifferences,
        computed(), computed()});
  both({"WeightedSumsAreDropped", one, dropWeightedSums, gradientWithoutWeights,
        computed(), computed()});
  both({"TheFirstQuerySumsAreRead", one, readTheFirstQuerySums,
        gradientWithoutQueries, computed(), computed()});
  both({"TheFirstKeySumsAreRead", one, readTheFirstKeySums, gradientWithoutKeys,
        computed(), computed()});
  both({"QuerySumsStartAtOne", one, sumQueriesFromOne, gradientIsTheSame,
        refused("'linalg.fill' op"), refused("'linalg.fill' op")});
  both({"TheTableStartsAtOne", some, scatterOnOnes, gradientOnOnes, computed(),
        computed()});
  tiled({"KeysAreTransposed", one, transpose<false>, gradientIsTheSame,
         refused("one static width"), refused("one static width")});
  whole({"KeysAreTransposed", one, transpose<false>, gradientIsTheSame,
         refused("'rt.lookup' op"), refused("'rt.lookup' op")});
  tiled({"WeightsAreTransposed", one, transpose<true>, gradientIsTheSame,
         refused("'linalg.contract' op"), refused("'linalg.contract' op")});
  whole({"WeightsAreTransposed", one, transpose<true>, gradientIsTheSame,
         refused("'rt.weigh_grad' op"), refused("is not equivalent")});
  tiled({"AnElementInserted", one, insertNumber, gradientIsTheSame,
         refused("'memref.store' op"), refused("'memref.store' op")});
  both({"TableSliced", some, readLaterRows, gradientOfLaterRows, computed(),
        computed()});
  both({"DyOfTheOtherSequence", some, swapDy, gradientOfSwappedDy, computed(),
        computed()});
  both({"DqOfTheOtherSequence", some, swapQueryGradient, gradientIsSwapped,
        computed(), computed()});
  GradientEdit scatter = {
      "IdsOfTheOtherSequence", one,        scatterByOtherIds,
      gradientBySwappedIds,    computed(), computed()};
  tiled(scatter);
  whole(typical(scatter));
  tiled(typical({"PairsOfTheOtherSequence", one, swapStoredPairs,
                 gradientOfSwappedPairs, absent(fused), computed()}));
  tiled({"EverySecondQuery", one, strideQueries, gradientIsTheSame,
         refused("stride 1"), refused("stride 1")});
  whole(typical({"KeysSeeOneRowMore", one, seeOneKeyMore, gradientOfAnotherMask,
                 computed(), computed()}));
  whole({"KeysWithoutLengths", some, seeAllLengths, gradientIsTheSame,
         computed(), computed()});
  tiled({"TilesReversed", some, reverseTiles, gradientIsTheSame, computed(),
         computed()});
  tiled({"LoopsReversed", some, reverseLoops, gradientIsTheSame, computed(),
         computed()});
  tiled(typical({"KeysFromTheSecondChunk", one, sumLaterKeys,
                 gradientOfLaterKeys, computed(), computed()}));
  tiled({"RowsFromTheSecondTile", one, sumLaterRows, gradientOfLaterTiles,
         computed(), computed()});
  tiled({"SumsForTheFirstSequence", one, sumForTheFirstSequence,
         gradientOfTheFirst, computed(), computed()});
  tiled({"QuerySumsInABranch", one, sumInABranch<PairSide::Query>,
         gradientIsTheSame, computed(), computed()});
  whole({"QuerySumsInABranch", one, sumInABranch<PairSide::Query>,
         gradientIsTheSame, refused("in a branch"), refused("in a branch")});
  tiled(typical({"KeySumsInABranch", one, sumInABranch<PairSide::Key>,
                 gradientIsTheSame, computed(), computed()}));
  whole({"KeySumsInABranch", one, sumInABranch<PairSide::Key>,
         gradientIsTheSame, refused("in a branch"), refused("in a branch")});
  tiled({"AFinishInABranch", one, finishInABranch, gradientIsTheSame,
         refused("'arith.select' op"), computed()});
  whole({"AFinishInABranch", one, finishInABranch, gradientIsTheSame,
         refused("'arith.select' op"), refused("'arith.select' op")});
  both({"AnElementReadBefore", one, computeTheOffset, gradientOfLaterPositions,
        computed(), computed()});
  both({"TwoFinishes", some, finishTwice, gradientIsTheSame, computed(),
        computed()});
  return edits;
}
