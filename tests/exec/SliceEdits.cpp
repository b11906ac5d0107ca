//===- SliceEdits.cpp - what is sliced and inserted where -----------------===//
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

using Sizes = SmallVector<OpFoldResult>;

static Sizes toSizes(OpBuilder &b, ArrayRef<int64_t> values) {
  return getAsIndexOpFoldResult(b.getContext(), values);
}

/// Lets the ops of rt that read an argument read a slice of it, made before
/// each of them or once at the begin.
static void readSlice(StageEditor &edit, StageEditor::Argument number,
                      ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes,
                      bool inTile) {
  Value whole = edit.argument(number);
  auto makeSlice = [&]() -> Value {
    return tensor::ExtractSliceOp::create(
        edit.b, edit.loc, whole, toSizes(edit.b, offsets),
        toSizes(edit.b, sizes),
        toSizes(edit.b, SmallVector<int64_t>(sizes.size(), 1)));
  };
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : whole.getUses())
    if (isa<RayTentionDialect>(use.getOwner()->getDialect()))
      uses.push_back(&use);
  Value once = inTile ? Value() : makeSlice();
  for (OpOperand *use : uses) {
    edit.b.setInsertionPoint(use->getOwner());
    use->set(inTile ? makeSlice() : once);
  }
}

static void sliceGammasInTile(ModuleOp module) {
  StageEditor edit(module);
  readSlice(edit, StageEditor::Gammas, {1}, {2}, true);
}
static void sliceGammasOnce(ModuleOp module) {
  StageEditor edit(module);
  readSlice(edit, StageEditor::Gammas, {1}, {2}, false);
}
/// From the offset + 1 on.
static void sliceGammasAtRunTime(ModuleOp module) {
  sliceGammasOnce(module);
  StageEditor edit(module);
  for (auto slice : edit.all<tensor::ExtractSliceOp>()) {
    if (slice.getSource() != edit.argument(StageEditor::Gammas))
      continue;
    edit.b.setInsertionPoint(slice);
    Value first = arith::AddIOp::create(edit.b, edit.loc, edit.index(1),
                                        edit.argument(StageEditor::Offset));
    Value later = tensor::ExtractSliceOp::create(
        edit.b, edit.loc, slice.getType(), slice.getSource(), Sizes{first},
        slice.getMixedSizes(), slice.getMixedStrides());
    slice.replaceAllUsesWith(later);
    slice.erase();
  }
}
static void sliceTableInTile(ModuleOp module) {
  StageEditor edit(module);
  readSlice(edit, StageEditor::Table, {6, 0}, {6, 8}, true);
}
static void sliceTableOnce(ModuleOp module) {
  StageEditor edit(module);
  readSlice(edit, StageEditor::Table, {6, 0}, {6, 8}, false);
}

static void strideQueries(ModuleOp module) {
  StageEditor edit(module);
  for (auto slice : edit.all<tensor::ExtractSliceOp>()) {
    if (slice.getSource() != edit.argument(StageEditor::Queries))
      continue;
    Sizes offsets = slice.getMixedOffsets();
    offsets[1] = edit.b.getIndexAttr(0);
    edit.b.setInsertionPoint(slice);
    Value strided = tensor::ExtractSliceOp::create(
        edit.b, edit.loc, slice.getType(), slice.getSource(), offsets,
        slice.getMixedSizes(), toSizes(edit.b, {1, 2, 1}));
    slice.replaceAllUsesWith(strided);
    slice.erase();
  }
}

static void
moveResults(ModuleOp module, int64_t axis,
            llvm::function_ref<Value(StageEditor &, Value)> getOffset) {
  StageEditor edit(module);
  for (OpResult result : edit.only<FinalizeOp>()->getResults())
    edit.moveResult(result, axis,
                    [&](Value offset) { return getOffset(edit, offset); });
}

static void swapSequences(ModuleOp module) {
  moveResults(module, 0, [](StageEditor &edit, Value entry) -> Value {
    return arith::SubIOp::create(edit.b, edit.loc, edit.index(1), entry);
  });
}

static void swapQueries(ModuleOp module) {
  StageEditor edit(module);
  edit.swapArgument(edit.argument(StageEditor::Queries));
}

static void swapWholeResults(ModuleOp module) {
  StageEditor edit(module);
  for (unsigned number = 0; number < 3; ++number)
    edit.swapResult(number);
}

static void moveResultsDown(ModuleOp module) {
  moveResults(module, 1, [](StageEditor &edit, Value row) -> Value {
    return arith::AddIOp::create(edit.b, edit.loc, row, edit.index(50));
  });
}

static void readIdsPastTheEnd(ModuleOp module) {
  StageEditor edit(module);
  for (auto slice : edit.all<tensor::ExtractSliceOp>()) {
    auto offset = slice.getMixedOffsets();
    if (slice.getSource() != edit.argument(StageEditor::Ids) ||
        !isa<Value>(offset[1]))
      continue;
    edit.b.setInsertionPoint(slice);
    Value later = arith::AddIOp::create(
        edit.b, edit.loc, cast<Value>(offset[1]), edit.index(1000007));
    slice.getOffsetsMutable()[1].assign(later);
  }
}

/// An element that every thread of a block would store.
static void insertNumber(ModuleOp module) {
  StageEditor edit(module);
  auto product = edit.only<linalg::ContractOp>();
  edit.b.setInsertionPointAfter(product);
  Value zero = edit.index(0);
  Value sums = product->getResult(0);
  auto insert = tensor::InsertOp::create(
      edit.b, edit.loc, edit.zero(edit.b.getF32Type()), sums,
      SmallVector<Value>(
          static_cast<size_t>(cast<RankedTensorType>(sums.getType()).getRank()),
          zero));
  sums.replaceAllUsesExcept(insert.getResult(), insert);
}

static void insertAnotherColumn(ModuleOp module) {
  StageEditor edit(module);
  auto insert = edit.only<tensor::InsertSliceOp>();
  edit.b.setInsertionPointAfter(insert);
  Sizes offsets = insert.getMixedOffsets();
  offsets[2] = edit.b.getIndexAttr(0);
  tensor::InsertSliceOp::create(
      edit.b, edit.loc, insert.getSource(), insert.getDest(), offsets,
      insert.getMixedSizes(), insert.getMixedStrides());
}

std::vector<StageEdit> test::getSliceEdits() {
  const std::vector<std::string> some = {"centroid", "decay:backward:1",
                                         "top:1", "entropy"},
                                 two = {"centroid", "decay:backward:1"},
                                 one = {"centroid"};
  const char *trusted = "the CPU trusts an edit with memory";
  const char *noKept = "distances are not kept by inserting them";
  std::vector<StageEdit> edits = {
      {"GammasSlicedInTheTile", two, false, sliceGammasInTile, meansLaterGammas,
       computed(), computed(), computed()},
      {"GammasSlicedBefore", two, false, sliceGammasOnce, meansLaterGammas,
       computed(), computed(), computed()},
      {"GammasSlicedAtRunTime", two, false, sliceGammasAtRunTime,
       meansLaterGammas, computed(), computed(), computed()},
      typical({"TableSlicedInTheTile",
               {"top:1"},
               false,
               sliceTableInTile,
               meansLaterRows,
               computed(),
               computed(),
               computed()}),
      {"TableSlicedBefore",
       {"top:1"},
       false,
       sliceTableOnce,
       meansLaterRows,
       computed(),
       computed(),
       computed()},
      {"EverySecondQuery", one, false, strideQueries, meansEverySecondQuery,
       refused("stride 1"), computed(), computed()},
      {"ResultsOfTheOtherSequence", some, false, swapSequences,
       meansSwappedSequences, computed(), computed(), computed()},
      {"ResultsPastTheEnd", one, false, moveResultsDown, meansAnything,
       absent(trusted), faults("out"), faults("out")},
      {"IdsPastTheEnd", one, false, readIdsPastTheEnd, meansAnything,
       absent(trusted), faults("out"), faults("out")},
      {"AStoreByEveryThread", one, false, insertNumber, meansAnything,
       refused("'memref.store' op"), refused("every thread"),
       refused("every thread")},
      {"AnUnusedInsertion", some, false, insertAnotherColumn, meansTheSame,
       computed(), absent(noKept), absent(noKept)},
  };
  std::vector<StageEdit> whole = {
      {"GammasSliced", two, false, sliceGammasOnce, meansLaterGammas,
       computed(), computed(), computed()},
      {"GammasSlicedAtRunTime", two, false, sliceGammasAtRunTime,
       meansLaterGammas, computed(), computed(), computed()},
      typical({"TableSliced",
               {"top:1"},
               false,
               sliceTableOnce,
               meansLaterRows,
               computed(),
               computed(),
               computed()}),
      {"QueriesOfTheOtherSequence", some, false, swapQueries,
       meansSwappedQueries, computed(), computed(), computed()},
      {"ResultsOfTheOtherSequence", some, false, swapWholeResults,
       meansSwappedSequences, computed(), computed(), computed()},
  };
  addWhole(edits, whole);
  return edits;
}
