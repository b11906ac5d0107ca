//===- EditProblem.h - an attention whose stages are edited -----*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TESTS_EXEC_EDITPROBLEM_H
#define RAYTENTION_TESTS_EXEC_EDITPROBLEM_H

#include "raytention/Attention.h"

#include <string>
#include <vector>

namespace raytention::test {

/// What a run left. In what is expected, NaN and index -2 stand for any value.
struct EditResult {
  std::vector<float> signals, norm;
  std::vector<int32_t> indices;
};

/// Drawn inputs of two sequences of 20 keys, or of 8: tiles and chunks of 8
/// that are full and not.
class EditProblem {
public:
  static constexpr int64_t kWidth = 8, kTile = 8;

  explicit EditProblem(std::vector<std::string> channels, bool isShort = false);
  EditProblem(const EditProblem &) = delete;

  /// The inputs and outputs of a run of `attention`.
  Result<EditResult> run(Attention &attention) const;
  /// What target reference makes of the inputs, as a test has changed them.
  EditResult reference() const;
  /// Signals before they are normalised, and back.
  std::vector<float> unnormalize(const EditResult &result) const;
  void normalize(EditResult &result, const std::vector<float> &raw) const;

  int64_t width() const { return numSignals; } ///< S
  int64_t rows() const { return inputs.batch * inputs.numQueries; }
  /// Whether row i of the result stands at a position of its sequence.
  bool isPresent(int64_t row) const;

  AttentionSpec spec;
  Inputs inputs;
  std::vector<float> queries, table;
  std::vector<int32_t> ids;
  std::vector<int64_t> lengths;

private:
  int64_t numSignals = 0;
};

/// The first difference in a sentence; "" where there is none.
std::string compare(const EditResult &got, const EditResult &expected);

} // namespace raytention::test

#endif // RAYTENTION_TESTS_EXEC_EDITPROBLEM_H
