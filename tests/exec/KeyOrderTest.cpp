//===- KeyOrderTest.cpp - channels that choose a key ------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Pipelines/Registration.h"
#include "dialect/RayTention/Channel.h"
#include "dialect/RayTention/ElementBuilder.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

using namespace mlir;
using namespace raytention;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Scores by position; minus infinity is masked.
using Scores = std::vector<double>;
/// Sets of positions, each in the order in which its keys come; the sets are
/// merged from the first to the last.
using Parts = std::vector<std::vector<int64_t>>;

/// Runs a channel's element programs by folding constants.
class KeyOrder : public testing::Test {
protected:
  KeyOrder() {
    DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// The position that `channel` finds.
  int64_t find(llvm::StringRef channel, const Scores &scores,
               const Parts &parts) {
    auto attribute = cast<ChannelInterface>(parseAttribute(channel, &context));
    Location loc = UnknownLoc::get(&context);
    OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
    OpBuilder b = OpBuilder::atBlockEnd(module->getBody());
    auto function = func::FuncOp::create(
        b, loc, "find", b.getFunctionType({}, {b.getI32Type()}));
    b.setInsertionPointToStart(function.addEntryBlock());
    ElementBuilder e(b, loc, b.getF32Type());
    Value found = build(e, attribute, scores, parts);
    func::ReturnOp::create(b, loc, found);
    PassManager pm(&context);
    pm.addPass(createCanonicalizerPass());
    EXPECT_TRUE(succeeded(pm.run(*module)));
    auto result = cast<func::ReturnOp>(function.front().getTerminator());
    auto constant = result.getOperand(0).getDefiningOp<arith::ConstantOp>();
    return constant ? cast<IntegerAttr>(constant.getValue()).getInt() : -2;
  }

private:
  static SmallVector<Value> makeInitial(ElementBuilder &e,
                                        ArrayRef<StateField> fields) {
    SmallVector<Value> state;
    for (const StateField &field : fields)
      state.push_back(field.isPosition ? e.intConstant(field.initial)
                                       : e.constant(field.initial));
    return state;
  }

  static Value build(ElementBuilder &e, ChannelInterface channel,
                     const Scores &scores, const Parts &parts) {
    bool isScore = !channel.getScoreState().empty();
    SmallVector<StateField> fields =
        isScore ? channel.getScoreState() : channel.getReduceState();
    SmallVector<Value> all = makeInitial(e, fields);
    ParameterValues none;
    for (const std::vector<int64_t> &part : parts) {
      SmallVector<Value> state = makeInitial(e, fields);
      for (int64_t position : part) {
        PairValues pair;
        pair.score = pair.logWeight = e.constant(scores[position]);
        pair.key = e.intConstant(position);
        state = isScore ? channel.updateScore(e, pair, none, state)
                        : channel.updateReduce(e, pair, none, state);
      }
      all = isScore ? channel.mergeScore(e, all, state)
                    : channel.mergeReduce(e, all, state);
    }
    if (channel.getForm() != ChannelForm::Copy)
      return all[1]; // max_score: its value is the score
    RowValues row;
    (isScore ? row.score : row.reduce) = all;
    return channel.finish(e, row, none);
  }

  MLIRContext context;
};

/// The key that the definition names: of those that count, by score and then
/// by position.
int64_t choose(const Scores &scores, size_t rank, bool isSmallest) {
  std::vector<int64_t> order;
  for (size_t j = 0; j < scores.size(); ++j)
    if (scores[j] > (isSmallest ? kLogWeightThreshold : -kInfinity))
      order.push_back(j);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t c) {
    return isSmallest ? scores[a] < scores[c] : scores[a] > scores[c];
  });
  return order.empty() ? -1 : order[std::min(rank, order.size()) - 1];
}

Parts drawParts(size_t size, std::mt19937 &generator) {
  std::vector<int64_t> order(size);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), generator);
  Parts parts(1 + generator() % 3);
  for (int64_t position : order)
    parts[generator() % parts.size()].push_back(position);
  return parts;
}

TEST_F(KeyOrder, KeysAndPartsComeInAnyOrder) {
  std::mt19937 generator(1);
  const double values[] = {-1, -1, -2, -2, -3, -30, -kInfinity};
  for (int draw = 0; draw < 60; ++draw) {
    Scores scores(generator() % 9);
    for (double &score : scores)
      score = values[generator() % 7];
    Parts parts = drawParts(scores.size(), generator);
    SCOPED_TRACE("draw " + std::to_string(draw));
    EXPECT_EQ(find("#rt.top<1>", scores, parts), choose(scores, 1, false));
    EXPECT_EQ(find("#rt.top<3>", scores, parts), choose(scores, 3, false));
    EXPECT_EQ(find("#rt.max_score", scores, parts), choose(scores, 1, false));
    EXPECT_EQ(find("#rt.antitop", scores, parts), choose(scores, 1, true));
  }
}

} // namespace
