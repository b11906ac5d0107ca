//===- DefaultInputs.h - inputs where none are given ------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one counter-based generator behind every default query, table row and
// gradient. A value is a function of (seed, stream, index) alone: any part can
// be drawn on any machine, in any order, by any number of threads.
//
//   block   = Philox4x32-10(counter = (index / 2, stream, 0), key = seed)
//             counter words: low and high half of index / 2, stream, 0
//             key words:     low and high half of seed
//   (a, b)  = the two 64-bit halves of the block, low word first
//   u       = (floor(a / 2^11) + 1) / 2^53          in (0, 1]
//   v       = floor(b / 2^11) / 2^53                in [0, 1)
//   normal  = sqrt(-2 log u) * (cos 2 pi v if index is even, else sin 2 pi v)
//
// log, cos and sin are evaluated here with IEEE additions, multiplications and
// divisions only, so the bits do not depend on a mathematical library. `index`
// is the position in the C-order array: (b * Tq + t) * D + d for queries,
// v * D + d for the table, (b * Tq + t) * S + s for the gradient.
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_DEFAULTINPUTS_H
#define RAYTENTION_DEFAULTINPUTS_H

#include <array>
#include <cstdint>

namespace raytention {

/// Independent streams of one seed.
enum class InputStream : uint32_t { Queries = 0, Table = 1, Grad = 2 };

/// Philox4x32 with ten rounds.
std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter,
                                   std::array<uint32_t, 2> key);

/// The standard normal value number `index` of a stream.
double normalAt(uint64_t seed, InputStream stream, uint64_t index);

/// Writes scale * normalAt(seed, stream, begin + i) for 0 <= i < count.
void fillNormal(uint64_t seed, InputStream stream, double scale, uint64_t begin,
                uint64_t count, double *out);
/// The same, each value rounded to float.
void fillNormal(uint64_t seed, InputStream stream, double scale, uint64_t begin,
                uint64_t count, float *out);

/// Standard deviation of default queries and table rows: with it the scores of
/// a row at tau 1 spread by about `nats`. s^2 = nats / sqrt(6 D).
double defaultDeviation(int64_t dModel, double nats = 5);

} // namespace raytention

#endif // RAYTENTION_DEFAULTINPUTS_H
