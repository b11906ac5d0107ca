//===- AttentionBlock.h - the compiled attention on matrices ----*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_EXAMPLES_CHARLM_ATTENTIONBLOCK_H
#define RAYTENTION_EXAMPLES_CHARLM_ATTENTIONBLOCK_H

#include "examples/charlm/Matrix.h"
#include "examples/charlm/Parameters.h"
#include "raytention/Attention.h"

namespace raytention::charlm {

/// Sequences of ids that are read, and the rows of them that are computed: the
/// last `queries` positions of each. Nothing later is ever seen, so the others
/// need no rows: the keys of every layer are rows of the table.
struct Batch {
  int64_t sequences = 0, keys = 0, queries = 0;
  std::vector<int32_t> ids;     ///< [sequences, keys]
  std::vector<int32_t> targets; ///< [sequences, queries]: the id that follows

  int64_t rows() const { return sequences * queries; }
  int64_t offset() const { return keys - queries; }
  /// The id at the position of row `row`.
  int32_t idOf(int64_t row) const {
    return ids[size_t(row / queries * keys + offset() + row % queries)];
  }
};

/// What the attention of one layer gave and its backward needs.
template <typename Real> struct Signals {
  Matrix<Real> signals; ///< y, [rows, S]
  std::vector<Real> norm, logSums;
  std::vector<int32_t> indices;
};

/// Runs one compiled attention for all layers of a model.
template <typename Real> class AttentionBlock {
public:
  /// Compiles, with gradients where `backward`.
  static Result<std::unique_ptr<Attention>> compile(const ModelShape &shape,
                                                    bool backward);

  AttentionBlock(std::unique_ptr<Attention> attention, int threads)
      : attention(std::move(attention)), threads(threads) {}

  int64_t signalWidth() const { return attention->signalWidth(); }

  Status forward(const Batch &batch, ConstView<Real> table,
                 const Scales &scales, const Matrix<Real> &queries,
                 Signals<Real> &out);

  /// Overwrites the gradients; those of tau and gammas are in `dScales`.
  struct Gradients {
    Matrix<Real> queries, table;
    Real tau = 0;
    std::vector<Real> gammas;
  };
  Status backward(const Batch &batch, ConstView<Real> table,
                  const Scales &scales, const Matrix<Real> &queries,
                  const Signals<Real> &saved, const Matrix<Real> &dSignals,
                  Gradients &out);

private:
  std::unique_ptr<Attention> attention;
  int threads;
};

} // namespace raytention::charlm

#endif // RAYTENTION_EXAMPLES_CHARLM_ATTENTIONBLOCK_H
