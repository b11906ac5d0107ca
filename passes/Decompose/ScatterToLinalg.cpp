//===- ScatterToLinalg.cpp - rt.scatter_add as loops ------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Decompose/GenericBuilder.h"
#include "passes/Decompose/Passes.h"
#include "passes/Decompose/ToLinalgPatterns.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace raytention;

namespace {

/// `B * N * D` additions in order of batch and position: two rows may go to one
/// index, so the loops carry the table, which bufferizes in place.
struct LowerScatterAdd : public OpRewritePattern<ScatterAddOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ScatterAddOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<Value> counters;
    Value table = buildLoops(op, rewriter, op.getInit(), counters);
    rewriter.replaceOp(op, table);
    return success();
  }

private:
  /// The loops over the axes of the rows from number `counters.size()` on.
  Value buildLoops(ScatterAddOp op, OpBuilder &builder, Value table,
                   SmallVector<Value> &counters) const {
    Location loc = op.getLoc();
    if (counters.size() == 3)
      return addElement(op, builder, table, counters);
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    Value size =
        tensor::DimOp::create(builder, loc, op.getRows(), counters.size());
    auto loop = scf::ForOp::create(
        builder, loc, zero, size, one, table,
        [&](OpBuilder &b, Location loc, Value counter, ValueRange carried) {
          counters.push_back(counter);
          Value next = buildLoops(op, b, carried[0], counters);
          scf::YieldOp::create(b, loc, next);
        });
    return loop.getResult(0);
  }

  /// `table[(b,) indices[b, n], d] += rows[b, n, d]`.
  Value addElement(ScatterAddOp op, OpBuilder &b, Value table,
                   ArrayRef<Value> counters) const {
    Location loc = op.getLoc();
    Value index = tensor::ExtractOp::create(b, loc, op.getIndices(),
                                            counters.take_front(2));
    SmallVector<Value> at = {
        arith::IndexCastOp::create(b, loc, b.getIndexType(), index),
        counters[2]};
    if (cast<RankedTensorType>(table.getType()).getRank() == 3)
      at.insert(at.begin(), counters[0]);
    Value row = tensor::ExtractOp::create(b, loc, op.getRows(), counters);
    Value old = tensor::ExtractOp::create(b, loc, table, at);
    Value sum = arith::AddFOp::create(b, loc, old, row);
    return tensor::InsertOp::create(b, loc, sum, table, at);
  }
};

} // namespace

void raytention::populateScatterToLinalg(RewritePatternSet &patterns) {
  patterns.add<LowerScatterAdd>(patterns.getContext());
}
