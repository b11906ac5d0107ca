//===- ExpandProducts.cpp - products and copies as element code -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/ExpandOps.h"
#include "passes/Plan/ThreadLoops.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace raytention;

/// The arithmetic's type of an op that writes `buffer`.
static Type getElement(Value buffer) {
  return getElementTypeOrSelf(buffer.getType());
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

LogicalResult raytention::expandLookup(OpBuilder &b, tile::ComputeOp compute,
                                       LookupOp op) {
  Value table = compute.getBuffer(op.getTable());
  Value ids = compute.getBuffer(op.getIndices());
  Value out = compute.getResultBuffer(0);
  ThreadLoops k(b, op.getLoc(), getElement(out));
  bool perBatch = cast<MemRefType>(table.getType()).getRank() == 3;
  k.forEach(k.sizesOf(out), [&](ValueRange at) {
    Value id = k.loadIndex(ids, {at[0], at[1]});
    SmallVector<Value> place = {id, at[2]};
    if (perBatch)
      place.insert(place.begin(), at[0]);
    k.store(k.loadFloat(table, place), out, at);
  });
  return success();
}

LogicalResult raytention::expandFill(OpBuilder &b, linalg::FillOp op) {
  Value out = op.getOutputs().front();
  ThreadLoops k(b, op.getLoc(), b.getF32Type());
  k.forEach(k.sizesOf(out),
            [&](ValueRange at) { k.store(op.getInputs().front(), out, at); });
  return success();
}

LogicalResult raytention::expandCopy(OpBuilder &b, memref::CopyOp op) {
  ThreadLoops k(b, op.getLoc(), b.getF32Type());
  k.forEach(k.sizesOf(op.getTarget()), [&](ValueRange at) {
    k.store(k.load(op.getSource(), at), op.getTarget(), at);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Distances are sums of squared differences, near pairs and far ones alike: no
/// digits are lost, and both precisions are met.
LogicalResult raytention::expandDistance(OpBuilder &b, tile::ComputeOp compute,
                                         DistanceOp op) {
  Value queries = compute.getBuffer(op.getQueries());
  Value keys = compute.getBuffer(op.getKeys());
  Value out = compute.getResultBuffer(0);
  ThreadLoops k(b, op.getLoc(), getElement(out));
  Value width = k.size(queries, 2);
  k.forEach(k.sizesOf(out), [&](ValueRange at) {
    Value square = k.sum(width, [&](Value d) {
      Value difference = k.e.sub(k.loadFloat(queries, {at[0], at[1], d}),
                                 k.loadFloat(keys, {at[0], at[2], d}));
      return k.e.mul(difference, difference);
    });
    bool isRoot = op.getMetric() == Metric::L2;
    k.store(isRoot ? k.e.sqrt(square) : square, out, at);
  });
  return success();
}

namespace {

/// A product by its maps: a thread has one element of the result.
class Contraction {
public:
  Contraction(OpBuilder &b, linalg::ContractOp op)
      : op(op), maps(op.getIndexingMapsArray()),
        buffers({op.getInputs()[0], op.getInputs()[1], op.getOutputs()[0]}),
        k(b, op.getLoc(), getElement(buffers[2])) {}

  void expand() {
    k.forEach(k.sizesOf(buffers[2]), [&](ValueRange at) {
      point.assign(maps[2].getNumDims(), Value());
      for (auto [axis, value] : llvm::enumerate(at))
        point[maps[2].getDimPosition(axis)] = value;
      SmallVector<int64_t> summed;
      for (auto [loop, value] : llvm::enumerate(point))
        if (!value)
          summed.push_back(loop);
      Value old = k.load(buffers[2], at);
      k.store(k.e.add(old, sumOver(summed)), buffers[2], at);
    });
  }

private:
  Value sumOver(ArrayRef<int64_t> loops) {
    if (loops.empty())
      return k.e.mul(loadInput(0), loadInput(1));
    return k.sum(sizeOf(loops.front()), [&](Value i) {
      point[loops.front()] = i;
      return sumOver(loops.drop_front());
    });
  }

  Value loadInput(int number) {
    SmallVector<Value> at;
    for (AffineExpr expr : maps[number].getResults())
      at.push_back(point[cast<AffineDimExpr>(expr).getPosition()]);
    return k.loadFloat(buffers[number], at);
  }

  Value sizeOf(int64_t loop) {
    AffineExpr dim = getAffineDimExpr(loop, op.getContext());
    for (auto [map, buffer] : llvm::zip(maps, buffers))
      if (std::optional<unsigned> axis = map.getResultPosition(dim))
        return k.size(buffer, *axis);
    llvm_unreachable("every loop of a contraction indexes an operand");
  }

  linalg::ContractOp op;
  SmallVector<AffineMap> maps;
  SmallVector<Value> buffers;
  ThreadLoops k;
  SmallVector<Value> point; ///< by loop
};

} // namespace

LogicalResult raytention::expandContract(OpBuilder &b, linalg::ContractOp op) {
  Contraction(b, op).expand();
  return success();
}
