//===- AttentionEdits.cpp - a function with two attentions ----------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loops of one attention may share what loops of another one must not.
//
//===----------------------------------------------------------------------===//

#include "tests/exec/EditMeanings.h"
#include "tests/exec/StageEditor.h"
#include "tests/exec/StageEdits.h"

#include <cmath>

using namespace mlir;
using namespace raytention;
using namespace raytention::test;

/// A second attention behind the first; what is returned is still the first's.
static AttendOp attendAgain(StageEditor &edit) {
  auto first = edit.only<AttendOp>();
  edit.b.setInsertionPointAfter(first);
  return cast<AttendOp>(edit.b.clone(*first));
}

/// Of the second sequence, the results of the second attention.
static void returnBoth(StageEditor &edit, AttendOp second) {
  Operation *end = edit.func.getBody().front().getTerminator();
  edit.b.setInsertionPoint(end);
  auto one = edit.b.getIndexAttr(1);
  for (auto [operand, result] :
       llvm::zip(end->getOpOperands(), second->getResults())) {
    auto type = cast<RankedTensorType>(result.getType());
    if (type.getShape().back() == 0)
      continue;
    int64_t rank = type.getRank();
    auto sizes = tensor::getMixedSizes(edit.b, edit.loc, result);
    SmallVector<OpFoldResult> offsets(rank, edit.b.getIndexAttr(0)),
        strides(rank, one);
    offsets[0] = sizes[0] = one;
    Value half = tensor::ExtractSliceOp::create(edit.b, edit.loc, result,
                                                offsets, sizes, strides);
    operand.set(tensor::InsertSliceOp::create(
        edit.b, edit.loc, half, operand.get(), offsets, sizes, strides));
  }
}

/// Those of the other sequence.
static void attendToOtherLengths(ModuleOp module) {
  StageEditor edit(module);
  AttendOp second = attendAgain(edit);
  edit.b.setInsertionPoint(second);
  second.getLengthsMutable().assign(edit.swapHalves(second.getLengths()));
  returnBoth(edit, second);
}

static void attendFromAnOffset(ModuleOp module) {
  StageEditor edit(module);
  AttendOp second = attendAgain(edit);
  edit.b.setInsertionPoint(second);
  second.getQueryOffsetMutable().assign(edit.index(7));
  returnBoth(edit, second);
}

/// The signals of the first are the queries of the second.
static void chain(ModuleOp module) {
  StageEditor edit(module);
  auto first = edit.only<AttendOp>();
  AttendOp second = attendAgain(edit);
  first->replaceAllUsesWith(second->getResults());
  second.getQueriesMutable().assign(first.getSignals());
}

static EditResult meansEqualLengths(EditProblem &problem) {
  problem.lengths[1] = problem.lengths[0];
  return problem.reference();
}

/// Of the second sequence, what the offset that lengths differ by gives.
static EditResult meansAnOffsetOfTheSecond(EditProblem &problem) {
  EditProblem other(problem.spec.channels);
  EditResult result = problem.reference(), later = meansLaterPositions(other);
  auto take = [](auto &to, const auto &from) {
    std::copy(from.begin() + from.size() / 2, from.end(),
              to.begin() + to.size() / 2);
  };
  take(result.signals, later.signals);
  take(result.norm, later.norm);
  take(result.indices, later.indices);
  return result;
}

static EditResult meansAttendingTwice(EditProblem &problem) {
  problem.queries = problem.reference().signals;
  problem.inputs.queries = problem.queries.data();
  return problem.reference();
}

std::vector<StageEdit> test::getAttentionEdits() {
  const std::vector<std::string> two = {"centroid", "top:1"},
                                 one = {"centroid"};
  std::vector<StageEdit> edits = {
      typical({"OtherLengths", two, false, attendToOtherLengths,
               meansEqualLengths, computed(), computed(), computed()}),
      {"AnOffset", one, false, attendFromAnOffset, meansAnOffsetOfTheSecond,
       computed(), computed(), computed()},
      {"Chained", one, false, chain, meansAttendingTwice, computed(),
       computed(), computed()},
  };
  for (StageEdit &edit : edits)
    edit.stage = "attention";
  return edits;
}
