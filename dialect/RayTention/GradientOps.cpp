//===- GradientOps.cpp - verifiers of the gradient -----------------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/GradientLayout.h"
#include "dialect/RayTention/RayTention.h"
#include "dialect/RayTention/ShapeChecker.h"

using namespace mlir;
using namespace raytention;

static Type elementOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType();
}

namespace {

/// One operand's shape under names.
struct Shape {
  StringRef what;
  Value value;
  SmallVector<StringRef> dims;
  Type element = {};
};

} // namespace

static LogicalResult checkAll(ShapeChecker &shapes, StringRef constraint,
                              ArrayRef<Shape> expected) {
  for (const Shape &shape : expected)
    if (failed(shapes.check(constraint, shape.what, shape.value, shape.dims,
                            shape.element)))
      return failure();
  return success();
}

/// The sizes that a list of channels demands.
static void bindLayout(ShapeChecker &shapes, ArrayAttr channels) {
  GradientLayout layout = GradientLayout::get(channels);
  shapes.bind("L", layout.numSaved);
  shapes.bind("F", layout.numFields);
  shapes.bind("A", layout.numStates);
  shapes.bind("C", layout.numWeighted);
  shapes.bind("N", layout.numCopies);
}

static LogicalResult verifyPairOptions(Operation *op, Metric metric,
                                       Attribute mask) {
  if (metric == Metric::Dot)
    return op->emitOpError() << "C4: expected the metric sq_l2 or l2, got dot";
  return verifyMask(op, "C4", mask);
}

LogicalResult AttendGradOp::verify() {
  auto queries = cast<RankedTensorType>(getQueries().getType());
  Type input = queries.getElementType();
  if (!input.isF32() && !input.isF64() && !input.isBF16())
    return emitOpError() << "C1: expected queries of f32, f64 or bf16, got "
                         << queries;
  Type element = input.isF64() ? input : Float32Type::get(getContext());
  Type i64 = IntegerType::get(getContext(), 64);
  Type i32 = IntegerType::get(getContext(), 32);
  ShapeChecker shapes(*this);
  if (failed(checkAll(shapes, "C1",
                      {{"queries", getQueries(), {"B", "Tq", "D"}},
                       {"a table", getTable(), {"V", "D"}, input},
                       {"ids", getIds(), {"B", "T"}},
                       {"tau", getTau(), {}, element},
                       {"gammas", getGammas(), {"n"}, element},
                       {"lengths", getLengths(), {"B"}, i64}})))
    return failure();
  if (queries.isDynamicDim(2))
    return emitOpError() << "C1: expected a static D, got " << queries;
  Type id = elementOf(getIds());
  if (!id.isInteger(32) && !id.isInteger(64))
    return emitOpError() << "C1: expected ids of i32 or i64, got " << id;
  if (getChannels().empty())
    return emitOpError() << "C2: expected at least one channel, got none";
  if (failed(verifyChannelList(*this, "C2", getChannels())) ||
      failed(verifyGammas(*this, "C2", getChannels(), getGammas())))
    return failure();
  for (Attribute channel : getChannels())
    if (failed(cast<ChannelInterface>(channel).verifyChannel(
            [&] { return emitOpError() << "C2: "; }, shapes.getSize("n"))))
      return failure();
  bindLayout(shapes, getChannels());
  shapes.bind("S", getSignalWidth(getChannels(), queries.getDimSize(2)));
  if (failed(
          checkAll(shapes, "C3",
                   {{"signals", getSignals(), {"B", "Tq", "S"}, element},
                    {"a gradient", getGradient(), {"B", "Tq", "S"}, element},
                    {"a norm", getNorm(), {"B", "Tq"}, element},
                    {"indices", getIndices(), {"B", "Tq", "N"}, i32},
                    {"log_sums", getLogSums(), {"B", "Tq", "L"}, element}})) ||
      failed(
          checkAll(shapes, "C4",
                   {{"gradients", getQueriesGrad(), {"B", "Tq", "D"}, element},
                    {"gradients", getTableGrad(), {"V", "D"}, element},
                    {"a gradient", getTauGrad(), {}, element},
                    {"gradients", getGammasGrad(), {"n"}, element}})))
    return failure();
  if (getMetric() == Metric::Dot)
    return emitOpError() << "C5: expected the metric sq_l2 or l2, got dot";
  return verifyMask(*this, "C5", getMaskAttr());
}

LogicalResult GradRowsOp::verify() {
  if (failed(verifyChannelList(*this, "C3", getChannels())) ||
      failed(verifyGammas(*this, "C3", getChannels(), getGammas())))
    return failure();
  ShapeChecker shapes(*this);
  bindLayout(shapes, getChannels());
  Type element = elementOf(getSignals());
  Type i64 = IntegerType::get(getContext(), 64);
  if (failed(checkAll(shapes, "C1",
                      {{"signals", getSignals(), {"B", "Tq", "S"}, element},
                       {"a gradient", getGradient(), {"B", "Tq", "S"}, element},
                       {"a norm", getNorm(), {"B", "Tq"}, element},
                       {"log_sums", getLogSums(), {"B", "Tq", "L"}, element},
                       {"tau", getTau(), {}, element},
                       {"gammas", getGammas(), {"n"}, element},
                       {"lengths", getLengths(), {"B"}, i64}})))
    return failure();
  return checkAll(shapes, "C2",
                  {{"rows", getRows(), {"B", "Tq", "F"}, element},
                   {"a stack", getStack(), {"B", "C", "Tq", "D"}, element}});
}

/// C1, and C2 as far as both sweeps share it.
template <typename Op>
static LogicalResult verifyPairs(Op op, ShapeChecker &shapes, Type element) {
  if (failed(verifyChannelList(op, "C1", op.getChannels())) ||
      failed(verifyGammas(op, "C1", op.getChannels(), op.getGammas())))
    return failure();
  bindLayout(shapes, op.getChannels());
  Type i64 = IntegerType::get(op.getContext(), 64);
  return checkAll(shapes, "C2",
                  {{"distances", op.getDistances(), {"B", "Tq", "T"}, element},
                   {"rows", op.getRows(), {"B", "Tq", "F"}, element},
                   {"a stack", op.getStack(), {"B", "C", "Tq", "D"}, element},
                   {"tau", op.getTau(), {}, element},
                   {"gammas", op.getGammas(), {"n"}, element},
                   {"lengths", op.getLengths(), {"B"}, i64}});
}

LogicalResult QueryGradSweepOp::verify() {
  ShapeChecker shapes(*this);
  Type element = elementOf(getFloats());
  if (failed(verifyPairs(*this, shapes, element)) ||
      failed(shapes.check("C2", "keys", getKeys(), {"B", "T", "D"},
                          getStoredType(getKeys(), element))) ||
      failed(
          checkAll(shapes, "C3",
                   {{"accumulators", getFloatsIn(), {"B", "Tq", "A"}, element},
                    {"sums", getSumsIn(), {"B", "Tq", "D"}, element}})))
    return failure();
  return verifyPairOptions(*this, getMetric(), getMaskAttr());
}

LogicalResult KeyGradSweepOp::verify() {
  ShapeChecker shapes(*this);
  Type element = elementOf(getSums());
  Type i32 = IntegerType::get(getContext(), 32);
  if (failed(verifyPairs(*this, shapes, element)) ||
      failed(checkAll(shapes, "C2",
                      {{"queries",
                        getQueries(),
                        {"B", "Tq", "D"},
                        getStoredType(getQueries(), element)},
                       {"signals", getSignals(), {"B", "Tq", "S"}, element},
                       {"a gradient", getGradient(), {"B", "Tq", "S"}, element},
                       {"indices", getIndices(), {"B", "Tq", "N"}, i32}})) ||
      failed(shapes.check("C3", "sums", getSumsIn(), {"B", "T", "D"}, element)))
    return failure();
  return verifyPairOptions(*this, getMetric(), getMaskAttr());
}

LogicalResult WeighGradOp::verify() {
  if (failed(verifyChannelList(*this, "C1", getChannels())) ||
      failed(verifyGammas(*this, "C1", getChannels(), getGammas())))
    return failure();
  ShapeChecker shapes(*this);
  bindLayout(shapes, getChannels());
  Type element = elementOf(getDistances());
  if (failed(
          checkAll(shapes, "C2",
                   {{"distances", getDistances(), {"B", "Tq", "T"}, element},
                    {"rows", getRows(), {"B", "Tq", "F"}, element},
                    {"products", getProducts(), {"B", "C", "Tq", "T"}, element},
                    {"tau", getTau(), {}, element},
                    {"gammas", getGammas(), {"n"}, element},
                    {"lengths",
                     getLengths(),
                     {"B"},
                     IntegerType::get(getContext(), 64)}})) ||
      failed(shapes.check("C3", "accumulators", getFloatsIn(), {"B", "Tq", "A"},
                          element)))
    return failure();
  if (!getFloatsIn() != !getFloats() ||
      (getFloats() && getFloats().getType() != getFloatsIn().getType()))
    return emitOpError() << "C3: expected accumulators and a result of their "
                            "type, or neither";
  return verifyPairOptions(*this, getMetric(), getMaskAttr());
}

/// Accumulators that nobody reads are dropped.
LogicalResult WeighGradOp::canonicalize(WeighGradOp op,
                                        PatternRewriter &rewriter) {
  if (!op.getFloats() || !op.getFloats().use_empty())
    return failure();
  auto pairs = WeighGradOp::create(
      rewriter, op.getLoc(), op.getWeights().getType(),
      op.getCoefficients().getType(), Type(), op.getDistances(), op.getRows(),
      op.getProducts(), op.getTau(), op.getGammas(), op.getRow(), op.getKey(),
      op.getLengths(), Value(), op.getChannelsAttr(), op.getMetricAttr(),
      op.getMaskAttr());
  rewriter.replaceAllUsesWith(op.getWeights(), pairs.getWeights());
  rewriter.replaceAllUsesWith(op.getCoefficients(), pairs.getCoefficients());
  rewriter.eraseOp(op);
  return success();
}

LogicalResult SumDifferencesOp::verify() {
  ShapeChecker shapes(*this);
  Type element = elementOf(getSums());
  SmallVector<StringRef> sums = {"B", "Tq", "D"};
  if (getSide() == PairSide::Key)
    sums[1] = "T";
  if (getMetric() == Metric::Dot)
    return emitOpError() << "C1: expected the metric sq_l2 or l2, got dot";
  return checkAll(
      shapes, "C1",
      {{"coefficients", getCoefficients(), {"B", "Tq", "T"}, element},
       {"distances", getDistances(), {"B", "Tq", "T"}, element},
       {"queries",
        getQueries(),
        {"B", "Tq", "D"},
        getStoredType(getQueries(), element)},
       {"keys", getKeys(), {"B", "T", "D"}, getStoredType(getKeys(), element)},
       {"sums", getSumsIn(), sums, element}});
}

LogicalResult CopyGradOp::verify() {
  if (failed(verifyChannelList(*this, "C1", getChannels())))
    return failure();
  ShapeChecker shapes(*this);
  bindLayout(shapes, getChannels());
  Type element = elementOf(getSums());
  Type i32 = IntegerType::get(getContext(), 32);
  return checkAll(shapes, "C2",
                  {{"rows", getRows(), {"B", "Tq", "F"}, element},
                   {"signals", getSignals(), {"B", "Tq", "S"}, element},
                   {"a gradient", getGradient(), {"B", "Tq", "S"}, element},
                   {"sums", getSumsIn(), {"B", "T", "D"}, element},
                   {"indices", getIndices(), {"B", "Tq", "N"}, i32}});
}

LogicalResult QueryGradOp::verify() {
  if (failed(verifyChannelList(*this, "C1", getChannels())) ||
      failed(verifyGammas(*this, "C1", getChannels(), getGammas())))
    return failure();
  ShapeChecker shapes(*this);
  bindLayout(shapes, getChannels());
  Type element = elementOf(getFloats());
  if (failed(checkAll(shapes, "C2",
                      {{"accumulators", getFloats(), {"B", "Tq", "A"}, element},
                       {"sums", getSums(), {"B", "Tq", "D"}, element},
                       {"rows", getRows(), {"B", "Tq", "F"}, element},
                       {"tau", getTau(), {}, element},
                       {"gammas", getGammas(), {"n"}, element}})))
    return failure();
  if (int64_t n = shapes.getSize("n"); !ShapedType::isDynamic(n))
    shapes.bind("1 + n", n + 1);
  return checkAll(
      shapes, "C3",
      {{"gradients", getQueriesGradIn(), {"B", "Tq", "D"}, element},
       {"parts", getParametersIn(), {"B", "Tq", "1 + n"}, element}});
}

LogicalResult KeyGradOp::verify() {
  if (failed(verifyChannelList(*this, "C2", getChannels())) ||
      failed(verifyGammas(*this, "C2", getChannels(), getGammas())))
    return failure();
  ShapeChecker shapes(*this);
  Type element = elementOf(getSums());
  return checkAll(
      shapes, "C1",
      {{"sums", getSums(), {"B", "T", "D"}, element},
       {"tau", getTau(), {}, element},
       {"gammas", getGammas(), {"n"}, element},
       {"gradients", getKeysGradIn(), {"B", "T", "D"}, element},
       {"lengths", getLengths(), {"B"}, IntegerType::get(getContext(), 64)}});
}

LogicalResult ParameterGradOp::verify() {
  ShapeChecker shapes(*this);
  Type element = elementOf(getParameters());
  if (failed(checkAll(shapes, "C1",
                      {{"a gradient", getTauGrad(), {}, element},
                       {"gradients", getGammasGrad(), {"n"}, element}})))
    return failure();
  if (int64_t n = shapes.getSize("n"); !ShapedType::isDynamic(n))
    shapes.bind("P", n + 1);
  return shapes.check("C1", "parts", getParameters(), {"B", "Tq", "P"},
                      element);
}
