//===- ProducerTilingTest.cpp - tiles of what starts from nothing -*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Pipelines/Registration.h"
#include "dialect/RayTention/RayTention.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace raytention;

namespace {

constexpr const char *kOps = R"(
func.func @ops(%q: tensor<3x20x8xf32>, %k: tensor<3x30x8xf32>,
    %t: tensor<9x8xf32>, %ts: tensor<3x9x8xf32>, %ids: tensor<3x30xi32>,
    %d: tensor<3x20x30xf32>, %s: tensor<3x20x4xf32>, %tau: tensor<f32>,
    %g: tensor<1xf32>, %y: tensor<3x20x9xf32>, %n: tensor<3x20xf32>,
    %ls: tensor<3x20x5xf32>, %len: tensor<3xi64>, %c3: index, %c20: index) {
  %0 = rt.distance %q, %k : tensor<3x20x8xf32>, tensor<3x30x8xf32> -> tensor<3x20x30xf32>
  %1 = rt.lookup %t[%ids] : tensor<9x8xf32>, tensor<3x30xi32> -> tensor<3x30x8xf32>
  %2 = rt.lookup %ts[%ids] : tensor<3x9x8xf32>, tensor<3x30xi32> -> tensor<3x30x8xf32>
  %3:2 = rt.init <score> [#rt.top<1>] (%c3, %c20) : tensor<3x20x3xf32>, tensor<3x20x1xi32>
  %4 = rt.weigh [#rt.centroid, #rt.decay<backward, 0>] ins(%d, %s, %tau, %g : tensor<3x20x30xf32>, tensor<3x20x4xf32>, tensor<f32>, tensor<1xf32>)
    at(%c3, %c20) lengths(%len : tensor<3xi64>) -> tensor<3x2x20x30xf32>
  %5:2 = rt.grad_rows [#rt.decay<backward, 0>, #rt.max_score] (%y, %n, %ls, %y : tensor<3x20x9xf32>, tensor<3x20xf32>, tensor<3x20x5xf32>, tensor<3x20x9xf32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) at(%c3) of %c20 lengths(%len : tensor<3xi64>) -> tensor<3x20x14xf32>, tensor<3x1x20x8xf32>
  return
}
)";

SmallVector<OpFoldResult> toSizes(OpBuilder &b, ArrayRef<int64_t> values) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t value : values)
    sizes.push_back(b.getIndexAttr(value));
  return sizes;
}

class ProducerTiling : public testing::Test {
protected:
  ProducerTiling() {
    DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
    module = parseSourceString<ModuleOp>(kOps, ParserConfig(&context));
    EXPECT_TRUE(module);
    module->walk([&](TilingInterface op) { ops.push_back(op); });
  }

  /// Tiles the loops: 1 of the batch from 2 on, then 5 from 7 on.
  TilingResult tile(TilingInterface op) {
    OpBuilder b(op);
    SmallVector<int64_t> offsets = {2}, sizes = {1};
    offsets.append(op.getLoopIteratorTypes().size() - 1, 7);
    sizes.append(offsets.size() - 1, 5);
    auto tiled =
        op.getTiledImplementation(b, toSizes(b, offsets), toSizes(b, sizes));
    EXPECT_TRUE(succeeded(tiled));
    return *tiled;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  SmallVector<TilingInterface> ops;
};

TEST_F(ProducerTiling, GivesVerifiedTilesInTheirPlace) {
  ASSERT_EQ(ops.size(), 6u);
  for (TilingInterface op : ops) {
    SCOPED_TRACE(op->getName().getStringRef().str());
    OpBuilder b(op);
    EXPECT_EQ(op.getIterationDomain(b).size(),
              op.getLoopIteratorTypes().size());
    TilingResult tiled = tile(op);
    for (OpResult result : op->getResults()) {
      auto whole = cast<RankedTensorType>(result.getType());
      auto part = cast<RankedTensorType>(
          tiled.tiledValues[result.getResultNumber()].getType());
      SmallVector<OpFoldResult> begin, extent;
      ASSERT_TRUE(succeeded(op.getResultTilePosition(
          b, result.getResultNumber(), toSizes(b, {2, 7, 7}),
          toSizes(b, {1, 5, 5}), begin, extent)));
      for (int64_t axis = 0; axis < whole.getRank(); ++axis) {
        int64_t size = part.getDimSize(axis);
        EXPECT_EQ(getConstantIntValue(extent[axis]), size);
        EXPECT_EQ(getConstantIntValue(begin[axis]), size == 1 && axis == 0 ? 2
                                                    : size == 5            ? 7
                                                                           : 0);
        if (size != 1 && size != 5) {
          EXPECT_EQ(size, whole.getDimSize(axis));
        }
      }
    }
  }
  EXPECT_TRUE(succeeded(verify(*module)));
}

TEST_F(ProducerTiling, APartOfAResultIsThatOfTheLoops) {
  for (TilingInterface op : ops) {
    SCOPED_TRACE(op->getName().getStringRef().str());
    OpBuilder b(op);
    TilingResult byLoops = tile(op);
    for (OpResult result : op->getResults()) {
      SmallVector<OpFoldResult> begin, extent;
      unsigned number = result.getResultNumber();
      (void)op.getResultTilePosition(b, number, toSizes(b, {2, 7, 7}),
                                     toSizes(b, {1, 5, 5}), begin, extent);
      auto byResult = op.generateResultTileValue(b, number, begin, extent);
      ASSERT_TRUE(succeeded(byResult));
      EXPECT_EQ(byResult->tiledValues.front().getType(),
                byLoops.tiledValues[number].getType());
    }
  }
  EXPECT_TRUE(succeeded(verify(*module)));
}

/// Fields, channels and the width are no loops.
TEST_F(ProducerTiling, RefusesAPartOfWhatIsWhole) {
  for (TilingInterface op : ops) {
    if (isa<DistanceOp, WeighOp>(op.getOperation()))
      continue;
    OpBuilder b(op);
    EXPECT_TRUE(failed(op.generateResultTileValue(b, 0, toSizes(b, {2, 7, 0}),
                                                  toSizes(b, {1, 5, 2}))));
  }
}

} // namespace
