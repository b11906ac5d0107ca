//===- ScoreError.cpp - how wrong compiled scores are ---------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the factors c(D) of tools/oracle/ScoreError.cpp come from. Runs the
// max_score channel on the CPU and compares it with long double, by width, for
// random keys and for queries near their key. Prints the largest error in units
// of what ScoreError.h multiplies c(D) with:
//
//   expansion     |z error| t / (u (||q||^2 + ||k||^2))
//   l2            |z error| t / (16 u sqrt(||q||^2 + ||k||^2)), by expansion
//   differences   |z error| t / (u dist)
//
//   build/bin/score-error [SEEDS]    4 draws of 1024 pairs, unless told
//   otherwise
//
// An entry of the table is the largest number of its widths and columns, the
// l2 column with the expansions, rounded up to a half.
//
//===----------------------------------------------------------------------===//

#include "raytention/Attention.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace raytention;

namespace {

/// Sequences of one token each, so that the largest score of a row is its
/// distance from that token's key.
constexpr int64_t kSequences = 64, kRows = 16;

enum class Form { Expansion, L2, Differences };
enum class Keys { Random, Near };

template <typename T> struct Pairs {
  std::vector<T> queries, table;
  std::vector<int32_t> ids;
};

template <typename T> Pairs<T> draw(int64_t width, Keys keys, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal;
  Pairs<T> pairs;
  for (int64_t n = 0; n < kSequences * width; ++n)
    pairs.table.push_back(T(normal(engine)));
  for (int64_t b = 0; b < kSequences; ++b)
    for (int64_t i = 0; i < kRows; ++i) {
      pairs.ids.push_back(int32_t(b));
      for (int64_t d = 0; d < width; ++d)
        pairs.queries.push_back(
            keys == Keys::Near
                ? T(pairs.table[b * width + d] + 1e-3 * normal(engine))
                : T(normal(engine)));
    }
  return pairs;
}

Result<std::unique_ptr<Attention>> compile(int64_t width, DType dtype,
                                           Form form) {
  AttentionSpec spec;
  spec.dModel = width;
  spec.dtype = dtype;
  spec.channels = {"max_score"};
  spec.metric = form == Form::L2 ? "l2" : "sq_l2";
  spec.exactDistances = form == Form::Differences;
  CompileOptions options;
  return Attention::compile(spec, options);
}

/// The score of a pair less the true one, over what c(D) is multiplied with.
template <typename T>
double relativeError(const T *query, const T *key, int64_t width, Form form,
                     T score) {
  long double dist = 0, norms = 0;
  for (int64_t d = 0; d < width; ++d) {
    long double q = query[d], k = key[d];
    dist += (q - k) * (q - k);
    norms += q * q + k * k;
  }
  if (form == Form::L2)
    dist = std::sqrt(dist);
  long double unit = form == Form::Expansion ? norms
                     : form == Form::L2      ? 16 * std::sqrt(norms)
                                             : dist;
  unit *= std::numeric_limits<T>::epsilon() / 2;
  return double(std::fabs(-dist - score) / unit);
}

/// The largest of one draw; t is 1.
template <typename T>
Result<double> measure(Attention &attention, int64_t width, Form form,
                       const Pairs<T> &pairs) {
  std::vector<T> signals(kSequences * kRows), norms(kSequences * kRows);
  Inputs inputs;
  inputs.batch = inputs.vocab = kSequences;
  inputs.numQueries = inputs.numKeys = kRows;
  inputs.queries = pairs.queries.data();
  inputs.table = pairs.table.data();
  inputs.ids = pairs.ids.data();
  Outputs outputs;
  outputs.signals = signals.data();
  outputs.norm = norms.data();
  if (auto report = attention.run(inputs, outputs, 1); !report)
    return report.status();
  double largest = 0;
  for (int64_t row = 0; row < kSequences * kRows; ++row)
    largest = std::max(
        largest,
        relativeError(pairs.queries.data() + row * width,
                      pairs.table.data() + pairs.ids[row] * width, width, form,
                      signals[row] * std::max(norms[row], T(1e-10))));
  return largest;
}

template <typename T>
Status printColumns(int64_t width, DType dtype, unsigned seeds) {
  for (Form form : {Form::Expansion, Form::L2, Form::Differences}) {
    auto attention = compile(width, dtype, form);
    if (!attention)
      return attention.status();
    for (Keys keys : {Keys::Random, Keys::Near}) {
      double largest = 0;
      for (unsigned seed = 0; seed < seeds; ++seed) {
        auto error =
            measure<T>(**attention, width, form, draw<T>(width, keys, seed));
        if (!error)
          return error.status();
        largest = std::max(largest, *error);
      }
      llvm::outs() << llvm::formatv("{0,9:f2}", largest);
    }
  }
  return Status();
}

Status printTable(unsigned seeds) {
  llvm::outs()
      << "        f32                                                  "
         " f64\n      D"
      << "   expansion          l2       differences"
      << "      expansion          l2       differences\n       "
      << "   random   near   random   near   random   near"
      << "   random   near   random   near   random   near\n";
  for (int64_t width :
       {1,   2,   3,   4,   8,   16,  17,  31,   48,   64,   65,  100,
        128, 129, 200, 256, 300, 512, 768, 1024, 2048, 4096, 8192}) {
    llvm::outs() << llvm::formatv("{0,7}", width);
    if (Status status = printColumns<float>(width, DType::F32, seeds);
        !status.ok())
      return status;
    if (Status status = printColumns<double>(width, DType::F64, seeds);
        !status.ok())
      return status;
    llvm::outs() << "\n";
  }
  return Status();
}

} // namespace

int main(int argc, char **argv) {
  unsigned seeds = 4;
  if (argc > 2 ||
      (argc == 2 &&
       (llvm::StringRef(argv[1]).getAsInteger(10, seeds) || seeds == 0))) {
    llvm::errs() << "score-error: expected at most a number of draws\n";
    return 2;
  }
  if (Status status = printTable(seeds); !status.ok()) {
    llvm::errs() << "score-error: " << status.message() << "\n";
    return 1;
  }
  return 0;
}
