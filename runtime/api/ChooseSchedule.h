//===- ChooseSchedule.h - tile, chunk and kept scores that fit a cap -*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_API_CHOOSESCHEDULE_H
#define RAYTENTION_RUNTIME_API_CHOOSESCHEDULE_H

#include "raytention/Attention.h"

#include "llvm/Support/Error.h"

namespace raytention {

/// What the bytes of a worker depend on.
struct WorkspaceProblem {
  int64_t dModel = 0;
  int64_t elementBytes = 4; ///< of the accumulators
  int64_t numWeighted = 0;  ///< channels that sum keys
  int64_t numFields = 0;    ///< scalars of a row's states, both sweeps
  int64_t numKeys = 0;      ///< of a sequence; 0: not known
  int64_t cap = 0;          ///< bytes
  bool backward = false;    ///< whether gradients are to fit too
  /// Pairs of the attention folded onto the vocabulary, over those of it by
  /// positions.
  double foldedShare = 1;
};

/// Rows at a time of a folded attention: as many tasks as most machines have
/// cores, few positions per row of their own.
constexpr int64_t kFoldRows = 256;

/// A complete schedule.
struct ChosenSchedule {
  int64_t queryTile = 32, keyChunk = 192, splitKeys = 1;
  bool keepScores = true;
  bool isStored = false;  ///< family
  int64_t queryChunk = 0; ///< rows at a time in family stored; 0: all
  int64_t foldChunk = 0;  ///< rows at a time over distinct tokens; 0: positions
};

/// About how many bytes one worker uses: packed queries and keys, scores and
/// weights of a chunk, states, sums, and the scores that are kept; with
/// gradients, what the larger of the passes needs.
int64_t estimateWorkspace(const WorkspaceProblem &problem,
                          const ChosenSchedule &schedule);

/// About how many bytes pass between the loops of family stored, per row of a
/// sequence: distances and states, or distances, weights, coefficients and
/// prepared rows.
int64_t estimateStoredRow(const WorkspaceProblem &problem);

/// The schedule of the gradient beside that of the attention: family stored
/// where rows are wide, as it computes every product once, and the cap has room
/// for what enough rows of the known number of keys need, unless `wanted` names
/// a family, key ranges or recomputed scores.
ChosenSchedule chooseBackwardSchedule(const WorkspaceProblem &problem,
                                      const Schedule &wanted,
                                      const ChosenSchedule &forward);

/// The default schedule where it fits the cap; else scores are recomputed, then
/// the chunk and at last the tile are halved. Fields that `wanted` sets stand.
/// An error names the smallest cap that would do. In family stored, as many
/// rows at a time as the cap has room for.
llvm::Expected<ChosenSchedule> chooseSchedule(const WorkspaceProblem &problem,
                                              const Schedule &wanted);

} // namespace raytention

#endif // RAYTENTION_RUNTIME_API_CHOOSESCHEDULE_H
