//===- Check.cpp - a run against the oracle -------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/rt/Check.h"

#include "tools/rt/Progress.h"
#include "tools/rt/ToolError.h"

#include "llvm/ADT/StringExtras.h"

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

static oracle::DType oracleType(DType dtype) {
  return dtype == DType::F64    ? oracle::DType::F64
         : dtype == DType::BF16 ? oracle::DType::BF16
                                : oracle::DType::F32;
}

llvm::Expected<CheckOutcome> checkResult(const RunInputs &inputs,
                                         const RunResult &result, uint64_t seed,
                                         int64_t queryTile, int threads) {
  constexpr int64_t sampleCount = 256;
  oracle::Problem problem;
  if (oracle::Error error = makeProblem(inputs, problem))
    return usageError("--check: {0}", *error);
  CheckOutcome outcome;
  outcome.totalRows = inputs.rows();
  std::vector<oracle::RowId> rows =
      oracle::needsSampling(inputs.numKeys, inputs.dModel())
          ? oracle::sampleRows(inputs.batch, inputs.numQueries, seed,
                               sampleCount, queryTile)
          : oracle::allRows(problem);
  outcome.sampled = int64_t(rows.size()) < outcome.totalRows;

  Progress progress("check", rows.size());
  auto values = [&](oracle::RowId id, double *x) {
    int64_t row = id.batch * inputs.numQueries + id.row;
    for (int64_t s = 0; s < result.width; ++s)
      x[s] = result.rawAt(row, s);
    progress.step();
  };
  oracle::CheckOptions options;
  options.dtype = oracleType(inputs.spec.dtype);
  options.threads = threads;
  if (oracle::Error error =
          oracle::check(problem, rows, values, options, outcome.report))
    return usageError("--check: {0}", *error);
  return outcome;
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
