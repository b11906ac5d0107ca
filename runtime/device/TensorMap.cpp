//===- TensorMap.cpp - the rules of tensor maps ---------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/TensorMap.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace raytention::device;

static constexpr uint64_t kMaxSize = uint64_t(1) << 32;   // elements
static constexpr uint64_t kMaxStride = uint64_t(1) << 40; // bytes, exclusive
static constexpr uint64_t kAlignment = 16;                // bytes
static constexpr uint32_t kMaxBox = 256, kMaxStep = 8;    // elements

namespace {
struct ElementInfo {
  const char *name;
  unsigned bytes;
  bool isFloat;
};
} // namespace

static constexpr ElementInfo elements[] = {
    {"u8", 1, false},         {"u16", 2, false},        {"u32", 4, false},
    {"s32", 4, false},        {"u64", 8, false},        {"s64", 8, false},
    {"f16", 2, true},         {"f32", 4, true},         {"f64", 8, true},
    {"bf16", 2, true},        {"flushed f32", 4, true}, {"tf32", 4, true},
    {"flushed tf32", 4, true}};

static const ElementInfo &infoOf(TensorElement element) {
  return elements[size_t(element)];
}

unsigned raytention::device::bytesOf(TensorElement element) {
  return infoOf(element).bytes;
}

uint64_t TensorShape::bytesSpanned() const {
  uint64_t bytes = SaturatingMultiply<uint64_t>(size[0], bytesOf(element));
  for (unsigned i = 1; i < rank; ++i)
    bytes = SaturatingMultiplyAdd<uint64_t>(size[i] - 1, stride[i], bytes);
  return bytes;
}

namespace {

class MapCheck {
public:
  explicit MapCheck(const TensorMap &map) : map(map) {}

  Error check() const {
    if (Error error = checkWhole())
      return error;
    for (unsigned i = 0; i < map.rank; ++i) {
      if (Error error = checkSize(i))
        return error;
      if (Error error = i ? checkStride(i) : Error::success())
        return error;
      if (Error error = checkBox(i))
        return error;
    }
    return checkInnerRow();
  }

private:
  static Error wrong(const Twine &expected, const Twine &got) {
    return createStringError("tensor map: expected " + expected + ", got " +
                             got);
  }
  static Error wrong(unsigned dimension, const Twine &expected, uint64_t got) {
    return createStringError("tensor map: dimension " + Twine(dimension) +
                             ": expected " + expected + ", got " + Twine(got));
  }

  Error checkWhole() const {
    if (size_t(map.element) >= std::size(elements))
      return wrong("an element type of 0.." + Twine(std::size(elements) - 1),
                   Twine(unsigned(map.element)));
    if (map.swizzle > Swizzle::Bytes128)
      return wrong("a swizzle of 0.." + Twine(unsigned(Swizzle::Bytes128)),
                   Twine(unsigned(map.swizzle)));
    if (map.rank < 1 || map.rank > kMaxTensorRank)
      return wrong("a rank of 1.." + Twine(kMaxTensorRank),
                   Twine(unsigned(map.rank)));
    if (map.base % kAlignment)
      return wrong("a base aligned to " + Twine(kAlignment) + " bytes",
                   "0x" + utohexstr(map.base, true));
    if (map.fillNaN && !infoOf(map.element).isFloat)
      return wrong("elements of a float type to fill with NaN",
                   infoOf(map.element).name);
    return Error::success();
  }

  Error checkSize(unsigned i) const {
    if (map.size[i] >= 1 && map.size[i] <= kMaxSize)
      return Error::success();
    return wrong(i, "a size of 1.." + Twine(kMaxSize) + " elements",
                 map.size[i]);
  }

  Error checkStride(unsigned i) const {
    uint64_t stride = map.stride[i];
    if (stride % kAlignment)
      return wrong(
          i, "a stride that is a multiple of " + Twine(kAlignment) + " bytes",
          stride);
    if (stride >= kMaxStride)
      return wrong(i, "a stride of less than " + Twine(kMaxStride) + " bytes",
                   stride);
    return Error::success();
  }

  Error checkBox(unsigned i) const {
    if (map.box[i] < 1 || map.box[i] > kMaxBox)
      return wrong(i, "a box of 1.." + Twine(kMaxBox) + " elements",
                   map.box[i]);
    // The driver ignores a step along dimension 0; here it is refused, for a
    // copy would not move what moved() says.
    if (i == 0 && map.step[0] != 1)
      return wrong(0, "a step of 1, as copies have no other there",
                   map.step[0]);
    if (map.step[i] < 1 || map.step[i] > kMaxStep)
      return wrong(i, "a step of 1.." + Twine(kMaxStep), map.step[i]);
    return Error::success();
  }

  Error checkInnerRow() const {
    uint64_t bytes = uint64_t(map.box[0]) * bytesOf(map.element);
    if (bytes % kAlignment)
      return wrong(0, "a box of a multiple of " + Twine(kAlignment) + " bytes",
                   bytes);
    uint64_t most = uint64_t(16) << unsigned(map.swizzle);
    if (map.swizzle != Swizzle::None && bytes > most)
      return wrong(
          0, "a box of at most the " + Twine(most) + " bytes of the swizzle",
          bytes);
    return Error::success();
  }

  const TensorMap &map;
};

} // namespace

Error raytention::device::checkTensorMap(const TensorMap &map) {
  return MapCheck(map).check();
}
