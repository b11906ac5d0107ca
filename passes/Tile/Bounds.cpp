//===- Bounds.cpp - sizes and constant bounds of index values ---*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Bounds.h"
#include "dialect/RayTention/RayTention.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace raytention;

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

using Bound = std::optional<int64_t>;

/// `combine` of two bounds; none unless both are known.
static Bound
combineBounds(Operation *op,
              llvm::function_ref<int64_t(int64_t, int64_t)> combine) {
  Bound lhs = getConstantBound(op->getOperand(0));
  Bound rhs = getConstantBound(op->getOperand(1));
  if (!lhs || !rhs)
    return std::nullopt;
  return combine(*lhs, *rhs);
}

/// The smaller of the bounds that are known: a minimum is below either.
static Bound boundMinimum(Operation *op) {
  Bound lhs = getConstantBound(op->getOperand(0));
  Bound rhs = getConstantBound(op->getOperand(1));
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  return std::min(*lhs, *rhs);
}

Bound raytention::getConstantBound(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  auto larger = [](int64_t a, int64_t b) { return std::max(a, b); };
  return llvm::TypeSwitch<Operation *, Bound>(op)
      .Case([](arith::MinSIOp op) { return boundMinimum(op); })
      .Case([&](arith::MaxSIOp op) { return combineBounds(op, larger); })
      .Case([](arith::AddIOp op) {
        return combineBounds(op, [](int64_t a, int64_t b) { return a + b; });
      })
      .Case([](arith::IndexCastOp op) { return getConstantBound(op.getIn()); })
      .Case([&](arith::SelectOp op) -> Bound {
        Bound lhs = getConstantBound(op.getTrueValue());
        Bound rhs = getConstantBound(op.getFalseValue());
        return lhs && rhs ? Bound(larger(*lhs, *rhs)) : std::nullopt;
      })
      .Default([](Operation *) -> Bound { return std::nullopt; });
}

Bound raytention::getConstantBound(OpFoldResult size) {
  if (auto attr = dyn_cast_if_present<Attribute>(size))
    return cast<IntegerAttr>(attr).getInt();
  auto value = dyn_cast_if_present<Value>(size);
  return value ? getConstantBound(value) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// The size operand of a slice that stands for `axis` of its result.
static OpFoldResult findSliceSize(tensor::ExtractSliceOp op, int64_t axis) {
  llvm::SmallBitVector dropped = op.getDroppedDims();
  for (auto [dim, size] : llvm::enumerate(op.getMixedSizes()))
    if (!dropped.test(dim) && axis-- == 0)
      return size;
  return {};
}

/// The size operand of an initial state along `axis`.
static OpFoldResult findInitSize(InitOp op, int64_t axis) {
  SmallVector<Value> sizes = {op.getBatch(), op.getRows()};
  if (op.getParts())
    sizes.insert(sizes.begin() + 1, op.getParts());
  return axis < static_cast<int64_t>(sizes.size()) ? OpFoldResult(sizes[axis])
                                                   : OpFoldResult();
}

static OpFoldResult findProducedSize(OpResult result, int64_t axis);

OpFoldResult raytention::resolveSize(OpFoldResult size) {
  auto value = dyn_cast_if_present<Value>(size);
  auto dim = value ? value.getDefiningOp<tensor::DimOp>() : tensor::DimOp();
  std::optional<int64_t> axis = dim ? dim.getConstantIndex() : std::nullopt;
  if (!axis || !isa<RankedTensorType>(dim.getSource().getType()))
    return size;
  OpFoldResult source = findSize(dim.getSource(), *axis);
  return source ? source : size;
}

OpFoldResult raytention::findSize(Value tensor, int64_t axis) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(axis))
    return IntegerAttr::get(IndexType::get(type.getContext()),
                            type.getDimSize(axis));
  if (auto arg = dyn_cast<BlockArgument>(tensor)) {
    auto loop = dyn_cast<LoopLikeOpInterface>(arg.getOwner()->getParentOp());
    OpOperand *init = loop ? loop.getTiedLoopInit(arg) : nullptr;
    return init ? findSize(init->get(), axis) : OpFoldResult();
  }
  return resolveSize(findProducedSize(cast<OpResult>(tensor), axis));
}

/// The axis of an operand that an axis of a result is as large as.
static std::pair<Value, int64_t> getModel(OpResult result, int64_t axis) {
  using Model = std::pair<Value, int64_t>;
  Operation *op = result.getOwner();
  auto withoutChannels = [&](Value pairs) {
    return Model(pairs, axis == 0 ? 0 : axis - 1);
  };
  return llvm::TypeSwitch<Operation *, Model>(op)
      .Case([&](tensor::CastOp op) { return Model(op.getSource(), axis); })
      .Case([&](LookupOp op) { return Model(op.getIndices(), axis); })
      .Case([&](DistanceOp op) {
        return axis < 2 ? Model(op.getQueries(), axis) : Model(op.getKeys(), 1);
      })
      .Case([&](WeighOp op) { return withoutChannels(op.getDistances()); })
      .Case([&](GradRowsOp op) {
        return result == op.getStack() ? withoutChannels(op.getSignals())
                                       : Model(op.getSignals(), axis);
      })
      .Case([&](WeighGradOp op) {
        return result == op.getWeights() ? withoutChannels(op.getDistances())
                                         : Model(op.getDistances(), axis);
      })
      .Case([&](MergeOp op) {
        Value partial = op->getOperand(result.getResultNumber());
        return Model(partial, axis == 0 ? 0 : axis + 1);
      })
      .Case([&](scf::ForallOp op) {
        return Model(op.getTiedOpOperand(result)->get(), axis);
      })
      .Case([&](LoopLikeOpInterface op) {
        OpOperand *init = op.getTiedLoopInit(result);
        return Model(init ? init->get() : Value(), axis);
      })
      .Case([&](DestinationStyleOpInterface op) {
        return Model(op.getTiedOpOperand(result)->get(), axis);
      })
      .Default([](Operation *) { return Model(); });
}

static OpFoldResult findProducedSize(OpResult result, int64_t axis) {
  return llvm::TypeSwitch<Operation *, OpFoldResult>(result.getOwner())
      .Case([&](tensor::ExtractSliceOp op) { return findSliceSize(op, axis); })
      .Case([&](tensor::EmptyOp op) { return op.getMixedSizes()[axis]; })
      .Case([&](InitOp op) { return findInitSize(op, axis); })
      .Default([&](Operation *) {
        auto [model, own] = getModel(result, axis);
        return model ? findSize(model, own) : OpFoldResult();
      });
}

OpFoldResult raytention::getSize(OpBuilder &b, Location loc, Value tensor,
                                 int64_t axis) {
  if (OpFoldResult size = findSize(tensor, axis))
    return size;
  // Asked of the operand that the producer took it from: a size read off a
  // result would keep the producer alive.
  if (auto result = dyn_cast<OpResult>(tensor))
    if (auto [model, own] = getModel(result, axis); model)
      return getSize(b, loc, model, own);
  return tensor::getMixedSize(b, loc, tensor, axis);
}

namespace {
/// What a size was read off: a size that the code names, or an axis of a tensor
/// that is made from no other.
struct SizeOrigin {
  OpFoldResult named = {};
  Value tensor = {};
  int64_t axis = 0;

  bool operator==(const SizeOrigin &other) const {
    if (tensor || other.tensor)
      return tensor == other.tensor && axis == other.axis;
    return isEqualConstantIntOrValue(named, other.named);
  }
};
} // namespace

static SizeOrigin findOrigin(OpFoldResult size);

static SizeOrigin findOrigin(Value tensor, int64_t axis) {
  if (OpFoldResult known = findSize(tensor, axis))
    return findOrigin(known);
  auto result = dyn_cast<OpResult>(tensor);
  auto [model, own] =
      result ? getModel(result, axis) : std::pair<Value, int64_t>();
  return model ? findOrigin(model, own) : SizeOrigin{{}, tensor, axis};
}

static SizeOrigin findOrigin(OpFoldResult size) {
  auto value = dyn_cast<Value>(size);
  auto dim = value ? value.getDefiningOp<tensor::DimOp>() : tensor::DimOp();
  std::optional<int64_t> axis = dim ? dim.getConstantIndex() : std::nullopt;
  if (!axis || !isa<RankedTensorType>(dim.getSource().getType()))
    return {size};
  return findOrigin(dim.getSource(), *axis);
}

bool raytention::isSameSize(OpFoldResult lhs, OpFoldResult rhs) {
  return findOrigin(lhs) == findOrigin(rhs);
}

bool raytention::isSizeOf(OpFoldResult size, Value tensor, int64_t axis) {
  return findOrigin(size) == findOrigin(tensor, axis);
}

OpFoldResult raytention::getTypedSize(OpBuilder &b, Location loc, Value tensor,
                                      int64_t axis) {
  OpFoldResult size = getSize(b, loc, tensor, axis);
  if (cast<RankedTensorType>(tensor.getType()).isDynamicDim(axis))
    return getValueOrCreateConstantIndexOp(b, loc, size);
  return size;
}

OpFoldResult raytention::addOffsets(OpBuilder &b, Location loc,
                                    OpFoldResult lhs, OpFoldResult rhs) {
  if (isZeroInteger(lhs))
    return rhs;
  if (isZeroInteger(rhs))
    return lhs;
  return arith::AddIOp::create(b, loc,
                               getValueOrCreateConstantIndexOp(b, loc, lhs),
                               getValueOrCreateConstantIndexOp(b, loc, rhs))
      .getResult();
}

Value raytention::makeFunctionConstant(OpBuilder &b, Location loc,
                                       int64_t value) {
  OpBuilder::InsertionGuard guard(b);
  Operation *parent = b.getInsertionBlock()->getParentOp();
  auto func = dyn_cast<FunctionOpInterface>(parent);
  if (!func)
    func = parent->getParentOfType<FunctionOpInterface>();
  b.setInsertionPointToStart(&func.getFunctionBody().front());
  return arith::ConstantIndexOp::create(b, loc, value);
}
