//===- TensorMap.h - how a bulk copy finds a box of a tensor ----*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What cp.async.bulk.tensor is told about a tensor, and the rules that hold on
// every device: those of cuTensorMapEncodeTiled (CUDA driver API, tensor map
// object management) without interleaving.
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_DEVICE_TENSORMAP_H
#define RAYTENTION_RUNTIME_DEVICE_TENSORMAP_H

#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>

namespace raytention::device {

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
constexpr unsigned kTensorMapAlignment = 64; ///< bytes
/// The first GPUs that have them: compute capability 9.0.
constexpr int kTensorMapCapability = 90;

/// A tensor and the box that one copy moves. Dimension 0 is the one whose
/// elements follow one another.
struct TensorShape {
  TensorElement element = TensorElement::F32;
  uint8_t rank = 1;
  Swizzle swizzle = Swizzle::None;
  bool fillNaN = false; ///< outside the tensor, instead of zeros
  std::array<uint64_t, kMaxTensorRank> size{}; ///< elements
  /// Bytes, in any order: heads may lie within positions. [0] is ignored.
  std::array<uint64_t, kMaxTensorRank> stride{};
  std::array<uint32_t, kMaxTensorRank> box{}; ///< elements, before steps
  /// Every step-th is moved; [0] is 1.
  std::array<uint32_t, kMaxTensorRank> step{1, 1, 1, 1, 1};

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
  /// From the first byte of the tensor to behind its last one.
  uint64_t bytesSpanned() const;
};

/// The tensor in global memory.
struct TensorMap : TensorShape {
  uint64_t base = 0; ///< address of element 0, ..., 0
};

/// The first rule that the map breaks: which dimension, what was expected and
/// what was got.
llvm::Error checkTensorMap(const TensorMap &map);

/// What a kernel takes as `const __grid_constant__ CUtensorMap`, by value. The
/// bytes are opaque, and only for the device that made them.
struct alignas(kTensorMapAlignment) EncodedTensorMap {
  std::array<uint8_t, kTensorMapBytes> bytes{};
};

} // namespace raytention::device

#endif // RAYTENTION_RUNTIME_DEVICE_TENSORMAP_H
