//===- CollectScratchPass.cpp - what passes between loops, in one argument -*-
// C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LlvmCpu/OuterBounds.h"
#include "codegen/LlvmCpu/Passes.h"
#include "codegen/LlvmCpu/WorkspacePlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace raytention {
#define GEN_PASS_DEF_COLLECTSCRATCHPASS
#include "codegen/LlvmCpu/Passes.h.inc"
} // namespace raytention

using namespace mlir;
using namespace raytention;

namespace {

/// The buffers of one function, in order.
class ScratchCollector {
public:
  ScratchCollector(func::FuncOp func, SymbolTable &symbols)
      : func(func), symbols(symbols) {
    func.walk([&](memref::AllocOp op) {
      if (!op->getParentOfType<scf::ForallOp>())
        allocs.push_back(op);
    });
  }

  size_t size() const { return allocs.size(); }

  LogicalResult run() {
    if (allocs.empty())
      return success();
    if (failed(buildSizeFunction()))
      return failure();
    placeBuffers();
    return success();
  }

private:
  /// @NAME_scratch: the same arguments to bytes.
  LogicalResult buildSizeFunction() {
    Location loc = func.getLoc();
    std::string name = (func.getName() + "_scratch").str();
    if (Operation *known = symbols.lookup(name))
      return known->emitOpError(
                 "expected another name than that of the scratch of @")
             << func.getName();
    OpBuilder b(func.getContext());
    auto sizes = func::FuncOp::create(
        loc, name, b.getFunctionType(func.getArgumentTypes(), b.getI64Type()));
    symbols.insert(sizes, std::next(func->getIterator()));
    b = OpBuilder::atBlockBegin(sizes.addEntryBlock());
    IRMapping mapping;
    mapping.map(func.getArguments(), sizes.getArguments());
    Value total = arith::ConstantIndexOp::create(b, loc, 0);
    for (memref::AllocOp alloc : allocs) {
      // The sizes of a copy are those that the arguments give.
      OpBuilder here(getOuterOp(alloc));
      Value bytes = buildBytes(here, loc, alloc);
      FailureOr<Value> cloned = failure();
      if (bytes)
        cloned = cloneSlice(b, bytes, mapping);
      if (failed(cloned))
        return alloc.emitOpError("of ")
               << alloc.getType()
               << " expected sizes that follow from the function's arguments";
      total = buildSum(b, loc, total, *cloned);
    }
    func::ReturnOp::create(
        b, loc,
        ValueRange{arith::IndexCastOp::create(b, loc, b.getI64Type(), total)});
    return success();
  }

  /// Views of one more argument; nothing is left to free.
  void placeBuffers() {
    auto type = MemRefType::get({ShapedType::kDynamic},
                                IntegerType::get(func.getContext(), 8));
    (void)func.insertArgument(func.getNumArguments(), type, {}, func.getLoc());
    Value scratch = func.getArguments().back(), offset;
    for (memref::AllocOp alloc : allocs) {
      OpBuilder here(alloc), outside(getOuterOp(alloc));
      Location loc = alloc.getLoc();
      if (!offset)
        offset = arith::ConstantIndexOp::create(outside, loc, 0);
      Value view = memref::ViewOp::create(here, loc, alloc.getType(), scratch,
                                          offset, alloc.getDynamicSizes());
      offset = buildSum(outside, loc, offset, buildBytes(outside, loc, alloc));
      for (Operation *user : llvm::make_early_inc_range(alloc->getUsers()))
        if (isa<memref::DeallocOp>(user))
          user->erase();
      alloc.replaceAllUsesWith(view);
      alloc.erase();
    }
  }

  /// Where the offset of a slice is computed: in front of the loop that `alloc`
  /// stands in, which may use its slice in every step.
  Operation *getOuterOp(memref::AllocOp alloc) {
    return func.getBody().front().findAncestorOpInBlock(*alloc);
  }

  /// The most bytes of all steps of a loop; null where they are not known.
  Value buildBytes(OpBuilder &b, Location loc, memref::AllocOp alloc) {
    SmallVector<Value> sizes(alloc.getDynamicSizes());
    for (Value &size : sizes)
      if (size = buildOuterBound(b, size, &func.getBody().front()); !size)
        return {};
    return buildSliceBytes(b, loc, alloc, sizes);
  }

  func::FuncOp func;
  SymbolTable &symbols;
  SmallVector<memref::AllocOp> allocs;
};

struct CollectScratchPass
    : public raytention::impl::CollectScratchPassBase<CollectScratchPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (func::FuncOp func :
         llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (func.isExternal() || func.isPrivate() || func.getNumResults() != 0)
        continue;
      ScratchCollector collector(func, symbols);
      if (failed(collector.run()))
        return signalPassFailure();
      numSlices += collector.size();
    }
  }
};

} // namespace
