//===- WorkspacePlan.cpp - allocations of a task as slices of one buffer -*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LlvmCpu/WorkspacePlan.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace raytention;

/// The size that the op of `dim` asks for where it allocates its source.
static FailureOr<OpFoldResult> foldDim(memref::DimOp dim) {
  std::optional<int64_t> index = dim.getConstantIndex();
  auto alloc = dim.getSource().getDefiningOp<memref::AllocOp>();
  if (!index || !alloc)
    return failure();
  return alloc.getMixedSizes()[*index];
}

FailureOr<Value> raytention::cloneSlice(OpBuilder &builder, Value value,
                                        IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!op)
    return failure();
  if (auto dim = dyn_cast<memref::DimOp>(op))
    if (FailureOr<OpFoldResult> size = foldDim(dim); succeeded(size)) {
      if (auto source = dyn_cast<Value>(*size))
        return cloneSlice(builder, source, mapping);
      return arith::ConstantIndexOp::create(
                 builder, op->getLoc(),
                 cast<IntegerAttr>(cast<Attribute>(*size)).getInt())
          .getResult();
    }
  if (op->getNumRegions() != 0 || !isMemoryEffectFree(op))
    return failure();
  for (Value operand : op->getOperands()) {
    FailureOr<Value> cloned = cloneSlice(builder, operand, mapping);
    if (failed(cloned))
      return failure();
    mapping.map(operand, *cloned);
  }
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

/// Whether a loop or branch hands `buffer` or a view of it out of its block.
static bool leavesBlock(Value buffer, Block *block) {
  return llvm::any_of(buffer.getUsers(), [&](Operation *user) {
    if (user->hasTrait<OpTrait::IsTerminator>() && user->getBlock() == block)
      return true;
    auto view = dyn_cast<ViewLikeOpInterface>(user);
    return view && leavesBlock(user->getResult(0), block);
  });
}

static LogicalResult checkAlloc(memref::AllocOp alloc) {
  MemRefType type = alloc.getType();
  if (!type.getLayout().isIdentity() || type.getMemorySpace())
    return alloc.emitOpError("in a parallel loop expected no layout and no "
                             "memory space, got ")
           << type;
  if (alloc.getAlignment().value_or(1) > kSliceAlignment)
    return alloc.emitOpError("in a parallel loop expected at most ")
           << kSliceAlignment << " bytes of alignment, got "
           << *alloc.getAlignment();
  if (leavesBlock(alloc, alloc->getBlock()))
    return alloc.emitOpError(
        "in a parallel loop expected to stay in its block, got handed out of "
        "it by a terminator");
  return success();
}

/// Everything outside of `forall` stands for itself.
static void mapOutsideValues(scf::ForallOp forall, Value value,
                             IRMapping &mapping) {
  Operation *op = value.getDefiningOp();
  Region *region = op ? op->getParentRegion() : value.getParentRegion();
  if (!forall.getRegion().isAncestor(region)) {
    mapping.map(value, value);
    return;
  }
  if (op)
    for (Value operand : op->getOperands())
      mapOutsideValues(forall, operand, mapping);
}

static LogicalResult hoistSizes(scf::ForallOp forall, memref::AllocOp alloc) {
  OpBuilder builder(forall);
  for (OpOperand &operand : alloc->getOpOperands()) {
    IRMapping mapping;
    mapOutsideValues(forall, operand.get(), mapping);
    FailureOr<Value> size = cloneSlice(builder, operand.get(), mapping);
    if (failed(size))
      return alloc.emitOpError("of ")
             << alloc.getType()
             << " in a parallel loop expected sizes that are known before the "
                "loop, got one computed in it";
    operand.set(*size);
  }
  return success();
}

FailureOr<WorkspacePlan> WorkspacePlan::create(scf::ForallOp forall) {
  WorkspacePlan plan;
  WalkResult result = forall.walk([&](Operation *op) {
    if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
      if (failed(checkAlloc(alloc)) || failed(hoistSizes(forall, alloc)))
        return WalkResult::interrupt();
      plan.allocs.push_back(alloc);
    }
    if (auto dealloc = dyn_cast<memref::DeallocOp>(op)) {
      if (!dealloc.getMemref().getDefiningOp<memref::AllocOp>()) {
        dealloc.emitOpError("in a parallel loop expected the result of a "
                            "memref.alloc, got another buffer");
        return WalkResult::interrupt();
      }
      plan.deallocs.push_back(dealloc);
    }
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  return plan;
}

/// Sizes and bytes at run time: numbers without a sign that stay at kMostBytes
/// where they would pass it, which is beyond every cap. What is constant is
/// computed here.
static constexpr uint64_t kMostBytes = llvm::alignDown(
    uint64_t(std::numeric_limits<int64_t>::max()), uint64_t(kSliceAlignment));

static Value makeBytes(OpBuilder &builder, Location loc, uint64_t bytes) {
  return arith::ConstantIndexOp::create(
      builder, loc, static_cast<int64_t>(std::min(bytes, kMostBytes)));
}

static std::optional<uint64_t> getConstantBytes(Value bytes) {
  APInt value;
  if (!matchPattern(bytes, m_ConstantInt(&value)))
    return std::nullopt;
  return value.getZExtValue();
}

static Value buildProduct(OpBuilder &builder, Location loc, Value bytes,
                          Value size) {
  std::optional<uint64_t> lhs = getConstantBytes(bytes);
  std::optional<uint64_t> rhs = getConstantBytes(size);
  if (lhs && rhs)
    return makeBytes(builder, loc, llvm::SaturatingMultiply(*lhs, *rhs));
  auto product = arith::MulUIExtendedOp::create(builder, loc, bytes, size);
  Value zero = makeBytes(builder, loc, 0);
  Value fits = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                     product.getHigh(), zero);
  Value most = makeBytes(builder, loc, kMostBytes);
  Value low = arith::MinUIOp::create(builder, loc, product.getLow(), most);
  return arith::SelectOp::create(builder, loc, fits, low, most);
}

/// Both are at most kMostBytes: their sum does not wrap around.
Value raytention::buildSum(OpBuilder &builder, Location loc, Value lhs,
                           Value rhs) {
  Value sum = builder.createOrFold<arith::AddIOp>(loc, lhs, rhs);
  return builder.createOrFold<arith::MinUIOp>(
      loc, sum, makeBytes(builder, loc, kMostBytes));
}

Value raytention::buildSliceBytes(OpBuilder &builder, Location loc,
                                  memref::AllocOp alloc) {
  return buildSliceBytes(builder, loc, alloc, alloc.getDynamicSizes());
}

Value raytention::buildSliceBytes(OpBuilder &builder, Location loc,
                                  memref::AllocOp alloc, ValueRange sizes) {
  MemRefType type = alloc.getType();
  uint64_t fixed =
      DataLayout::closest(alloc).getTypeSize(type.getElementType());
  for (int64_t size : type.getShape())
    if (!ShapedType::isDynamic(size))
      fixed = llvm::SaturatingMultiply(fixed, static_cast<uint64_t>(size));
  Value bytes = makeBytes(builder, loc, fixed);
  for (Value size : sizes)
    bytes = buildProduct(builder, loc, bytes, size);
  bytes = builder.createOrFold<arith::AddIOp>(
      loc, bytes, makeBytes(builder, loc, kSliceAlignment - 1));
  Value alignment = makeBytes(builder, loc, kSliceAlignment);
  bytes = builder.createOrFold<arith::DivUIOp>(loc, bytes, alignment);
  return builder.createOrFold<arith::MulIOp>(loc, bytes, alignment);
}

Value WorkspacePlan::buildBytes(OpBuilder &builder, Location loc) const {
  Value bytes = makeBytes(builder, loc, 0);
  for (memref::AllocOp alloc : allocs)
    bytes = buildSum(builder, loc, bytes, buildSliceBytes(builder, loc, alloc));
  return bytes;
}

/// The pointer as a memref of `bytes` bytes.
static Value wrapPointer(OpBuilder &builder, Location loc, Value pointer,
                         Value bytes) {
  LLVMTypeConverter converter(builder.getContext());
  auto type = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
  auto constant = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(builder, loc,
                                    builder.getI64IntegerAttr(value));
  };
  Value size = UnrealizedConversionCastOp::create(builder, loc,
                                                  builder.getI64Type(), bytes)
                   .getResult(0);
  Value descriptor = MemRefDescriptor::pack(
      builder, loc, converter, type,
      {pointer, pointer, constant(0), size, constant(1)});
  return UnrealizedConversionCastOp::create(builder, loc, type, descriptor)
      .getResult(0);
}

void WorkspacePlan::place(OpBuilder &builder, Location loc,
                          Value workspace) const {
  if (empty())
    return;
  Value buffer = wrapPointer(builder, loc, workspace, buildBytes(builder, loc));
  Value offset = arith::ConstantIndexOp::create(builder, loc, 0);
  for (memref::AllocOp alloc : allocs) {
    Value next = buildSum(builder, loc, offset,
                          buildSliceBytes(builder, alloc.getLoc(), alloc));
    Value view =
        memref::ViewOp::create(builder, alloc.getLoc(), alloc.getType(), buffer,
                               offset, alloc.getDynamicSizes());
    alloc.replaceAllUsesWith(view);
    offset = next;
  }
  // Only now: the builder may stand in front of one of them.
  for (memref::DeallocOp dealloc : deallocs)
    dealloc->erase();
  for (memref::AllocOp alloc : allocs)
    alloc->erase();
}
