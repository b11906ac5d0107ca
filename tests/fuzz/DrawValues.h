//===- DrawValues.h - queries, tables and gradients of all kinds --*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TESTS_FUZZ_DRAWVALUES_H
#define RAYTENTION_TESTS_FUZZ_DRAWVALUES_H

#include "tests/fuzz/Case.h"
#include "tests/fuzz/Draws.h"

namespace raytention {
namespace fuzz {

enum class TableKind {
  Normal,
  Twins,    ///< every row stands twice
  SomeZero, ///< some rows are zero
  AllEqual,
  AllZero,
  FarTogether, ///< small differences about a vector of large norm
  Grid,        ///< small integers: exact ties
  Mixed,       ///< rows of many magnitudes
  Mirrored     ///< each row and its negative
};
enum class QueryKind {
  Normal,
  Zero,
  OwnKey,     ///< exactly
  NearOwnKey, ///< 1e-3 to 1e-6 of its norm away
  NearAnyKey,
  Far, ///< much longer than the keys
  Grid,
  Mixed
};
enum class GradientKind { Normal, Zero, Scaled, Huge, OneHot };

/// Fills `c.table`, its rows of about unit entries times `scale`.
void fillTable(Case &c, TableKind kind, double scale, Draws &draws);
/// Fills `c.queries`; keys and ids have to be there.
void fillQueries(Case &c, QueryKind kind, double scale, Draws &draws);
/// Fills `c.gradient`; the channels have to be there.
void fillGradient(Case &c, GradientKind kind, Draws &draws);

} // namespace fuzz
} // namespace raytention

#endif // RAYTENTION_TESTS_FUZZ_DRAWVALUES_H
