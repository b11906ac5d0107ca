//===- TensorMap.cpp - tensor maps of this machine --------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/TensorMap.h"

#include <cstddef>
#include <cstring>
#include <type_traits>

using namespace llvm;
using namespace raytention::simt;

namespace {

/// "RTtm" and the version of what follows.
constexpr uint32_t kMagic = 0x6D745452, kVersion = 1;

/// What lies in the bytes. Of dimensions beyond the rank nothing is kept.
struct Layout {
  uint32_t magic = kMagic, version = kVersion;
  uint64_t base = 0;
  uint64_t size[kMaxTensorRank] = {};
  uint64_t stride[kMaxTensorRank - 1] = {}; ///< from dimension 1 on
  uint16_t box[kMaxTensorRank] = {};
  uint8_t step[kMaxTensorRank] = {};
  uint8_t element = 0, rank = 0, swizzle = 0, fillNaN = 0;
  uint8_t unused[13] = {};
  uint64_t checksum = 0; ///< of all bytes before it
};
static_assert(sizeof(Layout) == kTensorMapBytes &&
              std::has_unique_object_representations_v<Layout>);

} // namespace

/// FNV-1a, which no change of one byte leaves as it is.
static uint64_t checksumOf(const Layout &layout) {
  const auto *bytes = reinterpret_cast<const uint8_t *>(&layout);
  uint64_t hash = 0xCBF29CE484222325;
  for (size_t i = 0; i < offsetof(Layout, checksum); ++i)
    hash = (hash ^ bytes[i]) * 0x100000001B3;
  return hash;
}

Error raytention::simt::encode(const TensorMap &map, uint8_t *to) {
  if (Error error = checkTensorMap(map))
    return error;
  Layout layout;
  layout.base = map.base;
  for (unsigned i = 0; i < map.rank; ++i) {
    layout.size[i] = map.size[i];
    if (i > 0)
      layout.stride[i - 1] = map.stride[i];
    layout.box[i] = uint16_t(map.box[i]);
    layout.step[i] = uint8_t(map.step[i]);
  }
  layout.element = uint8_t(map.element);
  layout.rank = map.rank;
  layout.swizzle = uint8_t(map.swizzle);
  layout.fillNaN = map.fillNaN;
  layout.checksum = checksumOf(layout);
  std::memcpy(to, &layout, sizeof(layout));
  return Error::success();
}

std::optional<TensorMap> raytention::simt::decode(const uint8_t *from) {
  Layout layout;
  std::memcpy(&layout, from, sizeof(layout));
  if (layout.magic != kMagic || layout.version != kVersion ||
      layout.checksum != checksumOf(layout))
    return std::nullopt;
  TensorMap map;
  map.base = layout.base;
  map.element = TensorElement(layout.element);
  map.rank = layout.rank;
  map.swizzle = Swizzle(layout.swizzle);
  map.fillNaN = layout.fillNaN;
  for (unsigned i = 0; i < map.rank; ++i) {
    map.size[i] = layout.size[i];
    map.stride[i] = i ? layout.stride[i - 1] : 0;
    map.box[i] = layout.box[i];
    map.step[i] = layout.step[i];
  }
  return map;
}
