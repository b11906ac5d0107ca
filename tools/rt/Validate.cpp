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
#include <cmath>
#include <cstdio>
#include <functional>
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

std::vector<bool> seenRows(const RunInputs &in) {
  std::vector<bool> seen(in.rows());
  for (int64_t row = 0; row < in.rows(); ++row)
    seen[row] = in.visibleKeys(row / in.numQueries, row % in.numQueries) > 0;
  return seen;
}

std::vector<bool> seenTokens(const RunInputs &in) {
  std::vector<bool> seen(in.vocab);
  for (int64_t b = 0; b < in.batch; ++b) {
    int64_t end = std::min(in.queryOffset + in.numQueries, in.lengths[b]);
    for (int64_t j = 0; end > in.queryOffset && j < end; ++j)
      seen[in.idAt(b * in.numKeys + j)] = true;
  }
  return seen;
}

/// The lowest index for which `isWrong` holds, whichever thread finds it; -1 if
/// there is none. Only rows of `width` elements that are `seen` are asked.
static int64_t findFirst(const std::vector<bool> &seen, int64_t width,
                         const std::function<bool(int64_t)> &isWrong) {
  std::mutex mutex;
  int64_t first = INT64_MAX;
  parallelRanges(seen.size(), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
      for (int64_t i = row * width; seen[row] && i < (row + 1) * width; ++i)
        if (isWrong(i)) {
          std::lock_guard<std::mutex> lock(mutex);
          first = std::min(first, i);
          return;
        }
  });
  return first == INT64_MAX ? -1 : first;
}

Error checkFinite(StringRef name, const NpyArray &file, const Buffer &values,
                  DType dtype, llvm::ArrayRef<int64_t> shape,
                  const std::vector<bool> &seen) {
  int64_t first = findFirst(seen, shape.back(), [&](int64_t i) {
    return !std::isfinite(elementAt(values, dtype, i));
  });
  if (first < 0)
    return Error::success();
  return usageError("{0}: expected values that are finite in {1}, got {2} at "
                    "{3}",
                    name, dtypeName(dtype), numberText(file.floatAt(first)),
                    positionText(first, shape));
}

//===----------------------------------------------------------------------===//
// The domain
//===----------------------------------------------------------------------===//

namespace {

/// A power of two that nothing may pass, and where it comes from.
struct Limit {
  int exponent;
  StringRef type;

  bool allows(long double value) const {
    return value <= std::ldexp(1.0L, exponent);
  }
  std::string text() const {
    return llvm::formatv("2^{0} in {1}", exponent, type).str();
  }
};

/// The longest row of an array.
struct LongestRow {
  long double norm = 0; ///< of any finite row: long double holds its square
  int64_t row = 0;
};

} // namespace

static StringRef accumulatorName(DType dtype) {
  return dtype == DType::F64 ? "f64" : "f32";
}

static Limit squareLimit(DType dtype) {
  return {dtype == DType::F64 ? 1000 : 120, accumulatorName(dtype)};
}

/// "1.00e+50", of numbers that no double holds too.
static std::string wideText(long double value) {
  char text[32];
  snprintf(text, sizeof text, "%.2Le", value);
  return text;
}

static LongestRow longestRow(const Buffer &values, DType dtype,
                             const std::vector<bool> &seen, int64_t width) {
  std::mutex mutex;
  LongestRow longest;
  parallelRanges(seen.size(), [&](int64_t begin, int64_t end) {
    LongestRow own;
    for (int64_t row = begin; row < end; ++row) {
      long double square = 0;
      for (int64_t d = 0; seen[row] && d < width; ++d) {
        long double value = elementAt(values, dtype, row * width + d);
        square += value * value;
      }
      if (long double norm = std::sqrt(square); norm > own.norm)
        own = {norm, row};
    }
    std::lock_guard<std::mutex> lock(mutex);
    if (own.norm > longest.norm ||
        (own.norm == longest.norm && own.row < longest.row))
      longest = own;
  });
  return longest;
}

/// The largest squared norm of an output row that distances up to `dist` and
/// keys up to `key` can reach.
static long double largestOutput(const RunInputs &in, long double dist,
                                 long double score, long double key) {
  long double output = 0;
  for (StringRef channel : in.spec.channels) {
    long double value = isScalarChannel(channel)
                            ? *largestScalar(channel, dist, score, in.tau)
                            : key;
    output += value * value;
  }
  return output;
}

Error checkNorms(const RunInputs &in) {
  LongestRow q =
      longestRow(in.queries, in.spec.dtype, seenRows(in), in.dModel());
  LongestRow k =
      longestRow(in.table, in.spec.dtype, seenTokens(in), in.dModel());
  bool isL2 = in.spec.metric == "l2";
  long double sum = q.norm + k.norm, dist = isL2 ? sum : sum * sum;
  long double floor = in.spec.dtype == DType::F64 ? 0.01 : 0.01f;
  long double score = dist / std::max<long double>(in.tau, floor);
  const std::pair<const char *, long double> reached[] = {
      {"(max ||q|| + max ||k||)^2", sum * sum},
      {isL2 ? "(max ||q|| + max ||k||) / t" : "(max ||q|| + max ||k||)^2 / t",
       score},
      {"the largest possible ||x||^2", largestOutput(in, dist, score, k.norm)}};
  Limit limit = squareLimit(in.spec.dtype);
  for (auto &[quantity, value] : reached)
    if (!limit.allows(value))
      return usageError(
          "--queries, --table: expected {0} up to {1}, got {2}, from ||q|| = "
          "{3} at {4}, ||k|| = {5} at [{6}] and tau = {7}",
          quantity, limit.text(), wideText(value), wideText(q.norm),
          positionText(q.row, {in.batch, in.numQueries}), wideText(k.norm),
          k.row, numberText(in.tau));
  return Error::success();
}

Error checkGradient(const RunInputs &in) {
  DType dtype = outputDType(in.spec.dtype);
  Limit limit = {in.spec.dtype == DType::F64 ? 500 : 60,
                 accumulatorName(in.spec.dtype)};
  int64_t width = in.signalWidth();
  int64_t first = findFirst(seenRows(in), width, [&](int64_t i) {
    return !limit.allows(std::fabs(elementAt(in.dSignals, dtype, i)));
  });
  if (first < 0)
    return Error::success();
  return usageError("--grad: expected |dy| up to {0}, got {1} at {2}",
                    limit.text(),
                    numberText(elementAt(in.dSignals, dtype, first)),
                    positionText(first, {in.batch, in.numQueries, width}));
}

} // namespace raytention::tool
