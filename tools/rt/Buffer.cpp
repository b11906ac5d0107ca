//===- Buffer.cpp - arrays of one element type ----------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/rt/Buffer.h"

#include "runtime/support/CpuCount.h"
#include "runtime/support/Crew.h"

#include "llvm/ADT/bit.h"

#include <algorithm>
#include <atomic>
#include <cmath>

namespace raytention::tool {

int64_t elementSize(DType dtype) {
  return dtype == DType::F64 ? 8 : dtype == DType::F32 ? 4 : 2;
}

Buffer::Buffer(int64_t bytes) : bytes(bytes) {
  constexpr int64_t line = 64;
  int64_t rounded = std::max<int64_t>((bytes + line - 1) / line, 1) * line;
  memory.reset(std::aligned_alloc(line, size_t(rounded)));
}

/// Rounds to float towards zero and keeps in the last bit whether anything was
/// cut, so that rounding once more is as if from the double.
static uint32_t roundToOdd(double value) {
  float nearest = float(value);
  uint32_t bits = llvm::bit_cast<uint32_t>(nearest);
  if (double(nearest) == value || std::isnan(value))
    return bits;
  if (std::fabs(double(nearest)) > std::fabs(value))
    --bits;
  return bits | 1;
}

uint16_t toBF16(double value) {
  uint32_t bits = roundToOdd(value);
  if (std::isnan(value))
    return uint16_t(bits >> 16) | 0x40;
  bits += 0x7fff + ((bits >> 16) & 1);
  return uint16_t(bits >> 16);
}

double fromBF16(uint16_t bits) {
  return llvm::bit_cast<float>(uint32_t(bits) << 16);
}

double elementAt(const Buffer &buffer, DType dtype, int64_t index) {
  switch (dtype) {
  case DType::F64:
    return buffer.as<double>()[index];
  case DType::F32:
    return buffer.as<float>()[index];
  case DType::BF16:
    return fromBF16(buffer.as<uint16_t>()[index]);
  }
  return 0;
}

void storeElement(const Buffer &buffer, DType dtype, int64_t index,
                  double value) {
  switch (dtype) {
  case DType::F64:
    buffer.as<double>()[index] = value;
    return;
  case DType::F32:
    buffer.as<float>()[index] = float(value);
    return;
  case DType::BF16:
    buffer.as<uint16_t>()[index] = toBF16(value);
    return;
  }
}

void parallelRanges(int64_t count,
                    const std::function<void(int64_t, int64_t)> &body) {
  constexpr int64_t smallest = 1 << 16; // below, a thread costs more
  int64_t pieces =
      std::clamp<int64_t>(count / smallest, 1, countCpus().workers());
  int64_t size = (count + pieces - 1) / pieces;
  std::atomic<int64_t> next{0};
  runTogether(int(pieces), [&](int) {
    for (int64_t begin = size * next++; begin < count; begin = size * next++)
      body(begin, std::min(begin + size, count));
  });
}

} // namespace raytention::tool
