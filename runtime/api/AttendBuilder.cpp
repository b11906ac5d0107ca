//===- AttendBuilder.cpp - the module of an attention -----------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/api/AttendBuilder.h"
#include "dialect/RayTention/GradientLayout.h"
#include "dialect/RayTention/SweepLayout.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace raytention;

static std::optional<Metric> getMetric(const AttentionSpec &spec) {
  std::optional<Metric> metric = symbolizeMetric(spec.metric);
  return metric == Metric::Dot ? std::nullopt : metric;
}

static llvm::Error checkSpec(const AttentionSpec &spec) {
  // Products of two sizes must not wrap around.
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  if (spec.dModel < 1 || spec.dModel > most)
    return llvm::createStringError("expected d_model in [1, " + Twine(most) +
                                   "], got " + Twine(spec.dModel));
  if (spec.idBits != 32 && spec.idBits != 64)
    return llvm::createStringError("expected ids of 32 or 64 bits, got " +
                                   Twine(spec.idBits));
  if (spec.numGammas < 0 || spec.numGammas > most)
    return llvm::createStringError("expected a number of gammas in [0, " +
                                   Twine(most) + "], got " +
                                   Twine(spec.numGammas));
  if (spec.channels.empty())
    return llvm::createStringError("expected at least one channel, got none");
  if (!getMetric(spec))
    return llvm::createStringError("expected metric sq_l2 or l2, got '" +
                                   Twine(spec.metric) + "'");
  if (!symbolizeDecayOrigin(spec.decayOrigin))
    return llvm::createStringError(
        "expected decay origin sequence_end or query, got '" +
        Twine(spec.decayOrigin) + "'");
  return llvm::Error::success();
}

llvm::Expected<ArrayAttr> raytention::buildChannels(MLIRContext &context,
                                                    const AttentionSpec &spec) {
  if (llvm::Error error = checkSpec(spec))
    return error;
  SmallVector<Attribute> channels;
  for (const std::string &spelling : spec.channels) {
    std::string message;
    FailureOr<Attribute> channel =
        parseChannelSpelling(&context, spelling, message);
    if (failed(channel))
      return llvm::createStringError(message);
    channels.push_back(*channel);
  }
  return ArrayAttr::get(&context, channels);
}

void Schedules::set(Operation *func) const {
  if (forward)
    func->setAttr(kScheduleName, forward);
  if (backward && backward != forward)
    func->setAttr(kBackwardScheduleName, backward);
}

static ScheduleAttr makeSchedule(MLIRContext *context,
                                 const ChosenSchedule &chosen) {
  constexpr int64_t threads = 128; // of a device's block
  return ScheduleAttr::get(
      context, chosen.queryTile, chosen.keyChunk, chosen.splitKeys,
      chosen.keepScores ? ScorePlan::Keep : ScorePlan::Recompute,
      chosen.isStored ? Family::Stored : Family::Fused, threads,
      chosen.queryChunk);
}

llvm::Expected<Schedules>
raytention::buildSchedules(ArrayAttr channels, const AttentionSpec &spec,
                           const CompileOptions &options, int64_t numKeys) {
  SweepLayout layout = SweepLayout::get(channels);
  WorkspaceProblem problem;
  problem.dModel = spec.dModel;
  problem.elementBytes = spec.dtype == DType::F64 ? 8 : 4;
  problem.numWeighted = layout.numWeighted;
  for (SweepKind kind : {SweepKind::Score, SweepKind::Reduce})
    problem.numFields += layout.numFloats(kind) + layout.numInts(kind);
  problem.numKeys = numKeys;
  problem.cap = options.workspaceCap;
  problem.backward = options.backward;
  auto chosen = chooseSchedule(problem, options.schedule);
  if (!chosen)
    return chosen.takeError();
  MLIRContext *context = channels.getContext();
  Schedules schedules{makeSchedule(context, *chosen), {}};
  if (options.backward)
    schedules.backward = makeSchedule(
        context, chooseBackwardSchedule(problem, options.schedule, *chosen));
  return schedules;
}

namespace {

/// The tensor types of @attend.
struct AttendTypes {
  AttendTypes(MLIRContext *context, ArrayAttr channels,
              const AttentionSpec &spec, bool savesLogSums) {
    Builder b(context);
    Type accumulator =
        spec.dtype == DType::F64 ? Type(b.getF64Type()) : b.getF32Type();
    Type element =
        spec.dtype == DType::BF16 ? Type(b.getBF16Type()) : accumulator;
    constexpr int64_t any = ShapedType::kDynamic;
    auto tensor = [](ArrayRef<int64_t> shape, Type type) -> Type {
      return RankedTensorType::get(shape, type);
    };
    inputs = {tensor({any, any, spec.dModel}, element),
              tensor({any, spec.dModel}, element),
              tensor({any, any}, b.getIntegerType(spec.idBits)),
              tensor({}, accumulator),
              tensor({spec.numGammas}, accumulator),
              b.getIndexType(),
              tensor({any}, b.getI64Type())};
    results = {
        tensor({any, any, getSignalWidth(channels, spec.dModel)}, accumulator),
        tensor({any, any}, accumulator),
        tensor({any, any, getNumCopies(channels)}, b.getI32Type())};
    if (savesLogSums)
      results.push_back(tensor(
          {any, any, GradientLayout::get(channels).numSaved}, accumulator));
  }
  SmallVector<Type> inputs, results;
};

} // namespace

/// The per-row values that @attend returns beside the signals.
static ArrayAttr buildSaves(MLIRContext *context, bool savesLogSums) {
  SmallVector<Attribute> saves = {SavedAttr::get(context, Saved::Norm),
                                  SavedAttr::get(context, Saved::Indices)};
  if (savesLogSums)
    saves.push_back(SavedAttr::get(context, Saved::LogSums));
  return ArrayAttr::get(context, saves);
}

OwningOpRef<ModuleOp> raytention::buildAttendModule(ArrayAttr channels,
                                                    const Schedules &schedules,
                                                    const AttentionSpec &spec,
                                                    bool savesLogSums) {
  MLIRContext *context = channels.getContext();
  OpBuilder builder(context);
  Location loc = builder.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  AttendTypes types(context, channels, spec, savesLogSums);
  builder.setInsertionPointToStart(module->getBody());
  auto func = func::FuncOp::create(
      builder, loc, kAttendName,
      builder.getFunctionType(types.inputs, types.results));
  schedules.set(func);
  Block *body = func.addEntryBlock();
  // Generated code is read: its arguments keep their names.
  static constexpr StringRef names[] = {
      "queries", "table", "ids", "tau", "gammas", "query_offset", "lengths"};
  for (auto [value, name] : llvm::zip(body->getArguments(), names))
    value.setLoc(NameLoc::get(builder.getStringAttr(name)));
  builder.setInsertionPointToStart(body);
  auto argument = [&](unsigned index) { return body->getArgument(index); };
  auto op = AttendOp::create(
      builder, loc, types.results[0], ArrayRef(types.results).drop_front(),
      argument(0), argument(1), argument(2), /*keys=*/Value(),
      /*values=*/Value(), argument(3), argument(4), argument(5), argument(6),
      /*sink=*/Value(), channels, *getMetric(spec),
      *symbolizeDecayOrigin(spec.decayOrigin),
      spec.exactDistances ? Precision::Exact : Precision::Fast,
      /*mask=*/Attribute(), /*epilogue=*/ArrayAttr(),
      buildSaves(context, savesLogSums));
  func::ReturnOp::create(builder, loc, op->getResults());
  return module;
}
