//===- Train.h - the training loop and its curve ----------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_EXAMPLES_CHARLM_TRAIN_H
#define RAYTENTION_EXAMPLES_CHARLM_TRAIN_H

#include "examples/charlm/Adam.h"
#include "examples/charlm/Batches.h"
#include "examples/charlm/Model.h"

#include <chrono>
#include <functional>

namespace raytention::charlm {

struct TrainOptions {
  int64_t steps = 2000;
  double minutes = 0; ///< 0: no limit but the steps
  int64_t sequences = 16, context = 128;
  double rate = 6e-3; ///< of Adam, at its highest
  uint64_t seed = 0;
};

/// Losses in nats per character after some steps.
struct CurvePoint {
  int64_t step = 0;
  double training = 0;   ///< mean of the batches since the point before
  double validation = 0; ///< on a part of the validation text
  double seconds = 0;
};

/// The learning rate after `progress` in [0, 1] of the run: a short rise, then
/// half a cosine down to a tenth.
double rateAt(const TrainOptions &options, int64_t step, double progress);

/// Mean loss over batches in nats per character.
Result<double> meanLoss(Model<float> &model, llvm::ArrayRef<Batch> batches);

/// Trains a model on the corpus.
class Trainer {
public:
  Trainer(Model<float> &model, const Corpus &corpus, TrainOptions options);

  /// Trains to the end and calls `report` for each point, twenty or so.
  Result<std::vector<CurvePoint>>
  run(const std::function<void(const CurvePoint &)> &report);

  /// One step; returns the loss of its batch.
  Result<double> step(double progress);

private:
  using Clock = std::chrono::steady_clock;
  double seconds() const {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }
  /// The larger part used up, of the steps and of the time.
  double progress() const;

  Model<float> &model;
  const Corpus &corpus;
  TrainOptions options;
  Random random;
  Adam adam;
  Vector<float> gradient;
  int64_t steps = 0;
  Clock::time_point start = Clock::now();
};

} // namespace raytention::charlm

#endif // RAYTENTION_EXAMPLES_CHARLM_TRAIN_H
