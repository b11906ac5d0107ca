//===- SweepOps.cpp - verifiers of the streaming ops ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/GradientLayout.h"
#include "dialect/RayTention/RayTention.h"
#include "dialect/RayTention/ShapeChecker.h"
#include "dialect/RayTention/SweepLayout.h"

#define GET_OP_CLASSES
#include "dialect/RayTention/RayTentionOps.cpp.inc"

using namespace mlir;
using namespace raytention;

static Type elementOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType();
}

/// The states of `layout` under names that all ops share: score and reduce
/// fields F/I, with `prefix` for partial states.
static LogicalResult checkStates(ShapeChecker &shapes, StringRef constraint,
                                 const SweepLayout &layout, SweepKind kind,
                                 Value floats, Value positions, Type element,
                                 ArrayRef<StringRef> rows = {"B", "Tq"}) {
  bool isScore = kind == SweepKind::Score;
  SmallVector<StringRef> floatDims(rows), positionDims(rows);
  floatDims.push_back(isScore ? "F score" : "F reduce");
  positionDims.push_back(isScore ? "I score" : "I reduce");
  shapes.bind(floatDims.back(), layout.numFloats(kind));
  shapes.bind(positionDims.back(), layout.numInts(kind));
  Type i32 = IntegerType::get(element.getContext(), 32);
  return success(succeeded(shapes.check(constraint, "a state", floats,
                                        floatDims, element)) &&
                 succeeded(shapes.check(constraint, "a state", positions,
                                        positionDims, i32)));
}

/// C1 of a list that a state of `kind` belongs to instead of the op's own: what
/// keeps something in one stands in it.
template <typename Op>
static LogicalResult verifyStateList(Op op, SweepKind kind, ArrayAttr others) {
  if (!others)
    return success();
  if (failed(verifyChannelList(op, "C1", others)))
    return failure();
  for (Attribute attr : op.getChannels()) {
    auto channel = cast<ChannelInterface>(attr);
    bool isKept =
        kind == SweepKind::Score
            ? channel.hasOwnLogSum() || !channel.getScoreState().empty()
            : !channel.getReduceState().empty();
    if (isKept && !llvm::is_contained(others, attr))
      return op.emitOpError() << "C1: expected the channel " << attr
                              << " in the list of its state, got " << others;
  }
  return success();
}

/// C1, C2 and C4 of everything that reads distances.
template <typename Op>
static LogicalResult verifyPairs(Op op, ShapeChecker &shapes, Type element) {
  Type i64 = IntegerType::get(op.getContext(), 64);
  return success(
      succeeded(verifyChannelList(op, "C1", op.getChannels())) &&
      succeeded(shapes.check("C2", "distances", op.getDistances(),
                             {"B", "Tq", "T"}, element)) &&
      succeeded(shapes.check("C2", "tau", op.getTau(), {}, element)) &&
      succeeded(shapes.check("C2", "gammas", op.getGammas(), {"n"}, element)) &&
      succeeded(verifyGammas(op, "C2", op.getChannels(), op.getGammas())) &&
      succeeded(shapes.check("C2", "lengths", op.getLengths(), {"B"}, i64)) &&
      succeeded(verifyMask(op, "C4", op.getMaskAttr())));
}

/// C6 of keys that stand in a list; `layout` is that of the score state.
template <typename Op>
static LogicalResult verifyKeySet(Op op, ShapeChecker &shapes,
                                  const SweepLayout &layout, Type element) {
  Value positions = op.getKeyPositions(), masses = op.getKeyMasses();
  if (!positions && !masses)
    return success();
  if (!positions || op.getLengths())
    return op.emitOpError() << "C6: expected positions without lengths, and "
                               "masses with positions only";
  shapes.bind("M", layout.numMasses);
  shapes.bind("K", masses ? layout.numPositions + 1 : 1);
  Type i32 = IntegerType::get(op.getContext(), 32);
  return success(succeeded(shapes.check("C6", "positions", positions,
                                        {"B", "K", "T"}, i32)) &&
                 succeeded(shapes.check("C6", "masses", masses,
                                        {"B", "M", "T"}, element)));
}

//===----------------------------------------------------------------------===//
// Result types are those of the initial states. Not generated: the generated
// code would count operands as if optional ones were always there.
//===----------------------------------------------------------------------===//

LogicalResult
ScoreSweepOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                               ValueRange operands, DictionaryAttr attributes,
                               OpaqueProperties properties, RegionRange regions,
                               SmallVectorImpl<Type> &types) {
  Adaptor op(operands, attributes, properties, regions);
  types.append({op.getFloatsIn().getType(), op.getPositionsIn().getType()});
  return success();
}

//===----------------------------------------------------------------------===//
// Verifiers.
//===----------------------------------------------------------------------===//

LogicalResult InitOp::verify() {
  if (failed(verifyChannelList(*this, "C1", getChannels())))
    return failure();
  Type element = elementOf(getFloats());
  if (!element.isF32() && !element.isF64())
    return emitOpError() << "C2: expected a state of f32 or f64, got "
                         << element;
  ShapeChecker shapes(*this);
  SmallVector<StringRef> rows = {"B", "Tq"};
  if (getParts())
    rows.insert(rows.begin() + 1, "P");
  return checkStates(shapes, "C2", SweepLayout::get(getChannels()), getSweep(),
                     getFloats(), getPositions(), element, rows);
}

LogicalResult ScoreSweepOp::verify() {
  ShapeChecker shapes(*this);
  Type element = elementOf(getFloats());
  if (failed(verifyPairs(*this, shapes, element)))
    return failure();
  SweepLayout layout = SweepLayout::get(getChannels());
  if (failed(verifyKeySet(*this, shapes, layout, element)))
    return failure();
  return checkStates(shapes, "C3", layout, SweepKind::Score, getFloatsIn(),
                     getPositionsIn(), element);
}

LogicalResult ReduceSweepOp::verify() {
  ShapeChecker shapes(*this);
  Type element = elementOf(getFloats());
  ArrayAttr others = getScoreChannelsAttr();
  if (failed(verifyPairs(*this, shapes, element)) ||
      failed(verifyStateList(*this, SweepKind::Score, others)))
    return failure();
  SweepLayout layout =
      SweepLayout::get(getChannels()).with(SweepKind::Score, others);
  shapes.bind("F score", layout.numFloats(SweepKind::Score));
  shapes.bind("C", layout.numWeighted);
  if (failed(verifyKeySet(*this, shapes, layout, element)) ||
      failed(checkStates(shapes, "C3", layout, SweepKind::Reduce, getFloatsIn(),
                         getPositionsIn(), element)) ||
      failed(shapes.check("C3", "a score state", getScoreState(),
                          {"B", "Tq", "F score"}, element)))
    return failure();
  bool together = !getKeys() == !getSumsIn() && !getKeys() == !getSums();
  if (!together || (getSums() && getSums().getType() != getSumsIn().getType()))
    return emitOpError() << "C5: expected keys, initial sums and sums together";
  return success(
      succeeded(shapes.check("C5", "keys", getKeys(), {"B", "T", "D"},
                             getStoredType(getKeys(), element))) &&
      succeeded(shapes.check("C5", "sums", getSumsIn(), {"B", "C", "Tq", "D"},
                             element)));
}

LogicalResult WeighOp::verify() {
  ShapeChecker shapes(*this);
  Type element = elementOf(getWeights());
  ArrayAttr others = getScoreChannelsAttr();
  if (failed(verifyPairs(*this, shapes, element)) ||
      failed(verifyStateList(*this, SweepKind::Score, others)))
    return failure();
  SweepLayout layout =
      SweepLayout::get(getChannels()).with(SweepKind::Score, others);
  shapes.bind("F score", layout.numFloats(SweepKind::Score));
  shapes.bind("C", layout.numWeighted);
  return success(succeeded(verifyKeySet(*this, shapes, layout, element)) &&
                 succeeded(shapes.check("C2", "a score state", getScoreState(),
                                        {"B", "Tq", "F score"}, element)) &&
                 succeeded(shapes.check("C3", "weights", getWeights(),
                                        {"B", "C", "Tq", "T"}, element)));
}

LogicalResult MergeOp::verify() {
  if (failed(verifyChannelList(*this, "C1", getChannels())))
    return failure();
  ShapeChecker shapes(*this);
  Type element = elementOf(getFloats());
  SweepLayout layout = SweepLayout::get(getChannels());
  if (failed(checkStates(shapes, "C2", layout, getSweep(), getFloats(),
                         getPositions(), element)) ||
      failed(checkStates(shapes, "C2", layout, getSweep(), getPartialFloats(),
                         getPartialPositions(), element, {"B", "P", "Tq"})))
    return failure();
  return success();
}

static SmallVector<Attribute> getWeighted(ArrayAttr channels) {
  return llvm::filter_to_vector(channels, [](Attribute channel) {
    return cast<ChannelInterface>(channel).getForm() == ChannelForm::Weighted;
  });
}

LogicalResult FinalizeOp::verify() {
  if (failed(verifyChannelList(*this, "C1", getChannels())) ||
      failed(verifyChannelList(*this, "C1", getSweepChannels())) ||
      failed(
          verifyStateList(*this, SweepKind::Reduce, getReduceChannelsAttr())))
    return failure();
  if (ArrayAttr reduced = getReduceChannelsAttr()) {
    SmallVector<Attribute> weighted = getWeighted(reduced);
    if (!weighted.empty() && weighted != getWeighted(getSweepChannels()))
      return emitOpError() << "C1: expected the weighted channels of "
                           << getSweepChannels()
                           << " in their order, that of the sums, got "
                           << reduced;
  }
  SweepLayout layout = SweepLayout::get(getSweepChannels())
                           .with(SweepKind::Reduce, getReduceChannelsAttr());
  for (Attribute channel : getChannels())
    if (!layout.find(channel))
      return emitOpError() << "C1: expected the channel " << channel
                           << " in the list of the sweeps, got "
                           << getSweepChannels();
  ShapeChecker shapes(*this);
  Type element = elementOf(getSignals());
  shapes.bind("C", layout.numWeighted);
  if (failed(checkStates(shapes, "C2", layout, SweepKind::Score,
                         getScoreFloats(), getScorePositions(), element)) ||
      failed(checkStates(shapes, "C2", layout, SweepKind::Reduce,
                         getReduceFloats(), getReducePositions(), element)) ||
      failed(shapes.check("C2", "sums", getSums(), {"B", "C", "Tq", "D"},
                          element)) ||
      failed(shapes.check("C2", "tau", getTau(), {}, element)) ||
      failed(shapes.check("C2", "gammas", getGammas(), {"n"}, element)) ||
      failed(verifyGammas(*this, "C2", getSweepChannels(), getGammas())) ||
      failed(shapes.check("C3", "a table", getTable(), {"V", "D"})) ||
      failed(shapes.check("C3", "ids", getIds(), {"B", "T"})))
    return failure();
  shapes.bind("S", getSignalWidth(getChannels(), shapes.getSize("D")));
  shapes.bind("N", getNumCopies(getChannels()));
  shapes.bind("L", GradientLayout::get(getChannels()).numSaved);
  Type logSums = getLogSums() ? getLogSums().getType() : Type();
  if ((getLogSumsIn() ? getLogSumsIn().getType() : Type()) != logSums)
    return emitOpError() << "C4: expected log-sums on both sides, of one type, "
                            "or on none";
  if (failed(shapes.check("C4", "log-sums", getLogSumsIn(), {"B", "Tq", "L"},
                          element)))
    return failure();
  Type i32 = IntegerType::get(getContext(), 32);
  return success(succeeded(shapes.check("C3", "signals", getSignalsIn(),
                                        {"B", "Tq", "S"}, element)) &&
                 succeeded(shapes.check("C3", "a norm", getNormIn(),
                                        {"B", "Tq"}, element)) &&
                 succeeded(shapes.check("C3", "indices", getIndicesIn(),
                                        {"B", "Tq", "N"}, i32)));
}
