//===- Gradcheck.cpp - gradients against central differences --------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/rt/Gradcheck.h"

#include "runtime/api/StatusError.h"
#include "tools/rt/Progress.h"
#include "tools/rt/ToolError.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <set>

using llvm::Error;

namespace raytention::tool {

namespace {

/// Coordinates of one input and their gradient.
struct Parameter {
  std::string name;
  double *values;
  const double *gradient;
  std::vector<int64_t> shape;
  std::vector<int64_t> chosen = {}; ///< the coordinates to compare
  double scale = 0; ///< the least size that a step is relative to
  /// Values may not leave this range, and there is a kink at its ends.
  double lowest = -HUGE_VAL, highest = HUGE_VAL;
  /// Where the relative step is small, larger ones are tried too: they show a
  /// slope that it is too little for.
  bool absoluteSteps = false;
};

/// Where the other two points of a difference lie.
enum class Side { Below, Both, Above };

/// One forward run at a shifted coordinate.
struct Evaluation {
  Buffer signals, indices;
  bool sameKeys = true; ///< as in the run that is checked
};

/// Slopes around a coordinate: up, down and central.
struct Slopes {
  double up = 0, down = 0, central = 0;
  bool sameKeys = true;
  double gap() const { return std::fabs(up - down); }
};

/// A gradient against the difference at one step.
struct Attempt {
  double err = 0;
  bool kink = false; ///< too close to compare
};

class Gradchecker {
public:
  Gradchecker(Attention &attention, RunInputs &inputs, const RunResult &result,
              uint64_t seed, int threads)
      : attention(attention), inputs(inputs), result(result), engine(seed),
        threads(threads) {}

  llvm::Expected<GradcheckOutcome> check();

private:
  std::vector<Parameter> parameters();
  void choose(Parameter &parameter, const std::vector<int64_t> &from);
  std::vector<int64_t> seenElements() const;

  Error compare(const Parameter &parameter, int64_t index, GradcheckItem &item);
  Error tryStep(const Parameter &parameter, int64_t index, double step,
                double tol, Attempt &attempt);
  Error measure(double &coordinate, double step, Side side, Slopes &slopes);
  Error evaluate(double &coordinate, double value, Evaluation &out);
  double change(const Buffer &to, const Buffer &from) const;

  Attention &attention;
  RunInputs &inputs;
  const RunResult &result;
  std::mt19937_64 engine;
  int threads;
  Evaluation one, other;
};

} // namespace

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

static std::string placeOf(int64_t index, llvm::ArrayRef<int64_t> shape) {
  std::vector<int64_t> position(shape.size());
  for (size_t axis = shape.size(); axis-- > 0; index /= shape[axis])
    position[axis] = index % shape[axis];
  return shapeText(position);
}

static double rootMeanSquare(const double *values, int64_t count) {
  double square = 0;
  for (int64_t i = 0; i < count; ++i)
    square += values[i] * values[i];
  return count ? std::sqrt(square / double(count)) : 0;
}

/// At most `limit` of the coordinates `from`, in order.
void Gradchecker::choose(Parameter &parameter,
                         const std::vector<int64_t> &from) {
  constexpr size_t limit = 64;
  if (from.size() <= limit) {
    parameter.chosen = from;
    return;
  }
  std::set<int64_t> drawn;
  while (drawn.size() < limit)
    drawn.insert(from[engine() % from.size()]);
  parameter.chosen.assign(drawn.begin(), drawn.end());
}

static std::vector<int64_t> iota(int64_t count) {
  std::vector<int64_t> all(count);
  for (int64_t i = 0; i < count; ++i)
    all[i] = i;
  return all;
}

/// Elements of the rows of the table that some query sees.
std::vector<int64_t> Gradchecker::seenElements() const {
  std::set<int64_t> tokens;
  for (int64_t b = 0; b < inputs.batch; ++b)
    for (int64_t i = inputs.numQueries; i-- > 0;)
      if (int64_t seen = inputs.visibleKeys(b, i)) {
        for (int64_t j = 0; j < seen; ++j)
          tokens.insert(inputs.idAt(b * inputs.numKeys + j));
        break; // earlier rows see less
      }
  std::vector<int64_t> elements;
  for (int64_t token : tokens)
    for (int64_t d = 0; d < inputs.dModel(); ++d)
      elements.push_back(token * inputs.dModel() + d);
  return elements;
}

std::vector<Parameter> Gradchecker::parameters() {
  const GradientResult &gradients = *result.gradients;
  int64_t width = inputs.dModel(), numQueries = inputs.rows() * width,
          numTable = inputs.vocab * width;
  Parameter queries{"dq",
                    inputs.queries.as<double>(),
                    gradients.queries.as<double>(),
                    {inputs.batch, inputs.numQueries, width}};
  queries.scale = rootMeanSquare(queries.values, numQueries);
  choose(queries, iota(numQueries));
  Parameter table{"dtable",
                  inputs.table.as<double>(),
                  gradients.table.as<double>(),
                  {inputs.vocab, width}};
  table.scale = rootMeanSquare(table.values, numTable);
  choose(table, seenElements());
  Parameter tau{"dtau", &inputs.tau, gradients.tau.as<double>(), {1}};
  tau.chosen = {0};
  constexpr double floor = 0.01; // of the temperature
  (inputs.tau < floor ? tau.highest : tau.lowest) = floor;
  Parameter gammas{"dgammas",
                   inputs.gammas.data(),
                   gradients.gammas.as<double>(),
                   {inputs.spec.numGammas}};
  gammas.chosen = iota(inputs.spec.numGammas);
  gammas.lowest = 0x1p-100;
  gammas.highest = 1;
  gammas.absoluteSteps = true;
  return {queries, table, tau, gammas};
}

//===----------------------------------------------------------------------===//
// Differences
//===----------------------------------------------------------------------===//

/// Runs forward with `coordinate` set to `value` for that time.
Error Gradchecker::evaluate(double &coordinate, double value, Evaluation &out) {
  Outputs outputs;
  outputs.signals = out.signals.data();
  outputs.indices = result.numIndices ? out.indices.as<int32_t>() : nullptr;
  double kept = coordinate;
  coordinate = value;
  Status status = attention.run(inputs.view(), outputs, threads).status();
  coordinate = kept;
  out.sameKeys = std::memcmp(out.indices.data(), result.indices.data(),
                             result.indices.size()) == 0;
  return toError(std::move(status));
}

/// f(to) - f(from), summed over differences: most are zero.
double Gradchecker::change(const Buffer &to, const Buffer &from) const {
  double sum = 0;
  const double *dy = inputs.dSignals.as<double>(), *a = to.as<double>(),
               *b = from.as<double>();
  for (int64_t n = 0, e = inputs.rows() * result.width; n < e; ++n)
    sum += dy[n] * (a[n] - b[n]);
  return sum;
}

Error Gradchecker::measure(double &coordinate, double step, Side side,
                           Slopes &slopes) {
  double first = side == Side::Above ? coordinate + step : coordinate - step;
  double second = side == Side::Below   ? coordinate - 2 * step
                  : side == Side::Above ? coordinate + 2 * step
                                        : coordinate + step;
  if (Error error = evaluate(coordinate, first, one))
    return error;
  if (Error error = evaluate(coordinate, second, other))
    return error;
  slopes.sameKeys = one.sameKeys && other.sameKeys;
  // The steps that were really taken, after rounding.
  double near = change(result.signals, one.signals) / (coordinate - first);
  if (side == Side::Both) {
    slopes.down = near;
    slopes.up = change(other.signals, result.signals) / (second - coordinate);
    slopes.central = change(other.signals, one.signals) / (second - first);
  } else {
    double far = change(one.signals, other.signals) / (first - second);
    slopes.up = side == Side::Above ? far : near;
    slopes.down = side == Side::Above ? near : far;
    slopes.central = 1.5 * near - 0.5 * far;
  }
  return Error::success();
}

/// Relative to max(1, |difference|).
static double relativeError(double gradient, double difference) {
  double error =
      std::fabs(gradient - difference) / std::max(1.0, std::fabs(difference));
  return std::isfinite(error) ? error : HUGE_VAL;
}

Error Gradchecker::tryStep(const Parameter &parameter, int64_t index,
                           double step, double tol, Attempt &attempt) {
  double &coordinate = parameter.values[index];
  double gradient = parameter.gradient[index];
  Side side = coordinate + step > parameter.highest  ? Side::Below
              : coordinate - step < parameter.lowest ? Side::Above
                                                     : Side::Both;
  Slopes slopes;
  if (Error error = measure(coordinate, step, side, slopes))
    return error;
  attempt.err = relativeError(gradient, slopes.central);
  if (slopes.sameKeys && attempt.err <= tol)
    return Error::success();
  // A smaller step may stay on this side of a kink.
  Slopes smaller;
  if (Error error = measure(coordinate, step / 10, side, smaller))
    return error;
  bool kink = smaller.gap() > 0.5 * slopes.gap() &&
              smaller.gap() > tol * std::max(1.0, std::fabs(gradient));
  attempt.err = relativeError(gradient, smaller.central);
  attempt.kink = !smaller.sameKeys || (attempt.err > tol && kink);
  return Error::success();
}

Error Gradchecker::compare(const Parameter &parameter, int64_t index,
                           GradcheckItem &item) {
  double size = std::max(std::fabs(parameter.values[index]), parameter.scale);
  llvm::SmallVector<double> steps = {size > 0 ? 1e-5 * size : 1e-5};
  for (double step = 1e-5; parameter.absoluteSteps && step > 1e-12; step /= 100)
    if (step > 10 * steps[0])
      steps.push_back(step);
  Attempt best{HUGE_VAL, true};
  for (double step : steps) {
    Attempt attempt;
    if (Error error = tryStep(parameter, index, step, item.tol, attempt))
      return error;
    if (!attempt.kink && (best.kink || attempt.err < best.err))
      best = attempt;
    if (!best.kink && best.err <= item.tol)
      break;
  }
  if (best.kink) {
    ++item.skipped;
    return Error::success();
  }
  ++item.compared;
  item.err = std::max(item.err, best.err);
  if (best.err > item.tol && item.passed) {
    item.passed = false;
    item.where = placeOf(index, parameter.shape);
  }
  return Error::success();
}

llvm::Expected<GradcheckOutcome> Gradchecker::check() {
  std::vector<Parameter> all = parameters();
  int64_t steps = 0;
  for (const Parameter &parameter : all)
    steps += int64_t(parameter.chosen.size());
  for (Evaluation *evaluation : {&one, &other}) {
    evaluation->signals = Buffer(result.signals.size());
    evaluation->indices = Buffer(result.indices.size());
    if (!evaluation->signals || !evaluation->indices)
      return missingError("memory: expected room for two more outputs of {0} "
                          "bytes, got none; use a smaller shape",
                          result.signals.size());
  }
  Progress progress("gradcheck", steps);
  GradcheckOutcome outcome;
  for (const Parameter &parameter : all) {
    GradcheckItem item;
    item.name = parameter.name;
    item.total = 1;
    for (int64_t extent : parameter.shape)
      item.total *= extent;
    for (int64_t index : parameter.chosen) {
      if (Error error = compare(parameter, index, item))
        return error;
      progress.step();
    }
    outcome.passed &= item.passed;
    outcome.items.push_back(std::move(item));
  }
  return outcome;
}

llvm::Expected<GradcheckOutcome> gradcheck(Attention &attention,
                                           RunInputs &inputs,
                                           const RunResult &result,
                                           uint64_t seed, int threads) {
  return Gradchecker(attention, inputs, result, seed, threads).check();
}

} // namespace raytention::tool
