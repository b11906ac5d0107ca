//===- OracleAttention.cpp - an attention that asks the oracle ------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/unit/OracleAttention.h"

#include "tools/oracle/Check.h"
#include "tools/rt/Run.h"

#include "llvm/ADT/StringExtras.h"

#include <atomic>

using namespace raytention;
using namespace raytention::test;

namespace {

/// Elements of a type that is only known at run time.
struct Floats {
  const void *data;
  bool isDouble;
  double operator[](int64_t n) const {
    return isDouble ? static_cast<const double *>(data)[n]
                    : static_cast<const float *>(data)[n];
  }
  std::vector<double> copy(int64_t count) const {
    std::vector<double> values(count);
    for (int64_t n = 0; n < count; ++n)
      values[n] = (*this)[n];
    return values;
  }
};

class OracleAttention : public Attention {
public:
  OracleAttention(const AttentionSpec &spec, bool backward, Fault fault)
      : spec(spec), backward(backward), fault(std::move(fault)) {
    oracle::Error error =
        oracle::parseChannels(llvm::join(spec.channels, ","), channels);
    if (error)
      std::abort();
  }

  Result<RunReport> run(const Inputs &inputs, const Outputs &outputs,
                        int threads) override {
    oracle::Problem problem = makeProblem(inputs);
    std::vector<oracle::Row> rows;
    if (oracle::Error error =
            oracle::forward(problem, oracle::allRows(problem), threads, rows))
      return Status(StatusCode::Internal, *error);
    for (size_t n = 0; n < rows.size(); ++n) {
      for (int64_t s = 0; s < signalWidth(); ++s)
        store(outputs.signals, n * signalWidth() + s, rows[n].y[s]);
      store(outputs.norm, n, rows[n].norm);
      store(outputs.logSums, n, rows[n].lse);
      for (int64_t c = 0; outputs.indices && c < numIndices(); ++c)
        outputs.indices[n * numIndices() + c] = int32_t(rows[n].indices[c]);
    }
    return RunReport{1, 1, 0, 0};
  }

  Result<RunReport> runBackward(const Inputs &inputs,
                                const Residuals &residuals,
                                const void *dSignals,
                                const Gradients &gradients,
                                int threads) override {
    if (!backward || !residuals.signals || !residuals.norm ||
        !residuals.logSums)
      return Status(StatusCode::InvalidArgument,
                    "expected all residuals, got fewer");
    oracle::Problem problem = makeProblem(inputs);
    Floats dy{dSignals, isDouble()};
    std::atomic<int64_t> used{0};
    oracle::BackwardOptions options;
    options.threads = threads;
    oracle::Gradients result;
    auto rowOf = [&](oracle::RowId id, double *row) {
      bool zero = true;
      for (int64_t s = 0; s < signalWidth(); ++s) {
        row[s] =
            dy[(id.batch * inputs.numQueries + id.row) * signalWidth() + s];
        zero &= row[s] == 0;
      }
      used += !zero;
    };
    if (oracle::Error error = oracle::backward(
            problem, oracle::allRows(problem), rowOf, options, result))
      return Status(StatusCode::Internal, *error);
    if (fault)
      fault(result, used);
    storeAll(gradients.queries, result.queries.values);
    storeAll(gradients.table, result.table.values);
    storeAll(gradients.tau, result.tau.values);
    storeAll(gradients.gammas, result.gammas.values);
    return RunReport{2, 1, 64, 64};
  }

  int64_t signalWidth() const override {
    int64_t width = 0;
    for (const oracle::Channel &channel : channels)
      width += channel.width(spec.dModel);
    return width;
  }
  int64_t numLogSums() const override { return 1; }
  int64_t numIndices() const override {
    return llvm::count_if(channels, [](const oracle::Channel &channel) {
      return channel.isCopy();
    });
  }
  double compileMs() const override { return 0; }
  std::string scheduleText() const override { return "query_tile = 8"; }

private:
  bool isDouble() const { return spec.dtype == DType::F64; }

  void store(void *out, int64_t n, double value) const {
    if (!out)
      return;
    if (isDouble())
      static_cast<double *>(out)[n] = value;
    else
      static_cast<float *>(out)[n] = float(value);
  }

  void storeAll(void *out, const std::vector<double> &values) const {
    for (size_t n = 0; n < values.size(); ++n)
      store(out, n, values[n]);
  }

  oracle::Problem makeProblem(const Inputs &in) const {
    oracle::Problem p;
    p.batch = in.batch;
    p.numQueries = in.numQueries;
    p.numKeys = in.numKeys;
    p.vocab = in.vocab;
    p.dModel = spec.dModel;
    p.queries = Floats{in.queries, isDouble()}.copy(in.batch * in.numQueries *
                                                    p.dModel);
    p.table = Floats{in.table, isDouble()}.copy(in.vocab * p.dModel);
    for (int64_t n = 0; n < in.batch * in.numKeys; ++n)
      p.ids.push_back(spec.idBits == 64
                          ? static_cast<const int64_t *>(in.ids)[n]
                          : static_cast<const int32_t *>(in.ids)[n]);
    p.tau = in.tau;
    p.tauFloor = oracle::temperatureFloor(isDouble() ? oracle::DType::F64
                                                     : oracle::DType::F32);
    p.gammas = in.gammas;
    p.queryOffset = in.queryOffset;
    p.lengths.assign(in.lengths, in.lengths + in.batch);
    if (spec.metric == "l2")
      p.metric = oracle::Metric::L2;
    if (spec.decayOrigin == "query")
      p.decayOrigin = oracle::DecayOrigin::Query;
    p.channels = channels;
    return p;
  }

  AttentionSpec spec;
  bool backward;
  Fault fault;
  std::vector<oracle::Channel> channels;
};

} // namespace

ToolOutput test::runRtOnOracle(const std::vector<std::string> &args,
                               Fault fault) {
  return runRt(
      args,
      [&](const AttentionSpec &spec,
          const CompileOptions &options) -> Result<std::unique_ptr<Attention>> {
        return std::make_unique<OracleAttention>(spec, options.backward, fault);
      });
}
