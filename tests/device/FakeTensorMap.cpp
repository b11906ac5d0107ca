//===- FakeTensorMap.cpp - tensor maps of the driver in host memory -------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The rules of cuTensorMapEncodeTiled, written down once more from the CUDA
// driver API: what the project's own check lets through is refused here.
//
//===----------------------------------------------------------------------===//

#include "tests/device/FakeCuda.h"

#include <algorithm>
#include <cstring>
#include <iterator>

using namespace raytention::test::fake;

namespace {

/// Bytes of each CUtensorMapDataType that is not packed.
constexpr uint64_t typeBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
constexpr uint32_t kFirstFloat = 6;

bool isIn(uint64_t value, uint64_t least, uint64_t most) {
  return value >= least && value <= most;
}

bool isEnum(int value, int values) { return value >= 0 && value < values; }

bool dimensionsFit(uint32_t rank, const uint64_t *size, const uint64_t *stride,
                   const uint32_t *box, const uint32_t *step) {
  for (uint32_t i = 0; i < rank; ++i)
    if (!isIn(size[i], 1, uint64_t(1) << 32) || !isIn(box[i], 1, 256) ||
        !isIn(step[i], 1, 8))
      return false;
  for (uint32_t i = 0; i + 1 < rank; ++i)
    if (stride[i] % 16 || stride[i] >> 40)
      return false;
  return true;
}

bool rowFits(uint64_t bytes, int swizzle) {
  return bytes % 16 == 0 && (swizzle == 0 || bytes <= 16u << swizzle);
}

} // namespace

RT_FAKE(cuTensorMapEncodeTiled, void *map, int type, uint32_t rank,
        uint64_t address, const uint64_t *size, const uint64_t *stride,
        const uint32_t *box, const uint32_t *step, int interleave, int swizzle,
        int promotion, int fill) {
  RT_NEED(needContext());
  if (!map || reinterpret_cast<uintptr_t>(map) % 64 || !size || !stride ||
      !box || !step || address % 16 || !isIn(rank, 1, 5) ||
      !isEnum(type, int(std::size(typeBytes))) || interleave != 0 ||
      !isEnum(swizzle, 4) || !isEnum(promotion, 4) || !isEnum(fill, 2) ||
      (fill == 1 && uint32_t(type) < kFirstFloat))
    return kInvalidValue;
  uint64_t bytes = typeBytes[type];
  if (!dimensionsFit(rank, size, stride, box, step) ||
      !rowFits(box[0] * bytes, swizzle))
    return kInvalidValue;
  if (int result = needMemory(address, bytes))
    return result;
  TensorMapArguments got = {};
  got.type = uint32_t(type);
  got.rank = rank;
  got.address = address;
  std::copy(size, size + rank, got.size);
  std::copy(stride, stride + rank - 1, got.stride);
  std::copy(box, box + rank, got.box);
  std::copy(step, step + rank, got.step);
  got.interleave = uint8_t(interleave);
  got.swizzle = uint8_t(swizzle);
  got.promotion = uint8_t(promotion);
  got.fill = uint8_t(fill);
  std::memcpy(map, &got, sizeof(got));
  return 0;
}
