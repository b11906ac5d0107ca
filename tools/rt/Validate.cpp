//===- Validate.cpp - what is refused before any work ---------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/rt/Validate.h"

#include "tools/rt/Channels.h"
#include "tools/rt/ToolError.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <mutex>

#include <unistd.h>

using llvm::Error;
using llvm::StringRef;

namespace raytention::tool {

int64_t largestId(const NpyArray &ids) {
  int64_t largest = -1;
  for (int64_t i = 0, e = ids.size(); i < e; ++i)
    largest = std::max(largest, ids.intAt(i));
  return largest;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// Bytes of an array, UINT64_MAX where it does not fit.
static uint64_t bytesOf(std::initializer_list<int64_t> shape, int64_t element) {
  uint64_t bytes = uint64_t(element);
  for (int64_t extent : shape)
    bytes = llvm::SaturatingMultiply(bytes, uint64_t(extent));
  return bytes;
}

static uint64_t physicalMemory() {
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && page > 0 ? uint64_t(pages) * uint64_t(page) : UINT64_MAX;
}

Error checkMemory(const RunInputs &in) {
  int64_t element = elementSize(in.spec.dtype);
  int64_t output = npyItemSize(outputType(in.spec.dtype));
  uint64_t total = 0;
  if (in.backward) // dy, dq and dtable
    for (uint64_t bytes :
         {bytesOf({in.batch, in.numQueries, in.signalWidth()}, output),
          bytesOf({in.batch, in.numQueries, in.dModel()}, output),
          bytesOf({in.vocab, in.dModel()}, output)})
      total = llvm::SaturatingAdd(total, bytes);
  for (uint64_t bytes :
       {bytesOf({in.batch, in.numQueries, in.dModel()}, element),
        bytesOf({in.vocab, in.dModel()}, element),
        bytesOf({in.batch, in.numKeys}, in.spec.idBits / 8),
        bytesOf({in.batch}, sizeof(int64_t)),
        bytesOf({in.batch, in.numQueries, in.signalWidth() + 1}, output)})
    total = llvm::SaturatingAdd(total, bytes);
  uint64_t limit = std::min<uint64_t>(physicalMemory(), INT64_MAX);
  if (total > limit)
    return missingError("memory: expected inputs and outputs within the {0} "
                        "bytes of this machine, got {1}; use a smaller shape",
                        limit, total);
  return Error::success();
}

Error checkLengths(const RunInputs &in) {
  if (int64_t(in.lengths.size()) != in.batch)
    return usageError("--lengths: expected {0} (one per sequence), got {1}",
                      in.batch, in.lengths.size());
  for (int64_t b = 0; b < in.batch; ++b)
    if (in.lengths[b] < 0 || in.lengths[b] > in.numKeys)
      return usageError("--lengths: expected 0..{0}, got {1} at [{2}]",
                        in.numKeys, in.lengths[b], b);
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// The position of flat element `index`: "[1, 4]".
static std::string positionText(int64_t index, llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t, 4> position(shape.size());
  for (size_t axis = shape.size(); axis-- > 0; index /= shape[axis])
    position[axis] = index % shape[axis];
  return shapeText(position);
}

Error checkIds(const RunInputs &in, StringRef source) {
  for (int64_t i = 0, e = in.batch * in.numKeys; i < e; ++i) {
    int64_t id = in.idAt(i);
    if (id < 0 || id >= in.vocab)
      return usageError("{0}: expected ids in 0..{1}, got {2} at {3}", source,
                        in.vocab - 1, id,
                        positionText(i, {in.batch, in.numKeys}));
  }
  return Error::success();
}

Error checkFinite(StringRef name, const NpyArray &file, const Buffer &values,
                  DType dtype, llvm::ArrayRef<int64_t> shape) {
  std::mutex mutex;
  int64_t first = INT64_MAX; // the lowest, whichever thread finds it
  parallelRanges(file.size(), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      if (!std::isfinite(elementAt(values, dtype, i))) {
        std::lock_guard<std::mutex> lock(mutex);
        first = std::min(first, i);
        return;
      }
  });
  if (first == INT64_MAX)
    return Error::success();
  return usageError("{0}: expected values that are finite in {1}, got {2} at "
                    "{3}",
                    name, dtypeName(dtype), numberText(file.floatAt(first)),
                    positionText(first, shape));
}

namespace {
/// The longest row of an array.
struct LongestRow {
  double square = 0; ///< its squared norm
  int64_t row = 0;
};
} // namespace

static LongestRow longestRow(const Buffer &values, DType dtype, int64_t rows,
                             int64_t width) {
  std::mutex mutex;
  LongestRow longest;
  parallelRanges(rows, [&](int64_t begin, int64_t end) {
    LongestRow own;
    for (int64_t row = begin; row < end; ++row) {
      double square = 0;
      for (int64_t d = 0; d < width; ++d) {
        double value = elementAt(values, dtype, row * width + d);
        square += value * value;
      }
      if (square > own.square)
        own = {square, row};
    }
    std::lock_guard<std::mutex> lock(mutex);
    if (own.square > longest.square ||
        (own.square == longest.square && own.row < longest.row))
      longest = own;
  });
  return longest;
}

/// The largest squared norm of an output row that inputs with squared norms up
/// to `q` and `k` can reach, intermediate values included.
static double reach(const RunInputs &in, double q, double k) {
  double square = 2 * (q + k); // ||q - k||^2, and each term of its expansion
  double dist = in.spec.metric == "l2" ? std::sqrt(square) : square;
  double score = dist / std::max(in.tau, 0.01);
  double reached = std::max(square, score), output = 0;
  for (StringRef channel : in.spec.channels) {
    if (channel == "spread")
      output += std::pow(in.tau * dist, 2);
    else if (channel == "max_score")
      output += score * score;
    else if (!isScalarChannel(channel))
      output += k;
  }
  return std::max(reached, output);
}

Error checkNorms(const RunInputs &in) {
  LongestRow q = longestRow(in.queries, in.spec.dtype, in.rows(), in.dModel());
  LongestRow k = longestRow(in.table, in.spec.dtype, in.vocab, in.dModel());
  double limit = in.spec.dtype == DType::F64 ? DBL_MAX : FLT_MAX;
  double reached = reach(in, q.square, k.square);
  if (reached <= limit / 4)
    return Error::success();
  bool query = q.square > k.square;
  return usageError(
      "{0}: expected squared norms whose distances and signals fit {1} (below "
      "{2:e2}), got a squared norm of {3:e2} at row {4} that may reach {5:e2}",
      query ? "--queries" : "--table",
      in.spec.dtype == DType::F64 ? "f64" : "f32", limit,
      query ? q.square : k.square, query ? q.row : k.row, reached);
}

} // namespace raytention::tool
