//===- ProductTiles.h - one warp's part of a warpgroup product --*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_DEVICE_SIMT_OPS_PRODUCTTILES_H
#define RAYTENTION_RUNTIME_DEVICE_SIMT_OPS_PRODUCTTILES_H

#include "runtime/device/simt/ops/Ops.h"

namespace raytention::simt::wgmma {

constexpr unsigned kRows = 16; ///< of a warp: 64 of a warpgroup
constexpr unsigned kMostColumns = 256, kMostDepth = 16;

/// The part of a product that one warp computes.
struct Tiles {
  float a[kRows][kMostDepth];
  float b[kMostDepth][kMostColumns];
  float c[kRows][kMostColumns];

  /// Sums are rounded one by one, as for mma.
  void multiply(unsigned columns, unsigned depth) {
    constexpr unsigned kBlock = 8;
    for (unsigned i = 0; i < kRows; ++i)
      for (unsigned j = 0; j < columns; j += kBlock) {
        float sum[kBlock];
        std::memcpy(sum, &c[i][j], sizeof(sum));
        for (unsigned k = 0; k < depth; ++k)
          for (unsigned n = 0; n < kBlock; ++n)
            sum[n] += a[i][k] * b[k][j + n];
        std::memcpy(&c[i][j], sum, sizeof(sum));
      }
  }
};

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

struct BFloat {
  using Bits = uint16_t;
  static float widen(Bits bits) { return fromBFloat(bits); }
};
/// Without branches, so that loops over it are vectorised: a product moves the
/// exponent, of subnormals too, and the largest stands for infinity and NaN.
struct Half {
  using Bits = uint16_t;
  static float widen(Bits bits) {
    uint32_t magnitude = uint32_t(bits & 0x7FFF) << 13;
    uint32_t value = toBits(fromBits(magnitude) * 0x1p112f);
    value |= magnitude >= 0x0F800000 ? 0x7F800000 : 0;
    return fromBits(value | uint32_t(bits & 0x8000) << 16);
  }
};
/// The unit reads ten bits of fraction and ignores the rest.
struct TensorFloat {
  using Bits = uint32_t;
  static float widen(Bits bits) { return fromBits(bits & ~0x1FFFu); }
};

template <class Element> typename Element::Bits bitsAt(const uint8_t *at) {
  typename Element::Bits bits;
  std::memcpy(&bits, at, sizeof(bits));
  return bits;
}

/// A matrix whose rows lie one after another, as floats; `stride` apart in the
/// tile, or transposed.
template <class Element>
void widen(const uint8_t *from, unsigned rows, unsigned columns, float *to,
           unsigned stride, bool transposed) {
  constexpr unsigned size = sizeof(typename Element::Bits);
  unsigned down = transposed ? 1 : stride, along = transposed ? stride : 1;
  for (unsigned i = 0; i < rows; ++i)
    for (unsigned j = 0; j < columns; ++j)
      to[i * down + j * along] =
          Element::widen(bitsAt<Element>(from + (i * columns + j) * size));
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

/// Register r of A holds row g + 8 (r & 1), from column (2t or t) + half of the
/// depth (r / 2); lane = 4g + t.
template <class Element>
void gatherA(Warp &warp, const uint32_t *op, unsigned depth, Tiles &tiles) {
  constexpr unsigned perRegister = 4 / sizeof(typename Element::Bits);
  for (unsigned r = 0; r < 4; ++r) {
    const uint32_t *a = warp.reg<uint32_t>(op[r]);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      for (unsigned e = 0; e < perRegister; ++e)
        tiles.a[lane / 4 + 8 * (r & 1)]
               [perRegister * (lane % 4) + e + depth / 2 * (r / 2)] =
            Element::widen(a[lane] >> 16 * e);
  }
}

/// Register 4j + r holds row g + 8 (r / 2), column 8j + 2t + (r & 1). Lanes
/// that do not accumulate start from zero.
inline void gatherC(Warp &warp, const Product &product, Mask accumulate,
                    Tiles &tiles) {
  for (unsigned r = 0; r < product.accumulators.size(); ++r) {
    const float *c = warp.reg<float>(product.accumulators[r]);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      tiles.c[lane / 4 + 8 * (r / 2 % 2)]
             [8 * (r / 4) + 2 * (lane % 4) + (r & 1)] =
          accumulate >> lane & 1 ? c[lane] : 0.0f;
  }
}

inline void scatterC(Warp &warp, const Product &product, Mask lanes,
                     const Tiles &tiles) {
  for (unsigned r = 0; r < product.accumulators.size(); ++r) {
    float *d = warp.reg<float>(product.accumulators[r]);
    overLanes(lanes, [&](unsigned lane) {
      d[lane] = tiles.c[lane / 4 + 8 * (r / 2 % 2)]
                       [8 * (r / 4) + 2 * (lane % 4) + (r & 1)];
    });
  }
}

/// Of halves, register 2j + r holds row g + 8r, columns 8j + 2t and the next.
inline void gatherHalfC(Warp &warp, const Product &product, Mask accumulate,
                        Tiles &tiles) {
  for (unsigned r = 0; r < product.accumulators.size(); ++r) {
    const uint32_t *c = warp.reg<uint32_t>(product.accumulators[r]);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      uint32_t pair = accumulate >> lane & 1 ? c[lane] : 0;
      float *to =
          &tiles.c[lane / 4 + 8 * (r & 1)][8 * (r / 2) + 2 * (lane % 4)];
      to[0] = Half::widen(pair);
      to[1] = Half::widen(pair >> 16);
    }
  }
}

inline void scatterHalfC(Warp &warp, const Product &product, Mask lanes,
                         const Tiles &tiles) {
  for (unsigned r = 0; r < product.accumulators.size(); ++r) {
    uint32_t *d = warp.reg<uint32_t>(product.accumulators[r]);
    forEachLane(lanes, [&](unsigned lane) {
      const float *from =
          &tiles.c[lane / 4 + 8 * (r & 1)][8 * (r / 2) + 2 * (lane % 4)];
      d[lane] = toHalf(from[0], RoundNearest) |
                uint32_t(toHalf(from[1], RoundNearest)) << 16;
    });
  }
}

} // namespace raytention::simt::wgmma

#endif // RAYTENTION_RUNTIME_DEVICE_SIMT_OPS_PRODUCTTILES_H
