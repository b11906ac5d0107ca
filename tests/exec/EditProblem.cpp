//===- EditProblem.cpp - an attention whose stages are edited -------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/exec/EditProblem.h"
#include "tests/support/Results.h"

#include <cmath>
#include <random>

using namespace raytention;
using namespace raytention::test;

/// Ids stay below this, so that a part of the table is a table too.
static constexpr int64_t kVocab = 12, kIds = 5;

EditProblem::EditProblem(std::vector<std::string> channels, bool isShort) {
  spec.dModel = kWidth;
  spec.channels = std::move(channels);
  spec.numGammas = 3;
  for (const std::string &channel : spec.channels) {
    bool isNumber = test::cantFail(channelForm(channel)) == OutputForm::Scalar;
    numSignals += isNumber ? 1 : kWidth;
  }
  std::mt19937 random(11);
  std::normal_distribution<float> normal(0, 0.6f);
  inputs.batch = 2;
  inputs.numKeys = inputs.numQueries = isShort ? kTile : 20;
  inputs.vocab = kVocab;
  inputs.tau = 0.8;
  inputs.gammas = {0.9, 0.6, 0.97};
  for (int64_t i = 0; i < rows() * kWidth; ++i)
    queries.push_back(normal(random));
  for (int64_t i = 0; i < kVocab * kWidth; ++i)
    table.push_back(normal(random));
  for (int64_t i = 0; i < inputs.batch * inputs.numKeys; ++i)
    ids.push_back(random() % kIds);
  lengths = {inputs.numKeys, isShort ? inputs.numKeys : 13};
  inputs.queries = queries.data();
  inputs.table = table.data();
  inputs.ids = ids.data();
  inputs.lengths = lengths.data();
}

bool EditProblem::isPresent(int64_t row) const {
  return row % inputs.numQueries < lengths[row / inputs.numQueries];
}

Result<EditResult> EditProblem::run(Attention &attention) const {
  EditResult result;
  result.signals.assign(rows() * width(), NAN);
  result.norm.assign(rows(), NAN);
  result.indices.assign(rows() * attention.numIndices(), -7);
  Outputs outputs;
  outputs.signals = result.signals.data();
  outputs.norm = result.norm.data();
  outputs.indices = result.indices.data();
  auto report = attention.run(inputs, outputs, 2);
  if (!report)
    return report.status();
  return result;
}

EditResult EditProblem::reference() const {
  CompileOptions options;
  options.target = TargetKind::Reference;
  auto attention = test::cantFail(Attention::compile(spec, options));
  EditResult result = cantFail(run(*attention));
  // What stands beyond a sequence has chosen no key.
  int64_t copies = attention->numIndices();
  for (int64_t row = 0; row < rows(); ++row)
    if (!isPresent(row))
      std::fill_n(result.indices.begin() + row * copies, copies, -2);
  return result;
}

std::vector<float> EditProblem::unnormalize(const EditResult &result) const {
  std::vector<float> raw = result.signals;
  for (size_t i = 0; i < raw.size(); ++i)
    raw[i] *= result.norm[i / width()];
  return raw;
}

void EditProblem::normalize(EditResult &result,
                            const std::vector<float> &raw) const {
  for (int64_t row = 0; row < rows(); ++row) {
    double square = 0;
    const float *from = &raw[row * width()];
    for (int64_t i = 0; i < width(); ++i)
      square += double(from[i]) * from[i];
    result.norm[row] = std::sqrt(square);
    for (int64_t i = 0; i < width(); ++i)
      result.signals[row * width() + i] =
          from[i] / std::max(std::sqrt(square), 1e-10);
  }
}

static std::string compareFloats(const char *what,
                                 const std::vector<float> &got,
                                 const std::vector<float> &expected) {
  if (got.size() != expected.size())
    return std::string(what) + ": another size";
  for (size_t i = 0; i < got.size(); ++i)
    if (!std::isnan(expected[i]) && !(std::fabs(got[i] - expected[i]) <=
                                      5e-5 * (1 + std::fabs(expected[i]))))
      return std::string(what) + " " + std::to_string(i) + ": expected " +
             std::to_string(expected[i]) + ", got " + std::to_string(got[i]);
  return "";
}

std::string test::compare(const EditResult &got, const EditResult &expected) {
  std::string text = compareFloats("signal", got.signals, expected.signals);
  if (text.empty())
    text = compareFloats("norm", got.norm, expected.norm);
  for (size_t i = 0; text.empty() && i < expected.indices.size(); ++i)
    if (got.indices[i] != expected.indices[i] && expected.indices[i] != -2)
      text = "index " + std::to_string(i) + ": expected " +
             std::to_string(expected.indices[i]) + ", got " +
             std::to_string(got.indices[i]);
  return text;
}
