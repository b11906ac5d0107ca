//===- PlacePass.cpp - places in shared memory -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/Passes.h"
#include "passes/Tile/Bounds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

namespace raytention {
#define GEN_PASS_DEF_PLACEPASS
#include "passes/Plan/Passes.h.inc"
} // namespace raytention

using namespace mlir;
using namespace raytention;

/// Of every buffer: what the widest access needs.
static constexpr int64_t kAlignment = 16;

static MemRefType toShared(MemRefType type) {
  auto space = gpu::AddressSpaceAttr::get(type.getContext(),
                                          gpu::AddressSpace::Workgroup);
  return MemRefType::Builder(type).setMemorySpace(space);
}

/// Views of shared memory are in shared memory.
static LogicalResult moveViews(Value buffer) {
  for (Operation *user : buffer.getUsers()) {
    if (!llvm::any_of(user->getResultTypes(), llvm::IsaPred<MemRefType>))
      continue;
    if (!isa<ViewLikeOpInterface>(user))
      return user->emitOpError()
             << "hands on a buffer of a block, which has no "
                "place then; expected views at most";
    Value view = user->getResult(0);
    view.setType(toShared(cast<MemRefType>(view.getType())));
    if (failed(moveViews(view)))
      return failure();
  }
  return success();
}

/// Bytes for the largest sizes.
static FailureOr<int64_t> getBytes(memref::AllocOp op) {
  Type element = op.getType().getElementType();
  if (!element.isIntOrFloat())
    return op.emitOpError()
           << "expected floats or integers in shared memory, got " << element;
  int64_t bytes = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  for (OpFoldResult size : op.getMixedSizes()) {
    std::optional<int64_t> bound = getConstantBound(size);
    int64_t product;
    if (!bound ||
        llvm::MulOverflow(bytes, std::max<int64_t>(*bound, 0), product))
      return op.emitOpError()
             << "expected sizes with a constant bound in shared memory, got "
             << op.getType();
    bytes = product;
  }
  return bytes;
}

namespace {

/// A buffer, when it is needed, and where it stands.
struct Placed {
  memref::AllocOp op;
  int64_t bytes, begin, end;
  int64_t offset = 0;
};

/// The buffers of one kernel.
class Placement {
public:
  explicit Placement(gpu::GPUFuncOp kernel) : kernel(kernel), views(kernel) {
    // An op ends behind the last one in its regions.
    int64_t count = 0;
    kernel->walk<WalkOrder::PreOrder>([&](Operation *op) {
      order[op] = {count++, 0};
    });
    kernel->walk([&](Operation *op) {
      int64_t end = order[op].first;
      for (Region &region : op->getRegions())
        for (Operation &inner : region.getOps())
          end = std::max(end, order[&inner].second);
      order[op].second = end;
    });
  }

  /// Bytes in all.
  FailureOr<int64_t> run() {
    WalkResult walked = kernel->walk([&](memref::AllocOp op) {
      return succeeded(place(op)) ? WalkResult::advance()
                                  : WalkResult::interrupt();
    });
    if (walked.wasInterrupted())
      return failure();
    if (!placed.empty() && failed(rewrite()))
      return failure();
    return total;
  }

  int64_t getNumPlaced() const { return placed.size(); }

private:
  LogicalResult place(memref::AllocOp op) {
    FailureOr<int64_t> bytes = getBytes(op);
    if (failed(bytes))
      return failure();
    Placed next{op, *bytes, order[op].first, getLastUse(op)};
    SmallVector<Placed> others;
    for (const Placed &other : placed)
      if (other.end >= next.begin && next.end >= other.begin)
        others.push_back(other);
    llvm::sort(others, [](const Placed &a, const Placed &b) {
      return a.offset < b.offset;
    });
    for (const Placed &other : others)
      if (next.offset + next.bytes > other.offset)
        next.offset = std::max(
            next.offset,
            int64_t(llvm::alignTo(other.offset + other.bytes, kAlignment)));
    total = std::max(total, next.offset + next.bytes);
    placed.push_back(next);
    return success();
  }

  /// Where a buffer is last needed, in its own block: a loop needs it until it
  /// ends.
  int64_t getLastUse(memref::AllocOp op) {
    int64_t last = order[op].second;
    for (Value alias : views.resolve(op))
      for (Operation *user : alias.getUsers())
        if (Operation *here = op->getBlock()->findAncestorOpInBlock(*user))
          last = std::max(last, order[here].second);
    return last;
  }

  LogicalResult rewrite() {
    OpBuilder b(kernel.getContext());
    b.setInsertionPointToStart(&kernel.getBody().front());
    auto type =
        toShared(MemRefType::get({ShapedType::kDynamic}, b.getI8Type()));
    Value shared = gpu::DynamicSharedMemoryOp::create(b, kernel.getLoc(), type);
    for (Placed &buffer : placed) {
      Location loc = buffer.op.getLoc();
      b.setInsertionPoint(buffer.op);
      Value offset = arith::ConstantIndexOp::create(b, loc, buffer.offset);
      Value view =
          memref::ViewOp::create(b, loc, toShared(buffer.op.getType()), shared,
                                 offset, buffer.op.getDynamicSizes());
      buffer.op.replaceAllUsesWith(view);
      buffer.op.erase();
      if (failed(moveViews(view)))
        return failure();
    }
    return success();
  }

  gpu::GPUFuncOp kernel;
  BufferViewFlowAnalysis views;
  llvm::DenseMap<Operation *, std::pair<int64_t, int64_t>> order;
  SmallVector<Placed> placed;
  int64_t total = 0;
};

struct PlacePass : public raytention::impl::PlacePassBase<PlacePass> {
  void runOnOperation() override {
    SymbolTableCollection symbols;
    llvm::DenseMap<Operation *, int64_t> bytes;
    WalkResult walked = getOperation()->walk([&](gpu::GPUFuncOp kernel) {
      Placement placement(kernel);
      FailureOr<int64_t> total = placement.run();
      if (failed(total))
        return WalkResult::interrupt();
      bytes[kernel] = *total;
      numPlaced += placement.getNumPlaced();
      return WalkResult::advance();
    });
    if (walked.wasInterrupted())
      return signalPassFailure();
    getOperation()->walk([&](gpu::LaunchFuncOp launch) {
      Operation *kernel =
          symbols.lookupNearestSymbolFrom(launch, launch.getKernelAttr());
      if (int64_t own = bytes.lookup(kernel))
        setBytes(launch, own);
    });
  }

  static void setBytes(gpu::LaunchFuncOp launch, int64_t bytes) {
    OpBuilder b(launch);
    Value size = arith::ConstantIntOp::create(b, launch.getLoc(), bytes, 32);
    launch.getDynamicSharedMemorySizeMutable().assign(size);
  }
};

} // namespace
