//===- EditMeanings.h - what edits mean, from changed inputs ----*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TESTS_EXEC_EDITMEANINGS_H
#define RAYTENTION_TESTS_EXEC_EDITMEANINGS_H

#include "tests/exec/EditProblem.h"

namespace raytention::test {

EditResult meansTheSame(EditProblem &problem);
/// Gamma i is gamma i + 1.
EditResult meansLaterGammas(EditProblem &problem);
/// Row v of the table is row v + 6.
EditResult meansLaterRows(EditProblem &problem);
/// Row i of each tile reads query 2 i of the sequence.
EditResult meansEverySecondQuery(EditProblem &problem);
/// Each sequence has the other's ids, or queries.
EditResult meansSwappedIds(EditProblem &problem);
EditResult meansSwappedQueries(EditProblem &problem);
/// Each sequence's results stand at the other's place.
EditResult meansSwappedSequences(EditProblem &problem);
/// Rows before the first full tile hold sevens.
EditResult meansSevensFirst(EditProblem &problem);
/// And those behind two tiles.
EditResult meansSevensLast(EditProblem &problem);
/// Row i stands at position i + lengths[0] - lengths[1].
EditResult meansLaterPositions(EditProblem &problem);
/// Keys from the second chunk on; rows before it are whatever they are.
EditResult meansLaterKeys(EditProblem &problem);
/// The key of position j is that of position ids[j].
EditResult meansIdsOfIds(EditProblem &problem);
/// Centroid and decay, the first two of the list, are 0.
EditResult meansNoSums(EditProblem &problem);
/// Of a centroid: sums that start at 1, that are added twice, that only the
/// first sequence has, and that are of a transposed chunk of 8 keys.
EditResult meansSumsFromOne(EditProblem &problem);
EditResult meansSumsTwice(EditProblem &problem);
EditResult meansSumsOfTheFirst(EditProblem &problem);
EditResult meansTransposedKeys(EditProblem &problem);
/// Nothing is said about numbers.
EditResult meansAnything(EditProblem &problem);

} // namespace raytention::test

#endif // RAYTENTION_TESTS_EXEC_EDITMEANINGS_H
