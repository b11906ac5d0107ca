//===- GradientProblem.cpp - small problems with a gradient -----*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/exec/GradientProblem.h"
#include "tests/support/Results.h"

#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <random>

using namespace raytention;
using namespace raytention::test;

namespace {

/// The upper half of a float.
uint16_t toHalf(double value) {
  float narrow = static_cast<float>(value);
  uint32_t bits;
  memcpy(&bits, &narrow, 4);
  return bits >> 16;
}

double fromHalf(uint16_t half) {
  uint32_t bits = uint32_t(half) << 16;
  float value;
  memcpy(&value, &bits, 4);
  return value;
}

/// One run with arrays of `Input` (queries and table) and `T` (the rest).
template <typename Input, typename T> class Runner {
public:
  Runner(const GradientProblem &problem, Attention &attention)
      : problem(problem), attention(attention),
        rows(problem.batch * problem.numQueries) {
    for (double value : problem.queries)
      queries.push_back(convert(value));
    for (double value : problem.table)
      table.push_back(convert(value));
    inputs.batch = problem.batch;
    inputs.numQueries = problem.numQueries;
    inputs.numKeys = problem.numKeys;
    inputs.vocab = problem.vocab;
    inputs.queries = queries.data();
    inputs.table = table.data();
    inputs.ids = problem.ids.data();
    inputs.tau = problem.tau[0];
    inputs.gammas = problem.gammas;
    inputs.queryOffset = problem.offset;
    inputs.lengths = problem.lengths.empty() ? nullptr : problem.lengths.data();
  }

  /// The signals; the other residuals stay here.
  const std::vector<T> &runForward() {
    signals.assign(rows * attention.signalWidth(), NAN);
    norms.assign(rows, NAN);
    indices.assign(rows * attention.numIndices() + 1, -7);
    logSums.assign(rows * attention.numLogSums() + 1, NAN);
    auto report = attention.run(
        inputs, {signals.data(), norms.data(), indices.data(), logSums.data()},
        1);
    if (!report)
      ADD_FAILURE() << report.status().message();
    return signals;
  }

  const std::vector<int32_t> &getIndices() const { return indices; }

  GradientValues runBackward(int threads) {
    std::vector<T> dy(problem.dSignals.begin(), problem.dSignals.end());
    std::vector<T> dq(queries.size(), NAN), dtable(table.size(), NAN),
        dtau(1, NAN), dgammas(problem.gammas.size(), NAN);
    std::vector<T> kept = signals;
    Residuals residuals{signals.data(), norms.data(), indices.data(),
                        logSums.data()};
    Gradients gradients{dq.data(), dtable.data(), dtau.data(), dgammas.data()};
    auto report =
        attention.runBackward(inputs, residuals, dy.data(), gradients, threads);
    if (!report)
      ADD_FAILURE() << report.status().message();
    // What is const stays as it is.
    EXPECT_EQ(dy,
              std::vector<T>(problem.dSignals.begin(), problem.dSignals.end()));
    EXPECT_EQ(signals, kept);
    auto widen = [](const std::vector<T> &values) {
      return std::vector<double>(values.begin(), values.end());
    };
    return {widen(dq), widen(dtable), widen(dtau), widen(dgammas)};
  }

private:
  static Input convert(double value) {
    if constexpr (std::is_same_v<Input, uint16_t>)
      return toHalf(value);
    else
      return static_cast<Input>(value);
  }

  const GradientProblem &problem;
  Attention &attention;
  int64_t rows;
  Inputs inputs;
  std::vector<Input> queries, table;
  std::vector<T> signals, norms, logSums;
  std::vector<int32_t> indices;
};

template <typename Input, typename T>
GradientValues runBoth(const GradientProblem &problem, Attention &attention,
                       int threads) {
  Runner<Input, T> runner(problem, attention);
  runner.runForward();
  return runner.runBackward(threads);
}

} // namespace

GradientProblem::GradientProblem(unsigned seed,
                                 std::vector<std::string> channels,
                                 const GradientShape &shape)
    : batch(shape.batch), numQueries(shape.numKeys - shape.offset),
      numKeys(shape.numKeys), vocab(shape.vocab), offset(shape.offset) {
  std::mt19937 random(seed);
  auto draw = [&](int64_t count, double scale) {
    std::normal_distribution<double> gauss(0, scale);
    std::vector<double> values(count);
    for (double &value : values)
      value = gauss(random);
    return values;
  };
  spec.dModel = shape.dModel;
  spec.channels = std::move(channels);
  spec.numGammas = 5;
  queries = draw(batch * numQueries * spec.dModel, 0.8);
  table = draw(vocab * spec.dModel, 0.8);
  tau = {0.7};
  gammas = {0.9, 0.5, 0.8, 0.95, 0.3};
  std::uniform_int_distribution<int32_t> token(0, vocab - 1);
  for (int64_t i = 0; i < batch * numKeys; ++i)
    ids.push_back(token(random));
  int64_t width = 0;
  for (const std::string &channel : spec.channels)
    width += test::cantFail(channelForm(channel)) == OutputForm::Scalar
                 ? 1
                 : spec.dModel;
  dSignals = draw(batch * numQueries * width, 1);
}

std::unique_ptr<Attention> GradientProblem::compile(DType type) const {
  AttentionSpec typed = spec;
  typed.dtype = type;
  CompileOptions options;
  options.target = target;
  options.schedule = schedule;
  options.workspaceCap = workspaceCap;
  options.backward = true;
  auto attention = Attention::compile(typed, options);
  if (attention)
    return std::move(*attention);
  ADD_FAILURE() << attention.status().message();
  return nullptr;
}

double GradientProblem::computeLoss(Attention &attention,
                                    std::vector<int32_t> *indices) const {
  Runner<double, double> runner(*this, attention);
  const std::vector<double> &signals = runner.runForward();
  if (indices)
    *indices = runner.getIndices();
  double loss = 0;
  for (size_t i = 0; i < signals.size(); ++i)
    loss += signals[i] * dSignals[i];
  return loss;
}

GradientValues GradientProblem::computeGradients(Attention &attention,
                                                 DType type,
                                                 int threads) const {
  if (type == DType::F64)
    return runBoth<double, double>(*this, attention, threads);
  return type == DType::F32
             ? runBoth<float, float>(*this, attention, threads)
             : runBoth<uint16_t, float>(*this, attention, threads);
}

oracle::Problem GradientProblem::toOracle() const {
  oracle::Problem problem;
  problem.batch = batch;
  problem.numQueries = numQueries;
  problem.numKeys = numKeys;
  problem.vocab = vocab;
  problem.dModel = spec.dModel;
  problem.queries = queries;
  problem.table = table;
  problem.ids.assign(ids.begin(), ids.end());
  problem.tau = tau[0];
  problem.gammas = gammas;
  problem.queryOffset = offset;
  problem.lengths = lengths;
  if (spec.metric == "l2")
    problem.metric = oracle::Metric::L2;
  if (spec.decayOrigin == "query")
    problem.decayOrigin = oracle::DecayOrigin::Query;
  auto error =
      oracle::parseChannels(llvm::join(spec.channels, ","), problem.channels);
  EXPECT_FALSE(error) << *error;
  return problem;
}

void GradientProblem::roundToHalf() {
  for (std::vector<double> *values : {&queries, &table})
    for (double &value : *values)
      value = fromHalf(toHalf(value));
}

double test::norm(const std::vector<double> &values) {
  double largest = 0;
  for (double value : values)
    largest = std::isnan(value) || std::isnan(largest)
                  ? NAN
                  : std::max(largest, std::fabs(value));
  return largest;
}

double test::distance(const std::vector<double> &got,
                      const std::vector<double> &expected) {
  std::vector<double> differences;
  for (size_t i = 0; i < expected.size(); ++i)
    differences.push_back(got[i] - expected[i]);
  return norm(differences) / norm(expected);
}
