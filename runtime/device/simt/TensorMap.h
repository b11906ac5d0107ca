//===- TensorMap.h - how a bulk copy finds a box of a tensor ----*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The 128 bytes that cp.async.bulk.tensor takes are opaque: a driver's on a
// GPU, this machine's own here. Rules and limits are those of
// cuTensorMapEncodeTiled (CUDA driver API, tensor map object management).
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_DEVICE_SIMT_TENSORMAP_H
#define RAYTENTION_RUNTIME_DEVICE_SIMT_TENSORMAP_H

#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <optional>

namespace raytention::simt {

/// In the order of CUtensorMapDataType.
enum class TensorElement : uint8_t {
  U8,
  U16,
  U32,
  S32,
  U64,
  S64,
  F16,
  F32,
  F64,
  BF16,
  F32Flushed,
  TF32,
  TF32Flushed,
};
unsigned bytesOf(TensorElement element);

/// Which 16-byte pieces of a row of the box are exchanged in shared memory: the
/// number of the piece is XORed with bits of the address above it. In the order
/// of CUtensorMapSwizzle.
enum class Swizzle : uint8_t { None, Bytes32, Bytes64, Bytes128 };

constexpr unsigned kMaxTensorRank = 5;
constexpr unsigned kTensorMapBytes = 128;

/// A tensor in global memory and the box that one copy moves. Dimension 0 is
/// the one whose elements follow one another.
struct TensorMap {
  uint64_t base = 0; ///< address of element 0, ..., 0
  TensorElement element = TensorElement::F32;
  uint8_t rank = 1;
  Swizzle swizzle = Swizzle::None;
  bool fillNaN = false; ///< outside the tensor, instead of zeros
  std::array<uint64_t, kMaxTensorRank> size{};   ///< elements
  std::array<uint64_t, kMaxTensorRank> stride{}; ///< bytes; [0] is ignored
  std::array<uint32_t, kMaxTensorRank> box{};    ///< elements, before steps
  std::array<uint32_t, kMaxTensorRank> step{};   ///< every step-th is moved

  /// Elements of the box along a dimension that are moved.
  uint32_t moved(unsigned dimension) const {
    return (box[dimension] + step[dimension] - 1) / step[dimension];
  }
  uint64_t bytesMoved() const {
    uint64_t count = bytesOf(element);
    for (unsigned i = 0; i < rank; ++i)
      count *= moved(i);
    return count;
  }
};

/// Writes the 128 bytes. An error names the rule that the map breaks, what was
/// expected and what was got.
llvm::Error encode(const TensorMap &map, uint8_t *to);
/// Nothing where the bytes are none that `encode` wrote.
std::optional<TensorMap> decode(const uint8_t *from);

} // namespace raytention::simt

#endif // RAYTENTION_RUNTIME_DEVICE_SIMT_TENSORMAP_H
