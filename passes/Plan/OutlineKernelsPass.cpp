//===- OutlineKernelsPass.cpp - parallel loops as kernels -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/LoopBuilder.h"
#include "passes/Plan/Passes.h"
#include "passes/Tile/Schedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

namespace raytention {
#define GEN_PASS_DEF_OUTLINEKERNELSPASS
#include "passes/Plan/Passes.h.inc"
} // namespace raytention

using namespace mlir;
using namespace raytention;

/// What a kernel rather computes itself than is given.
static bool isSunk(Operation *op) {
  return op && isa<arith::ConstantOp, memref::DimOp, memref::SubViewOp,
                   memref::CastOp, arith::IndexCastOp>(op);
}

/// What the kernel is for: its last op on tiles.
static StringRef getPurpose(scf::ForallOp loop) {
  StringRef purpose = "kernel";
  loop.walk([&](Operation *op) {
    if (auto compute = dyn_cast<tile::ComputeOp>(op))
      purpose = compute.getOp()->getName().stripDialect();
    else if (isa<linalg::LinalgOp>(op))
      purpose = op->getName().stripDialect();
  });
  return purpose;
}

namespace {

/// Makes a kernel of one loop.
class Outliner {
public:
  Outliner(scf::ForallOp loop, gpu::GPUModuleOp kernels, int64_t threads)
      : loop(loop), kernels(kernels), threads(threads), b(loop),
        loc(loop.getLoc()) {}

  LogicalResult run() {
    if (loop.getNumResults() > 0)
      return loop.emitOpError() << "expected a loop on buffers";
    if (failed(collect()))
      return failure();
    gpu::GPUFuncOp kernel = buildKernel();
    launch(kernel);
    loop.erase();
    return success();
  }

private:
  /// The loop's bounds and body, and what these stand on.
  LogicalResult collect() {
    llvm::SetVector<Value> used;
    getUsedValuesDefinedAbove(loop.getRegion(), used);
    SmallVector<Range> ranges = getRanges();
    for (auto [dim, range] : llvm::enumerate(ranges)) {
      used.insert_range(getValues({range.offset, range.stride}));
      if (0 < dim && dim + 2 < ranges.size()) // to count through z
        used.insert_range(getValues({range.size}));
    }
    for (Value value : used)
      take(value);
    for (Value value : arguments)
      if (auto type = dyn_cast<MemRefType>(value.getType());
          type && !type.getLayout().isIdentity())
        return loop.emitOpError()
               << "expected buffers that are not views, got " << type;
    return success();
  }

  static SmallVector<Value> getValues(ArrayRef<OpFoldResult> parts) {
    SmallVector<Value> values;
    for (OpFoldResult part : parts)
      if (auto value = dyn_cast<Value>(part))
        values.push_back(value);
    return values;
  }

  void take(Value value) {
    Operation *op = value.getDefiningOp();
    if (!isSunk(op))
      return (void)arguments.insert(value);
    for (Value operand : op->getOperands())
      take(operand);
    sunk.insert(op);
  }

  SmallVector<Range> getRanges() {
    SmallVector<Range> ranges;
    for (auto [lower, upper, step] :
         llvm::zip(loop.getMixedLowerBound(), loop.getMixedUpperBound(),
                   loop.getMixedStep()))
      ranges.push_back({lower, upper, step});
    return ranges;
  }

  gpu::GPUFuncOp buildKernel() {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(&kernels.getBodyRegion().front());
    SmallVector<Type> types(ValueRange(arguments.getArrayRef()).getTypes());
    auto func = loop->getParentOfType<func::FuncOp>();
    auto kernel = gpu::GPUFuncOp::create(
        b, loc, (func.getName() + "_" + getPurpose(loop)).str(),
        b.getFunctionType(types, {}));
    kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
    kernel.setKnownBlockSize(
        SmallVector<int32_t>{static_cast<int32_t>(threads), 1, 1});
    SymbolTable(kernels).insert(kernel);
    b.setInsertionPointToStart(&kernel.getBody().front());
    IRMapping map;
    map.map(arguments.getArrayRef(), kernel.getArguments());
    for (auto [from, to] :
         llvm::zip(arguments.getArrayRef(), kernel.getArguments()))
      to.setLoc(from.getLoc());
    for (Operation *op : sunk)
      b.clone(*op, map);
    mapIterations(map);
    for (Operation &op : loop.getBody()->without_terminator())
      b.clone(op, map);
    gpu::ReturnOp::create(b, loc);
    return kernel;
  }

  /// Iteration i of a dimension is `lower + i step`. The last dimension is x,
  /// the one before y, and z counts through the others.
  void mapIterations(IRMapping &map) {
    LoopBuilder k(b, loc);
    auto get = [&](OpFoldResult part) {
      auto value = dyn_cast<Value>(part);
      return value ? map.lookup(value)
                   : getValueOrCreateConstantIndexOp(b, loc, part);
    };
    SmallVector<Range> ranges = getRanges();
    Value rest;
    for (int64_t dim = ranges.size(); dim-- > 0;) {
      int64_t axis = ranges.size() - 1 - dim;
      Value number = axis < 2 ? getBlock(axis) : rest ? rest : getBlock(2);
      if (axis >= 2 && dim > 0) {
        Value count = countIterations(ranges[dim], get);
        rest = arith::DivUIOp::create(b, loc, number, count);
        number = arith::RemUIOp::create(b, loc, number, count);
      }
      Value step = get(ranges[dim].stride);
      Value at = isOneInteger(ranges[dim].stride)
                     ? number
                     : arith::MulIOp::create(b, loc, number, step).getResult();
      map.map(loop.getInductionVar(dim), k.add(get(ranges[dim].offset), at));
    }
  }

  Value getBlock(int64_t axis) {
    return gpu::BlockIdOp::create(b, loc, static_cast<gpu::Dimension>(axis));
  }

  Value countIterations(const Range &range,
                        llvm::function_ref<Value(OpFoldResult)> get) {
    Value count = get(range.size); // the upper bound
    if (!isZeroInteger(range.offset))
      count = arith::SubIOp::create(b, loc, count, get(range.offset));
    if (!isOneInteger(range.stride))
      count = arith::CeilDivSIOp::create(b, loc, count, get(range.stride));
    return count;
  }

  void launch(gpu::GPUFuncOp kernel) {
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    SmallVector<Value> grid(3, one);
    SmallVector<Range> ranges = getRanges();
    for (auto [number, range] : llvm::enumerate(llvm::reverse(ranges))) {
      Value count = countIterations(range, [&](OpFoldResult part) {
        return getValueOrCreateConstantIndexOp(b, loc, part);
      });
      grid[std::min<size_t>(number, 2)] =
          number < 3
              ? count
              : arith::MulIOp::create(b, loc, grid[2], count).getResult();
    }
    Value block = arith::ConstantIndexOp::create(b, loc, threads);
    gpu::LaunchFuncOp::create(b, loc, kernel, {grid[0], grid[1], grid[2]},
                              {block, one, one}, Value(),
                              arguments.getArrayRef());
  }

  scf::ForallOp loop;
  gpu::GPUModuleOp kernels;
  int64_t threads;
  OpBuilder b;
  Location loc;
  llvm::SetVector<Value> arguments;
  llvm::SetVector<Operation *> sunk;
};

/// Ops on buffers between the loops: each becomes a kernel of one block.
void wrapHostOps(ModuleOp module) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    bool isHost = op->getParentOfType<func::FuncOp>() &&
                  !op->getParentOfType<scf::ForallOp>() &&
                  !op->getParentOfType<tile::ComputeOp>();
    if (isHost && isa<tile::ComputeOp, linalg::FillOp, linalg::ContractOp,
                      memref::CopyOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    OpBuilder b(op);
    SmallVector<OpFoldResult> one = {b.getIndexAttr(1)};
    auto loop =
        scf::ForallOp::create(b, op->getLoc(), one, ValueRange(), std::nullopt);
    op->moveBefore(loop.getTerminator());
  }
}

struct OutlineKernelsPass
    : public raytention::impl::OutlineKernelsPassBase<OutlineKernelsPass> {
  using Base::Base;

  void runOnOperation() override {
    wrapHostOps(getOperation());
    SmallVector<scf::ForallOp> loops;
    getOperation().walk([&](scf::ForallOp op) {
      if (!op->getParentOfType<scf::ForallOp>() &&
          op->getParentOfType<func::FuncOp>())
        loops.push_back(op);
    });
    if (loops.empty())
      return;
    gpu::GPUModuleOp kernels = makeModule();
    for (scf::ForallOp loop : loops) {
      FailureOr<int64_t> count =
          chooseSize(loop->getParentOfType<func::FuncOp>(), "threads", threads,
                     &ScheduleAttr::getThreads);
      if (failed(count) || failed(Outliner(loop, kernels, *count).run()))
        return signalPassFailure();
      ++numKernels;
    }
  }

  /// A module for kernels, under a name that is free.
  gpu::GPUModuleOp makeModule() {
    ModuleOp module = getOperation();
    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                    UnitAttr::get(&getContext()));
    OpBuilder b(&getContext());
    auto kernels = gpu::GPUModuleOp::create(b, module.getLoc(), "kernels");
    SymbolTable(module).insert(kernels);
    return kernels;
  }
};

} // namespace
