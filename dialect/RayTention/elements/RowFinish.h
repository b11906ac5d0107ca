//===- RowFinish.h - channels of a finished row ----------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_DIALECT_ELEMENTS_ROWFINISH_H
#define RAYTENTION_DIALECT_ELEMENTS_ROWFINISH_H

#include "dialect/RayTention/GradientLayout.h"
#include "dialect/RayTention/elements/SweepState.h"

namespace raytention {

/// A row whose sweeps are done: what each channel makes of its states.
class RowFinish {
public:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<mlir::Value>;
  /// `row` and `last`: positions of the row and of its sequence's last token,
  /// i32.
  RowFinish(ElementBuilder &b, const SweepLayout &sweep,
            const ParameterValues &params, RowState &score, RowState &reduce,
            Value row, Value last)
      : b(b), sweep(sweep), params(params), score(score), reduce(reduce),
        row(row), last(last) {}

  /// The factor of a weighted channel's sum, the position that a copying one
  /// takes its key from, or a scalar one's number.
  Value finish(const ChannelSlots &slot);
  /// What the row saves for its gradient, in the order of `saved`.
  Values getSaved(const GradientLayout &saved);

private:
  Value getLogOfSum(int64_t field);
  Value getRelativeLogSum(const ChannelSlots &slot);
  void visit(const ChannelSlots &slot,
             llvm::function_ref<void(const RowValues &)> body);

  ElementBuilder &b;
  const SweepLayout &sweep;
  const ParameterValues &params;
  RowState &score, &reduce;
  Value row, last;
};

} // namespace raytention

#endif // RAYTENTION_DIALECT_ELEMENTS_ROWFINISH_H
