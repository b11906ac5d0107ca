//===- AttendOp.cpp - verifier and canonicalisation of rt.attend ------*- C++
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
#include "dialect/RayTention/SweepLayout.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace raytention;

/// C11: what the op can say but no lowering computes yet.
static LogicalResult verifySupported(AttendOp op) {
  auto reject = [&](StringRef what) {
    return op.emitOpError() << "C11: " << what << " not supported yet";
  };
  auto queries = cast<RankedTensorType>(op.getQueries().getType());
  if (queries.getRank() == 4)
    return reject("several heads, queries [B, Tq, Hq, D], are");
  if (op.getKeys())
    return reject("direct keys are");
  if (op.getValues())
    return reject("values of their own are");
  if (op.getSink())
    return reject("a sink is");
  if (op.getEpilogue())
    return reject("a score epilogue is");
  if (op.getMetric() == Metric::Dot)
    return reject("the metric dot is");
  for (Value value : {op.getQueries(), op.getIds()})
    if (value && llvm::is_contained(
                     cast<RankedTensorType>(value.getType()).getShape(), 0))
      return reject("a static size of 0 (a dynamic one may be 0) is");
  return verifyMask(op, "C11", op.getMaskAttr());
}

static LogicalResult checkSaved(AttendOp op, ShapeChecker &shapes, Saved saved,
                                Value value, Type element) {
  Type i32 = IntegerType::get(op.getContext(), 32);
  switch (saved) {
  case Saved::Norm:
    return shapes.check("C8", "norm", value, {"B", "Tq"}, element);
  case Saved::Indices:
    return shapes.check("C8", "indices", value, {"B", "Tq", "copies"}, i32);
  case Saved::LogSums:
    return shapes.check("C8", "log_sums", value, {"B", "Tq", "L"}, element);
  }
  llvm_unreachable("a saved value is one of the enum");
}

static LogicalResult verifySaved(AttendOp op, ShapeChecker &shapes,
                                 Type element) {
  ArrayAttr saves = op.getSavesAttr();
  size_t expected = saves ? saves.size() : 0;
  if (op.getSaved().size() != expected)
    return op.emitOpError() << "C8: expected " << expected
                            << " saved results, one per entry of saves, got "
                            << op.getSaved().size();
  llvm::SmallDenseSet<Attribute> seen;
  for (auto [index, value] : llvm::enumerate(op.getSaved())) {
    auto saved = dyn_cast<SavedAttr>(saves[index]);
    if (!saved || !seen.insert(saved).second)
      return op.emitOpError()
             << "C8: expected #rt.saved entries, none twice, got "
             << saves[index];
    if (failed(checkSaved(op, shapes, saved.getValue(), value, element)))
      return failure();
  }
  return success();
}

static LogicalResult verifyChannels(AttendOp op) {
  if (op.getChannels().empty())
    return op.emitOpError() << "C5: expected at least one channel, got none";
  return success(
      succeeded(verifyChannelList(op, "C5", op.getChannels())) &&
      succeeded(verifyGammas(op, "C6", op.getChannels(), op.getGammas())));
}

LogicalResult AttendOp::verify() {
  if (failed(verifySupported(*this)))
    return failure();
  if (!getTable() || !getIds())
    return emitOpError() << "C2: expected keys by lookup(table[ids]), got none";
  auto queries = cast<RankedTensorType>(getQueries().getType());
  Type input = queries.getElementType();
  if (!input.isF32() && !input.isF64() && !input.isBF16())
    return emitOpError() << "C1: expected queries of f32, f64 or bf16, got "
                         << queries;
  Type element = input.isF64() ? input : Float32Type::get(getContext());
  ShapeChecker shapes(*this);
  if (failed(shapes.check("C1", "queries", getQueries(), {"B", "Tq", "D"})))
    return failure();
  int64_t dModel = queries.getDimSize(2);
  if (ShapedType::isDynamic(dModel) || dModel < 1)
    return emitOpError() << "C1: expected a static D of at least 1, got "
                         << queries;
  if (failed(shapes.check("C2", "a table", getTable(), {"V", "D"}, input)) ||
      failed(shapes.check("C3", "ids", getIds(), {"B", "T"})) ||
      failed(shapes.check("C4", "tau", getTau(), {}, element)) ||
      failed(shapes.check("C4", "gammas", getGammas(), {"n"}, element)) ||
      failed(verifyChannels(*this)))
    return failure();
  Type id = cast<RankedTensorType>(getIds().getType()).getElementType();
  if (!id.isInteger(32) && !id.isInteger(64))
    return emitOpError() << "C3: expected ids of i32 or i64, got " << id;
  shapes.bind("S", getSignalWidth(getChannels(), dModel));
  shapes.bind("copies", getNumCopies(getChannels()));
  shapes.bind("L", GradientLayout::get(getChannels()).numSaved);
  if (failed(shapes.check("C7", "signals", getSignals(), {"B", "Tq", "S"},
                          element)) ||
      failed(shapes.check("C9", "lengths", getLengths(), {"B"},
                          IntegerType::get(getContext(), 64))))
    return failure();
  return verifySaved(*this, shapes, element);
}

namespace {

/// Decay bases that are compile-time constants put channels in cheaper forms.
struct SimplifyChannels : public OpRewritePattern<AttendOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AttendOp op,
                                PatternRewriter &rewriter) const override {
    DenseFPElementsAttr constants;
    if (!matchPattern(op.getGammas(), m_Constant(&constants)))
      return rewriter.notifyMatchFailure(op, "gammas are not constant");
    SmallVector<std::optional<double>> gammas;
    for (APFloat value : constants.getValues<APFloat>())
      gammas.push_back(value.convertToDouble());
    SmallVector<Attribute> channels;
    for (Attribute channel : op.getChannels())
      channels.push_back(cast<ChannelInterface>(channel).simplify(gammas));
    ArrayAttr simplified = rewriter.getArrayAttr(channels);
    if (simplified == op.getChannels())
      return rewriter.notifyMatchFailure(op, "no channel has a cheaper form");
    rewriter.modifyOpInPlace(op, [&] { op.setChannelsAttr(simplified); });
    return success();
  }
};

} // namespace

void AttendOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<SimplifyChannels>(context);
}
