//===- DistributeThreadsPass.cpp - loops over threads as strides -*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace raytention {
#define GEN_PASS_DEF_DISTRIBUTETHREADSPASS
#include "passes/Plan/Passes.h.inc"
} // namespace raytention

using namespace mlir;
using namespace raytention;

namespace {

class Distributor {
public:
  Distributor(scf::ForallOp loop, int64_t threads)
      : loop(loop), threads(threads), b(loop.getContext()), loc(loop.getLoc()) {
    b.setInsertionPoint(loop);
  }

  void run() {
    for (OpFoldResult size : loop.getMixedUpperBound())
      if (!isOneInteger(size))
        sizes.push_back(getValueOrCreateConstantIndexOp(b, loc, size));
    Value count = sizes.empty() ? makeIndex(1) : sizes.front();
    for (Value size : llvm::drop_begin(sizes, sizes.empty() ? 0 : 1))
      count = arith::MulIOp::create(b, loc, count, size);
    Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
    auto strided =
        scf::ForOp::create(b, loc, thread, count, makeIndex(threads));
    b.setInsertionPointToStart(strided.getBody());
    SmallVector<Value> point = getPoint(strided.getInductionVar());
    loop.getTerminator()->erase();
    b.inlineBlockBefore(loop.getBody(), strided.getBody()->getTerminator(),
                        point);
    b.setInsertionPointAfter(strided);
    gpu::BarrierOp::create(b, loc);
    b.eraseOp(loop);
  }

private:
  Value makeIndex(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }

  /// The coordinates of the n-th point, the last dimension fastest; those of
  /// size 1 are 0.
  SmallVector<Value> getPoint(Value number) {
    SmallVector<Value> rest;
    for (size_t dim = sizes.size(); dim-- > 1;) {
      rest.push_back(arith::RemUIOp::create(b, loc, number, sizes[dim]));
      number = arith::DivUIOp::create(b, loc, number, sizes[dim]);
    }
    rest.push_back(number);
    SmallVector<Value> point;
    for (OpFoldResult size : loop.getMixedUpperBound())
      point.push_back(isOneInteger(size) ? makeIndex(0) : rest.pop_back_val());
    return point;
  }

  scf::ForallOp loop;
  int64_t threads;
  IRRewriter b;
  Location loc;
  SmallVector<Value> sizes;
};

struct DistributeThreadsPass
    : public raytention::impl::DistributeThreadsPassBase<
          DistributeThreadsPass> {
  void runOnOperation() override {
    gpu::GPUFuncOp kernel = getOperation();
    std::optional<ArrayRef<int32_t>> block = kernel.getKnownBlockSize();
    SmallVector<scf::ForallOp> loops;
    kernel->walk([&](scf::ForallOp op) { loops.push_back(op); });
    for (scf::ForallOp loop : loops) {
      if (failed(check(loop)))
        return signalPassFailure();
      if (!block) {
        kernel.emitOpError() << "expected a known block size";
        return signalPassFailure();
      }
      Distributor(loop, block->front()).run();
      ++numLoops;
    }
  }

  static LogicalResult check(scf::ForallOp loop) {
    bool isPlain = llvm::all_of(loop.getMixedLowerBound(), isZeroInteger) &&
                   llvm::all_of(loop.getMixedStep(), isOneInteger);
    if (!isPlain || loop.getNumResults() > 0 ||
        loop->getParentOfType<scf::ForallOp>())
      return loop.emitOpError() << "expected a loop over threads on buffers, "
                                   "from 0 by steps of 1, in no other one";
    return success();
  }
};

} // namespace
