//===- Train.cpp - the training loop and its curve ------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "examples/charlm/Train.h"

#include <algorithm>
#include <cmath>

namespace raytention::charlm {

double rateAt(const TrainOptions &options, int64_t step, double progress) {
  constexpr double warmup = 50, lowest = 0.1, pi = 3.141592653589793;
  double rise = std::min(1.0, double(step + 1) / warmup);
  double fall = 0.5 * (1 + std::cos(pi * progress));
  return options.rate * rise * (lowest + (1 - lowest) * fall);
}

Result<double> meanLoss(Model<float> &model, llvm::ArrayRef<Batch> batches) {
  double sum = 0;
  int64_t rows = 0;
  for (const Batch &batch : batches) {
    Result<double> loss = model.loss(batch);
    if (!loss)
      return loss.status();
    sum += *loss * double(batch.rows());
    rows += batch.rows();
  }
  return rows ? sum / double(rows) : 0.0;
}

Trainer::Trainer(Model<float> &model, const Corpus &corpus,
                 TrainOptions options)
    : model(model), corpus(corpus), options(options),
      random(options.seed ^ 0x5eedbadc0ffeeu),
      adam(model.parameters.size(), Adam::Options()) {}

double Trainer::progress() const {
  double done = double(steps) / double(options.steps);
  if (options.minutes > 0)
    done = std::max(done, seconds() / (60 * options.minutes));
  return std::min(done, 1.0);
}

Result<double> Trainer::step(double progress) {
  Batch batch = randomBatch(corpus.training(), options.sequences,
                            options.context, random);
  Result<double> loss = model.lossAndGradient(batch, gradient);
  if (!loss)
    return loss.status();
  adam.step(model.parameters, gradient, rateAt(options, steps, progress));
  ++steps;
  return loss;
}

Result<std::vector<CurvePoint>>
Trainer::run(const std::function<void(const CurvePoint &)> &report) {
  constexpr int64_t points = 20, stride = 8;
  auto windows = scoringBatches(corpus.ids, corpus.split, options.context,
                                options.sequences, stride);
  std::vector<CurvePoint> curve;
  double sum = 0;
  int64_t since = 0, next = 1;
  for (double done = 0; done < 1;) {
    Result<double> loss = step(done);
    if (!loss)
      return loss.status();
    sum += *loss;
    ++since;
    done = progress();
    if (done * points < double(next))
      continue;
    Result<double> validation = meanLoss(model, windows);
    if (!validation)
      return validation.status();
    curve.push_back({steps, sum / double(since), *validation, seconds()});
    report(curve.back());
    sum = 0;
    since = 0;
    next = int64_t(done * points) + 1;
  }
  return curve;
}

} // namespace raytention::charlm
