//===- Check.cpp - a run against the oracle -------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/rt/Check.h"

#include "tools/oracle/GradientCheck.h"
#include "tools/rt/Progress.h"
#include "tools/rt/ToolError.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using llvm::Error;
using llvm::StringRef;

namespace raytention::tool {

static oracle::Error parseSpec(const AttentionSpec &spec,
                               std::vector<oracle::Channel> &channels) {
  return oracle::parseChannels(llvm::join(spec.channels, ","), channels);
}

Error checkable(const AttentionSpec &spec) {
  std::vector<oracle::Channel> channels;
  if (oracle::Error error = parseSpec(spec, channels))
    return usageError("--check: {0}", *error);
  return Error::success();
}

static void widen(const Buffer &values, DType dtype, int64_t count,
                  std::vector<double> &out) {
  out.resize(count);
  parallelRanges(count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      out[i] = elementAt(values, dtype, i);
  });
}

static oracle::DType oracleType(DType dtype) {
  return dtype == DType::F64    ? oracle::DType::F64
         : dtype == DType::BF16 ? oracle::DType::BF16
                                : oracle::DType::F32;
}

/// The inputs as the compiled code got them, in double.
static oracle::Error makeProblem(const RunInputs &in, oracle::Problem &out) {
  out.batch = in.batch;
  out.numQueries = in.numQueries;
  out.numKeys = in.numKeys;
  out.vocab = in.vocab;
  out.dModel = in.dModel();
  widen(in.queries, in.spec.dtype, in.rows() * in.dModel(), out.queries);
  widen(in.table, in.spec.dtype, in.vocab * in.dModel(), out.table);
  out.ids.resize(in.batch * in.numKeys);
  for (size_t i = 0; i < out.ids.size(); ++i)
    out.ids[i] = in.idAt(i);
  out.tau = in.tau;
  out.tauFloor = oracle::temperatureFloor(oracleType(in.spec.dtype));
  out.gammas = in.gammas;
  out.queryOffset = in.queryOffset;
  out.lengths = in.lengths;
  out.metric =
      in.spec.metric == "l2" ? oracle::Metric::L2 : oracle::Metric::SqL2;
  out.decayOrigin = in.spec.decayOrigin == "query"
                        ? oracle::DecayOrigin::Query
                        : oracle::DecayOrigin::SequenceEnd;
  return parseSpec(in.spec, out.channels);
}

namespace {

/// One check: what the oracle is asked, and for which rows.
class Checker {
public:
  Checker(Attention &attention, const RunInputs &inputs,
          const RunResult &result, const CheckSettings &settings)
      : attention(attention), inputs(inputs), result(result),
        settings(settings) {}

  llvm::Expected<CheckOutcome> check();

private:
  void chooseRows();
  Error checkSignals(oracle::CheckReport &report);
  Error checkGradients(oracle::CheckReport &report);
  Error runSampled(GradientResult &gradients);
  oracle::GradientValue valuesOf(Buffer GradientResult::*part) const;

  double dSignalAt(int64_t row, int64_t s) const {
    return outputAt(inputs.dSignals, result.dtype, row * result.width + s);
  }
  int64_t flat(oracle::RowId id) const {
    return id.batch * inputs.numQueries + id.row;
  }

  Attention &attention;
  const RunInputs &inputs;
  const RunResult &result;
  CheckSettings settings;
  oracle::Problem problem;
  oracle::CheckOptions options;
  std::vector<oracle::RowId> rows;
  /// Gradients of the rows alone, where they are sampled.
  std::optional<GradientResult> sampled;
};

} // namespace

void Checker::chooseRows() {
  constexpr int64_t sampleCount = 256;
  rows =
      oracle::needsSampling(inputs.numKeys, inputs.dModel())
          ? oracle::sampleRows(inputs.batch, inputs.numQueries, settings.seed,
                               sampleCount, settings.queryTile)
          : oracle::allRows(problem);
}

Error Checker::checkSignals(oracle::CheckReport &report) {
  Progress progress("check", rows.size());
  auto values = [&](oracle::RowId id, double *x) {
    for (int64_t s = 0; s < result.width; ++s)
      x[s] = result.rawAt(flat(id), s);
    progress.step();
  };
  if (oracle::Error error =
          oracle::check(problem, rows, values, options, report))
    return usageError("--check: {0}", *error);
  return Error::success();
}

/// Gradients of a dy that is zero but in the chosen rows.
Error Checker::runSampled(GradientResult &gradients) {
  Buffer dSignals(inputs.dSignals.size());
  if (!dSignals)
    return missingError("memory: expected {0} bytes more to check gradients, "
                        "got none; use a smaller shape",
                        inputs.dSignals.size());
  std::memset(dSignals.data(), 0, dSignals.size());
  int64_t bytes = result.width * npyItemSize(outputType(result.dtype));
  for (oracle::RowId id : rows)
    std::memcpy(dSignals.as<char>() + flat(id) * bytes,
                inputs.dSignals.as<char>() + flat(id) * bytes, bytes);
  if (Error error = allocateGradients(inputs, gradients))
    return error;
  return runBackward(attention, inputs, result, dSignals, settings.threads,
                     gradients)
      .takeError();
}

/// Where rows are sampled, the gradients of all rows only have to be finite.
oracle::GradientValue Checker::valuesOf(Buffer GradientResult::*part) const {
  const Buffer &all = *result.gradients.*part;
  const Buffer &checked = sampled ? *sampled.*part : all;
  return [this, &all, &checked](int64_t index) {
    double value = outputAt(all, result.dtype, index);
    return std::isfinite(value) ? outputAt(checked, result.dtype, index)
                                : value;
  };
}

Error Checker::checkGradients(oracle::CheckReport &report) {
  if (int64_t(rows.size()) < inputs.rows())
    if (Error error = runSampled(sampled.emplace()))
      return error;
  Progress progress("check of gradients", rows.size());
  auto dSignals = [&](oracle::RowId id, double *dy) {
    for (int64_t s = 0; s < result.width; ++s)
      dy[s] = dSignalAt(flat(id), s);
  };
  oracle::ComputedGradients computed = {
      valuesOf(&GradientResult::queries), valuesOf(&GradientResult::table),
      valuesOf(&GradientResult::tau), valuesOf(&GradientResult::gammas),
      [&](oracle::RowId id, int64_t *indices) {
        for (int64_t slot = 0; slot < result.numIndices; ++slot)
          indices[slot] = result.indexAt(flat(id), slot);
      }};
  if (oracle::Error error = oracle::checkGradients(
          problem, rows, dSignals, computed, options, [&] { progress.step(); },
          report))
    return usageError("--check: {0}", *error);
  return Error::success();
}

llvm::Expected<CheckOutcome> Checker::check() {
  if (oracle::Error error = makeProblem(inputs, problem))
    return usageError("--check: {0}", *error);
  options.dtype = oracleType(inputs.spec.dtype);
  options.exactDistances = inputs.spec.exactDistances;
  options.threads = settings.threads;
  chooseRows();
  CheckOutcome outcome;
  outcome.totalRows = inputs.rows();
  outcome.sampled = int64_t(rows.size()) < outcome.totalRows;
  if (Error error = checkSignals(outcome.report))
    return error;
  if (!result.gradients)
    return outcome;
  outcome.gradients = true;
  oracle::CheckReport gradients;
  if (Error error = checkGradients(gradients))
    return error;
  for (oracle::CheckItem &item : gradients.items)
    outcome.report.add(std::move(item));
  return outcome;
}

llvm::Expected<CheckOutcome> checkResult(Attention &attention,
                                         const RunInputs &inputs,
                                         const RunResult &result,
                                         const CheckSettings &settings) {
  return Checker(attention, inputs, result, settings).check();
}

int64_t queryTileOf(StringRef schedule) {
  constexpr int64_t usual = 32;
  StringRef rest = schedule.substr(schedule.find("query_tile"));
  int64_t tile;
  if (!rest.consume_front("query_tile"))
    return usual;
  rest = rest.ltrim(" =:");
  return rest.consumeInteger(10, tile) || tile < 1 ? usual : tile;
}

} // namespace raytention::tool
