//===- GradientEdits.h - edits of a gradient, and their meaning -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TESTS_EXEC_GRADIENTEDITS_H
#define RAYTENTION_TESTS_EXEC_GRADIENTEDITS_H

#include "tests/exec/GradientProblem.h"
#include "tests/exec/StageEdits.h"

namespace raytention::test {

/// The schedule of the edited programs: two chunks of keys, and in family
/// stored two of rows.
struct GradientSizes {
  static constexpr int64_t kKeys = 20, kWidth = 8, kVocab = 12, kTile = 8,
                           kChunk = 16;
};

/// Two sequences of 20 and 13 keys; ids stay below 5, so that a part of the
/// table is a table too.
GradientProblem makeGradientProblem(std::vector<std::string> channels);

/// An edit of a stage that holds a gradient.
struct GradientEdit {
  const char *name;
  std::vector<std::string> channels;
  void (*change)(mlir::ModuleOp);
  /// What the edited stage means; NaN stands for any value.
  GradientValues (*meaning)(GradientProblem &, bool isStored);
  Outcome fused, stored;
  const char *stage = "tiled";
  bool isTypical = false; ///< for the plain run
};

std::vector<GradientEdit> getGradientEdits();

//===----------------------------------------------------------------------===//
// From the reference on changed inputs
//===----------------------------------------------------------------------===//

GradientValues gradientIsTheSame(GradientProblem &problem, bool isStored);
/// Row v of the table is row v + 6.
GradientValues gradientOfLaterRows(GradientProblem &problem, bool isStored);
/// Each sequence has the other's dy.
GradientValues gradientOfSwappedDy(GradientProblem &problem, bool isStored);
/// Each sequence's dq stands at the other's place.
GradientValues gradientIsSwapped(GradientProblem &problem, bool isStored);
/// Row i stands at position i + lengths[0] - lengths[1].
GradientValues gradientOfLaterPositions(GradientProblem &problem,
                                        bool isStored);
/// The table's gradient is added to ones.
GradientValues gradientOnOnes(GradientProblem &problem, bool isStored);

//===----------------------------------------------------------------------===//
// Pair by pair, of a centroid
//===----------------------------------------------------------------------===//

GradientValues gradientWithoutQueries(GradientProblem &problem, bool isStored);
GradientValues gradientWithoutKeys(GradientProblem &problem, bool isStored);
GradientValues gradientWithoutDifferences(GradientProblem &problem,
                                          bool isStored);
GradientValues gradientWithoutWeights(GradientProblem &problem, bool isStored);
/// dq of the first sequence alone.
GradientValues gradientOfTheFirst(GradientProblem &problem, bool isStored);
/// The side of queries sums keys from the second chunk on.
GradientValues gradientOfLaterKeys(GradientProblem &problem, bool isStored);
/// The side of keys sums rows from the second tile that sees a chunk on.
GradientValues gradientOfLaterTiles(GradientProblem &problem, bool isStored);
/// The side of keys sums the other sequence's pairs.
GradientValues gradientOfSwappedPairs(GradientProblem &problem, bool isStored);
/// The side of keys sees one key more.
GradientValues gradientOfAnotherMask(GradientProblem &problem, bool isStored);
/// Keys are added where the other sequence's ids say.
GradientValues gradientBySwappedIds(GradientProblem &problem, bool isStored);

} // namespace raytention::test

#endif // RAYTENTION_TESTS_EXEC_GRADIENTEDITS_H
