//===- ValueEdits.cpp - which value is read -------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/exec/EditMeanings.h"
#include "tests/exec/StageEditor.h"
#include "tests/exec/StageEdits.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace raytention;
using namespace raytention::test;

template <typename... Ops> static void repeat(ModuleOp module) {
  StageEditor(module).repeat<Ops...>();
}

static void dropTheNewSums(ModuleOp module) {
  StageEditor edit(module);
  Value sums = edit.only<linalg::ContractOp>()->getResult(0);
  auto loop = sums.getDefiningOp()->getParentOfType<scf::ForOp>();
  for (auto [number, yielded] : llvm::enumerate(loop.getYieldedValues()))
    if (yielded == sums)
      loop.getBody()->getTerminator()->setOperand(
          number, loop.getRegionIterArg(number));
}

/// Zeros, made anew for each chunk.
static void yieldNewSums(ModuleOp module) {
  StageEditor edit(module);
  Value sums = edit.only<linalg::ContractOp>()->getResult(0);
  Operation *yield = sums.getDefiningOp()
                         ->getParentOfType<scf::ForOp>()
                         .getBody()
                         ->getTerminator();
  auto fill = edit.only<linalg::FillOp>();
  edit.b.setInsertionPoint(yield);
  IRMapping map;
  map.map(fill.getOutputs()[0],
          edit.b.clone(*fill.getOutputs()[0].getDefiningOp())->getResult(0));
  yield->replaceUsesOfWith(sums, edit.b.clone(*fill, map)->getResult(0));
}

static void readTheFirstSums(ModuleOp module) {
  StageEditor edit(module);
  auto finish = edit.only<FinalizeOp>();
  auto loop = finish.getSums().getDefiningOp<scf::ForOp>();
  finish.getSumsMutable().assign(
      loop ? loop.getTiedLoopInit(cast<OpResult>(finish.getSums()))->get()
           : edit.only<linalg::ContractOp>().getOutputs()[0]);
}

/// Two products on one destination; what the second one gives is handed on.
static void addAgainOnTheOldSums(ModuleOp module) {
  StageEditor edit(module);
  Operation *product = edit.only<linalg::ContractOp>();
  edit.b.setInsertionPointAfter(product);
  Operation *more = edit.b.clone(*product);
  more->setOperand(2, product->getResult(0));
  product->getResult(0).replaceAllUsesExcept(more->getResult(0), more);
}

/// What weighs and what finishes read two copies of the state: the second is
/// swept from the same beginning.
static void sweepTwice(ModuleOp module) {
  StageEditor edit(module);
  auto sweep = edit.only<ScoreSweepOp>();
  Operation *outer = sweep;
  while (!isa<func::FuncOp>(outer->getParentOp()) &&
         !(isa<scf::ForallOp>(outer->getParentOp()) && outer != sweep))
    outer = outer->getParentOp();
  edit.b.setInsertionPointAfter(outer);
  Operation *second = edit.b.clone(*outer);
  auto finish = edit.only<FinalizeOp>();
  auto isOutside = [&](OpOperand &use) {
    Operation *owner = use.getOwner();
    return owner == finish || (owner->getBlock() == second->getBlock() &&
                               llvm::is_contained(owner->getUsers(), finish));
  };
  outer->getResult(0).replaceUsesWithIf(second->getResult(0), isOutside);
}

static void fillWithOne(ModuleOp module) {
  StageEditor edit(module);
  auto fill = edit.only<linalg::FillOp>();
  edit.b.setInsertionPoint(fill);
  Value one =
      arith::ConstantOp::create(edit.b, edit.loc, edit.b.getF32FloatAttr(1));
  fill.getInputsMutable().assign(one);
}

/// Loop d3 (width) indexes the keys' rows, d4 (keys) their columns.
static void transposeKeys(ModuleOp module) {
  StageEditor edit(module);
  auto product = edit.only<linalg::ContractOp>();
  auto maps = product.getIndexingMapsArray();
  SmallVector<AffineExpr> results(maps[1].getResults());
  std::swap(results[1], results[2]);
  maps[1] = AffineMap::get(5, 0, results, edit.b.getContext());
  product.setIndexingMapsAttr(edit.b.getAffineMapArrayAttr(maps));
}

static void forgetHowManyGammas(ModuleOp module) {
  StageEditor edit(module);
  Value gammas = edit.argument(StageEditor::Gammas);
  auto type =
      RankedTensorType::get({ShapedType::kDynamic}, edit.b.getF32Type());
  auto cast = tensor::CastOp::create(edit.b, edit.loc, type, gammas);
  gammas.replaceAllUsesExcept(cast, cast);
}

std::vector<StageEdit> test::getValueEdits() {
  const std::vector<std::string> some = {"centroid", "decay:backward:1",
                                         "top:1", "entropy"},
                                 one = {"centroid"};
  const char *noLoop = "no loop over keys carries them";
  std::vector<StageEdit> edits = {
      {"UnusedSweeps", some, false, repeat<ScoreSweepOp, ReduceSweepOp>,
       meansTheSame, computed(), computed(), computed()},
      {"UnusedProducts", some, false,
       repeat<LookupOp, DistanceOp, WeighOp, linalg::ContractOp>, meansTheSame,
       computed(), computed(), computed()},
      {"UnusedStartsAndFinishes", some, false,
       repeat<InitOp, linalg::FillOp, FinalizeOp>, meansTheSame, computed(),
       computed(), computed()},
      {"ALoopYieldsItsArgument", some, false, dropTheNewSums, meansNoSums,
       computed(), computed(), absent(noLoop)},
      {"ALoopYieldsNewSums", some, false, yieldNewSums, meansNoSums,
       refused("Yield operand #2 is not equivalent"),
       refused("Yield operand #2 is not equivalent"), absent(noLoop)},
      typical({"TheFirstSumsAreRead", some, false, readTheFirstSums,
               meansNoSums, computed(), computed(), absent(noLoop)}),
      {"SumsAreAddedTwice", one, false, addAgainOnTheOldSums, meansSumsTwice,
       computed(), computed(), computed()},
      {"TwoSweepsFromOneState", some, false, sweepTwice, meansTheSame,
       computed(), computed(), computed()},
      {"SumsStartAtOne", one, false, fillWithOne, meansSumsFromOne,
       refused("'linalg.fill' op"), computed(), computed()},
      {"KeysAreTransposed", one, true, transposeKeys, meansTransposedKeys,
       refused("'linalg.contract' op"), computed(), computed()},
      {"GammasOfUnknownNumber",
       {"centroid", "decay:backward:1"},
       false,
       forgetHowManyGammas,
       meansTheSame,
       refused("gammas"),
       refused("gammas"),
       refused("gammas")},
  };
  std::vector<StageEdit> whole = {
      {"UnusedSweeps", some, false, repeat<ScoreSweepOp, ReduceSweepOp>,
       meansTheSame, computed(), computed(), computed()},
      {"UnusedProducts", some, false,
       repeat<LookupOp, DistanceOp, WeighOp, linalg::ContractOp>, meansTheSame,
       computed(), computed(), computed()},
      {"UnusedStartsAndFinishes", some, false,
       repeat<InitOp, linalg::FillOp, FinalizeOp>, meansTheSame, computed(),
       computed(), computed()},
      {"TheFirstSumsAreRead", some, false, readTheFirstSums, meansNoSums,
       computed(), computed(), computed()},
      typical({"SumsAreAddedTwice", one, false, addAgainOnTheOldSums,
               meansSumsTwice, computed(), computed(), computed()}),
      {"TwoSweepsFromOneState", some, false, sweepTwice, meansTheSame,
       computed(), computed(), computed()},
      {"SumsStartAtOne", one, false, fillWithOne, meansSumsFromOne,
       refused("'linalg.fill' op"), computed(), computed()},
      {"KeysAreTransposed", one, true, transposeKeys, meansTransposedKeys,
       refused("'rt.lookup' op"), computed(), computed()},
  };
  addWhole(edits, whole);
  return edits;
}
