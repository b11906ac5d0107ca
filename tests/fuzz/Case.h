//===- Case.h - one run of rt with all its inputs ---------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TESTS_FUZZ_CASE_H
#define RAYTENTION_TESTS_FUZZ_CASE_H

#include <cstdint>
#include <string>
#include <vector>

namespace raytention {
namespace fuzz {

enum class Type { F32, F64, BF16 };

/// What `rt run` gets: its options and its arrays, as double before they are
/// rounded to the type.
struct Case {
  std::string name; ///< "SEED:NUMBER", or what a fixed case is about
  Type type = Type::F32;
  std::string target = "cpu", metric = "sq_l2", origin = "sequence_end",
              precision = "fast", scores = "auto", family = "auto";
  std::vector<std::string> channels = {"centroid"};
  std::vector<double> gammas;
  double tau = 1;
  bool backward = false;
  int64_t batch = 1, numKeys = 1, numQueries = 1, offset = 0, width = 1,
          vocab = 1;
  /// 0: left to the compiler.
  int64_t queryTile = 0, keyChunk = 0, splitKeys = 0, queryChunk = 0;
  int64_t foldChunk = 0; ///< rows at a time of the folded schedule; 0: direct
  int threads = 1, idBits = 32;
  std::vector<double> queries;  ///< [B, Tq, D]
  std::vector<double> table;    ///< [V, D]
  std::vector<double> gradient; ///< dy [B, Tq, S]; with backward
  std::vector<int64_t> ids;     ///< [B, T]
  std::vector<int64_t> lengths; ///< [B], or none

  int64_t length(int64_t b) const {
    return lengths.empty() ? numKeys : lengths[b];
  }
  /// Whether a row of `queries` sees any key.
  bool isVisible(int64_t b, int64_t row) const {
    return row + offset < length(b);
  }
  int64_t signalWidth() const; ///< S
  int64_t numGammas() const;   ///< as the channels need
};

bool isScalar(const std::string &channel);
/// K of moment:K, else 0.
int getMoment(const std::string &channel);

/// The number that the computation starts from: rounded to the file's type and
/// then to that of the case.
double roundTo(Type type, double value);

/// The default channels with their five gammas, as published.
void setDefaultChannels(Case &c);
/// The seven channels with their gamma and metric.
void setSevenChannels(Case &c);

/// Case `number` of `seed`, in the family that the compiler chooses.
Case drawCase(uint64_t seed, uint64_t number);
/// The same in a drawn family, with what that family takes of a schedule.
Case drawFamilyCase(uint64_t seed, uint64_t number);
/// Makes it one of family stored, `queryChunk` rows at a time.
void setStored(Case &c, int64_t queryChunk);
/// Makes it one of the folded schedule, `foldChunk` rows at a time.
void setFolded(Case &c, int64_t foldChunk);

/// Cases of kinds that once failed, and edges of what is allowed.
std::vector<Case> fixedCases();

} // namespace fuzz
} // namespace raytention

#endif // RAYTENTION_TESTS_FUZZ_CASE_H
