//===- ExpandFinalize.cpp - the finish of rows as element code -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/elements/RowFinish.h"
#include "passes/Plan/ExpandOps.h"
#include "passes/Plan/ThreadLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace raytention;

using Values = SmallVector<Value>;

/// Partial sums of a row's squares: threads that share a row.
static constexpr int64_t kParts = 32;

namespace {

/// First a thread per row finishes its channels, then threads write the
/// signals, sum their squares and divide by the norm. What the first hand on
/// stands in shared memory.
class Finish {
public:
  Finish(OpBuilder &b, tile::ComputeOp compute, FinalizeOp op)
      : op(op), compute(compute), signals(compute.getResultBuffer(0)),
        norm(compute.getResultBuffer(1)), indices(compute.getResultBuffer(2)),
        k(b, op.getLoc(), getElementTypeOrSelf(signals.getType())),
        layout(SweepLayout::get(op.getSweepChannels())
                   .with(SweepKind::Reduce, op.getReduceChannelsAttr())),
        saved(GradientLayout::get(op.getChannels())),
        params(k.loadParameters(buffer(op.getTau()), buffer(op.getGammas()))),
        sums(buffer(op.getSums())), rows(k.sizesOf(norm)) {
    params.origin = op.getDecayOrigin();
    if (op.getLogSums())
      logSums = compute.getResultBuffer(3);
    width = cast<MemRefType>(sums.getType()).getDimSize(3);
  }

  void expand() {
    factors = allocate(layout.numWeighted);
    k.forEach(rows, [&](ValueRange row) {
      k.ifElse(
          isPresent(row), [&] { finishRow(row); }, [&] { clearRow(row); });
    });
    forEachChannel([&](const ChannelSlots &slot, int64_t begin, int64_t copy) {
      ChannelInterface channel = slot.channel;
      if (channel.getForm() != ChannelForm::Scalar)
        writeWide(slot, begin, copy);
    });
    normalize();
  }

private:
  Value buffer(Value operand) {
    return operand ? compute.getBuffer(operand) : Value();
  }
  Value allocate(int64_t fields) {
    SmallVector<OpFoldResult> sizes = rows;
    sizes.push_back(k.b.getIndexAttr(fields));
    return k.allocate(sizes);
  }
  Values at(ValueRange row, int64_t field) {
    return {row[0], row[1], k.index(field)};
  }

  /// Visits the channels with their first column and, where they copy, number.
  void forEachChannel(
      llvm::function_ref<void(const ChannelSlots &, int64_t, int64_t)> body) {
    int64_t begin = 0, copy = 0;
    for (Attribute attr : op.getChannels()) {
      const ChannelSlots &slot = *layout.find(attr);
      ChannelInterface channel = slot.channel;
      body(slot, begin, copy);
      begin += getChannelWidth(channel, width);
      copy += channel.getForm() == ChannelForm::Copy;
    }
  }

  Value getLast(Value entry) {
    Value length = op.getLengths()
                       ? k.loadIndex(buffer(op.getLengths()), {entry})
                       : k.size(buffer(op.getIds()), 1);
    return k.add(length, -1);
  }
  Value isPresent(ValueRange row) {
    return arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::sle,
                                 k.add(op.getRow(), row[1]), getLast(row[0]));
  }

  void finishRow(ValueRange row) {
    BufferState score(k, buffer(op.getScoreFloats()),
                      buffer(op.getScorePositions()), row);
    BufferState reduce(k, buffer(op.getReduceFloats()),
                       buffer(op.getReducePositions()), row);
    RowFinish finish(k.e, layout, params, score, reduce,
                     k.toI32(k.add(op.getRow(), row[1])),
                     k.toI32(getLast(row[0])));
    forEachChannel([&](const ChannelSlots &slot, int64_t begin, int64_t copy) {
      ChannelInterface channel = slot.channel;
      Value value = finish.finish(slot);
      if (channel.getForm() == ChannelForm::Weighted)
        k.store(value, factors, at(row, slot.weightSlot));
      else if (channel.getForm() == ChannelForm::Copy)
        k.store(value, indices, at(row, copy));
      else
        k.store(value, signals, at(row, begin));
    });
    if (logSums)
      for (auto [field, value] : llvm::enumerate(finish.getSaved(saved)))
        k.store(value, logSums, at(row, field));
  }

  /// A row beyond its sequence: zeros, and no key.
  void clearRow(ValueRange row) {
    Value zero = k.e.constant(0);
    forEachChannel([&](const ChannelSlots &slot, int64_t begin, int64_t copy) {
      ChannelInterface channel = slot.channel;
      if (channel.getForm() == ChannelForm::Weighted)
        k.store(zero, factors, at(row, slot.weightSlot));
      else if (channel.getForm() == ChannelForm::Copy)
        k.store(k.e.intConstant(-1), indices, at(row, copy));
      else
        k.store(zero, signals, at(row, begin));
    });
    if (logSums)
      for (int64_t field = 0; field < saved.numSaved; ++field)
        k.store(zero, logSums, at(row, field));
  }

  /// x of a channel that is as wide as a key.
  void writeWide(const ChannelSlots &slot, int64_t begin, int64_t copy) {
    ChannelInterface channel = slot.channel;
    SmallVector<OpFoldResult> sizes = rows;
    sizes.push_back(k.b.getIndexAttr(width));
    k.forEach(sizes, [&](ValueRange point) {
      ValueRange row = point.take_front(2);
      Value x = channel.getForm() == ChannelForm::Weighted
                    ? getSum(slot, row, point[2])
                    : getKey(copy, row, point[2]);
      Value none = k.e.constant(0);
      Value value = k.e.select(isPresent(row), x, none);
      k.store(value, signals, {row[0], row[1], k.add(point[2], begin)});
    });
  }
  Value getSum(const ChannelSlots &slot, ValueRange row, Value column) {
    Value sum =
        k.load(sums, {row[0], k.index(slot.weightSlot), row[1], column});
    return k.e.mul(sum, k.load(factors, at(row, slot.weightSlot)));
  }
  Value getKey(int64_t copy, ValueRange row, Value column) {
    Value position = k.load(indices, at(row, copy));
    Value safe = k.e.select(k.e.intLess(position, k.e.intConstant(0)),
                            k.e.intConstant(0), position);
    Value id = k.loadIndex(buffer(op.getIds()), {row[0], k.toIndex(safe)});
    return k.loadFloat(buffer(op.getTable()), {id, column});
  }

  void normalize() {
    Value columns = k.size(signals, 2);
    Value parts = allocate(kParts), scales = allocate(1);
    SmallVector<OpFoldResult> sizes = rows;
    sizes.push_back(k.b.getIndexAttr(kParts));
    k.forEach(sizes, [&](ValueRange part) {
      k.store(sumSquares(part, columns), parts, part);
    });
    k.forEach(rows, [&](ValueRange row) {
      Value root = k.e.sqrt(k.sum(k.index(kParts), [&](Value part) {
        return k.load(parts, {row[0], row[1], part});
      }));
      k.store(root, norm, row);
      Value floor = k.e.constant(kNormFloor);
      k.store(k.e.div(k.e.constant(1), k.e.max(root, floor)), scales,
              at(row, 0));
    });
    k.forEach(k.sizesOf(signals), [&](ValueRange point) {
      Value scale = k.load(scales, at(point.take_front(2), 0));
      k.store(k.e.mul(k.load(signals, point), scale), signals, point);
    });
  }

  /// Of the columns part, part + kParts, ... of a row.
  Value sumSquares(ValueRange part, Value columns) {
    Value zero = k.e.constant(0);
    return k.carry(part[2], columns, kParts, {zero},
                   [&](Value column, ValueRange sum) -> Values {
                     Value x = k.load(signals, {part[0], part[1], column});
                     return {k.e.fma(x, x, sum[0])};
                   })[0];
  }

  FinalizeOp op;
  tile::ComputeOp compute;
  Value signals, norm, indices, logSums;
  ThreadLoops k;
  SweepLayout layout;
  GradientLayout saved;
  ParameterValues params;
  Value sums, factors;
  SmallVector<OpFoldResult> rows;
  int64_t width;
};

} // namespace

LogicalResult raytention::expandFinalize(OpBuilder &b, tile::ComputeOp compute,
                                         FinalizeOp op) {
  if (ShapedType::isDynamic(
          cast<RankedTensorType>(op.getSums().getType()).getDimSize(3)))
    return op.emitOpError() << "expected keys of a static width";
  Finish(b, compute, op).expand();
  return success();
}
