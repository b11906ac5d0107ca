//===- MatrixOps.cpp - tensor-core products and their loads -----*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/ops/Ops.h"

using namespace llvm;
using namespace raytention::simt;

namespace {

constexpr unsigned kRows = 16, kColumns = 8;

/// A, B and C of a product as plain matrices.
template <unsigned kDepth> struct Tiles {
  float a[kRows][kDepth];
  float b[kDepth][kColumns];
  float c[kRows][kColumns];

  /// Products of these types are exact; sums are rounded one by one, which a
  /// tensor core does in another order and with other bits.
  void multiply() {
    for (unsigned i = 0; i < kRows; ++i)
      for (unsigned k = 0; k < kDepth; ++k)
        for (unsigned j = 0; j < kColumns; ++j)
          c[i][j] += a[i][k] * b[k][j];
  }
};

struct BFloat {
  static float widen(uint16_t bits) { return fromBFloat(bits); }
};
struct Half {
  static float widen(uint16_t bits) { return fromHalf(bits); }
};

/// Register r of A holds rows g + 8 (r & 1), columns 2t + 8 (r / 2) and the
/// next; of B rows 2t + 8 r and the next, column g; lane = 4g + t.
template <class Type16, unsigned kDepth>
void gather16(Warp &warp, const uint32_t *op, Tiles<kDepth> &tiles) {
  for (unsigned r = 0; r < kDepth / 4; ++r) {
    const uint32_t *a = warp.reg<uint32_t>(op[r]);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      float *to =
          &tiles.a[lane / 4 + 8 * (r & 1)][2 * (lane % 4) + 8 * (r / 2)];
      to[0] = Type16::widen(a[lane]);
      to[1] = Type16::widen(a[lane] >> 16);
    }
  }
  for (unsigned r = 0; r < kDepth / 8; ++r) {
    const uint32_t *b = warp.reg<uint32_t>(op[kDepth / 4 + r]);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      unsigned row = 2 * (lane % 4) + 8 * r;
      tiles.b[row][lane / 4] = Type16::widen(b[lane]);
      tiles.b[row + 1][lane / 4] = Type16::widen(b[lane] >> 16);
    }
  }
}

/// The unit reads ten bits of fraction and ignores the rest.
float readTensorFloat(uint32_t bits) { return fromBits(bits & ~0x1FFFu); }

/// Register r of A holds row g + 8 (r & 1), column t + 4 (r / 2); of B row
/// t + 4 r, column g.
template <unsigned kDepth>
void gather32(Warp &warp, const uint32_t *op, Tiles<kDepth> &tiles) {
  for (unsigned r = 0; r < kDepth / 2; ++r) {
    const uint32_t *a = warp.reg<uint32_t>(op[r]);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      tiles.a[lane / 4 + 8 * (r & 1)][lane % 4 + 4 * (r / 2)] =
          readTensorFloat(a[lane]);
  }
  for (unsigned r = 0; r < kDepth / 4; ++r) {
    const uint32_t *b = warp.reg<uint32_t>(op[kDepth / 2 + r]);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      tiles.b[lane % 4 + 4 * r][lane / 4] = readTensorFloat(b[lane]);
  }
}

/// Register r of C holds row g + 8 (r / 2), column 2t + (r & 1); of halves,
/// row g + 8 r, column 2t and the next.
template <class Sum, unsigned kDepth>
void gatherC(Warp &warp, const uint32_t *op, Tiles<kDepth> &tiles) {
  if constexpr (std::is_same<Sum, Half>::value) {
    for (unsigned r = 0; r < 2; ++r) {
      const uint32_t *c = warp.reg<uint32_t>(op[r]);
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        float *to = &tiles.c[lane / 4 + 8 * r][2 * (lane % 4)];
        to[0] = Half::widen(c[lane]);
        to[1] = Half::widen(c[lane] >> 16);
      }
    }
    return;
  }
  for (unsigned r = 0; r < 4; ++r) {
    const float *c = warp.reg<float>(op[r]);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      tiles.c[lane / 4 + 8 * (r / 2)][2 * (lane % 4) + (r & 1)] = c[lane];
  }
}

template <class Sum, unsigned kDepth>
void scatterC(Warp &warp, const uint32_t *op, Mask lanes,
              const Tiles<kDepth> &tiles) {
  if constexpr (std::is_same<Sum, Half>::value) {
    for (unsigned r = 0; r < 2; ++r) {
      uint32_t *d = warp.reg<uint32_t>(op[r]);
      forEachLane(lanes, [&](unsigned lane) {
        const float *from = &tiles.c[lane / 4 + 8 * r][2 * (lane % 4)];
        d[lane] = toHalf(from[0], RoundNearest) |
                  uint32_t(toHalf(from[1], RoundNearest)) << 16;
      });
    }
    return;
  }
  for (unsigned r = 0; r < 4; ++r) {
    float *d = warp.reg<float>(op[r]);
    overLanes(lanes, [&](unsigned lane) {
      d[lane] = tiles.c[lane / 4 + 8 * (r / 2)][2 * (lane % 4) + (r & 1)];
    });
  }
}

template <unsigned kDepth> void count(Warp &warp, const char *name) {
  Worker &worker = *warp.block->worker;
  if (!worker.profiling)
    return;
  ++worker.profile.matrixProducts[name];
  worker.profile.matrixFlops += 2 * kRows * kColumns * kDepth;
}

template <class Type16, unsigned kDepth, class Sum = float>
void multiply16(Warp &warp, const Instruction &at, Mask lanes) {
  Tiles<kDepth> tiles;
  const uint32_t *a = at.op + at.destinations;
  gather16<Type16>(warp, a, tiles);
  gatherC<Sum>(warp, a + kDepth / 4 + kDepth / 8, tiles);
  tiles.multiply();
  scatterC<Sum>(warp, at.op, lanes, tiles);
  bool half = std::is_same<Type16, Half>::value;
  count<kDepth>(warp, kDepth == 16 ? half ? "m16n8k16.f16" : "m16n8k16.bf16"
                      : half       ? "m16n8k8.f16"
                                   : "m16n8k8.bf16");
}

template <unsigned kDepth>
void multiply32(Warp &warp, const Instruction &at, Mask lanes) {
  Tiles<kDepth> tiles;
  gather32(warp, at.op + 4, tiles);
  gatherC<float>(warp, at.op + 4 + kDepth / 2 + kDepth / 4, tiles);
  tiles.multiply();
  scatterC<float>(warp, at.op, lanes, tiles);
  count<kDepth>(warp, kDepth == 8 ? "m16n8k8.tf32" : "m16n8k4.tf32");
}

/// Lane 8 i + r gives the address of row r of matrix i.
Mask resolveRows(Warp &warp, const Instruction &at, Mask lanes,
                 Access &access) {
  access.space = at.space;
  access.bytes = 16;
  uint32_t reg = at.op[at.destinations];
  computeAddresses(warp, at, reg, lanes, access.address);
  Mask rows = at.vector == 4 ? kAllLanes : (Mask(1) << (8 * at.vector)) - 1;
  return resolve(warp, access, rows);
}

void loadMatrix(Warp &warp, const Instruction &at, Mask lanes) {
  Access access;
  access.kind = AccessKind::Load;
  Mask good = resolveRows(warp, at, lanes, access);
  for (unsigned i = 0; i < at.vector; ++i) {
    uint16_t matrix[8][8];
    for (unsigned row = 0; row < 8; ++row)
      if (good >> (8 * i + row) & 1)
        std::memcpy(matrix[row], access.pointer[8 * i + row], 16);
      else
        std::memset(matrix[row], 0xFF, 16);
    uint32_t *d = warp.reg<uint32_t>(at.op[i]);
    forEachLane(lanes, [&](unsigned lane) {
      unsigned major = lane / 4, minor = 2 * (lane % 4);
      d[lane] =
          at.form
              ? matrix[minor][major] | uint32_t(matrix[minor + 1][major]) << 16
              : matrix[major][minor] | uint32_t(matrix[major][minor + 1]) << 16;
    });
  }
}

void storeMatrix(Warp &warp, const Instruction &at, Mask lanes) {
  Access access;
  access.kind = AccessKind::Store;
  Mask good = resolveRows(warp, at, lanes, access);
  for (unsigned i = 0; i < at.vector; ++i) {
    uint16_t matrix[8][8];
    const uint32_t *a = warp.reg<uint32_t>(at.op[1 + i]);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      unsigned major = lane / 4, minor = 2 * (lane % 4);
      (at.form ? matrix[minor][major] : matrix[major][minor]) = a[lane];
      (at.form ? matrix[minor + 1][major] : matrix[major][minor + 1]) =
          a[lane] >> 16;
    }
    for (unsigned row = 0; row < 8; ++row)
      if (good >> (8 * i + row) & 1)
        std::memcpy(access.pointer[8 * i + row], matrix[row], 16);
  }
}

} // namespace

template <class Type16, class Sum = float>
static Handler pickDepth(unsigned depth) {
  return depth == 16 ? &multiply16<Type16, 16, Sum>
                     : &multiply16<Type16, 8, Sum>;
}

static Handler pickMultiply(Type type, Type sum, unsigned depth) {
  if (type == Type::TF32)
    return depth == 8 ? &multiply32<8> : &multiply32<4>;
  if (type == Type::BF16)
    return pickDepth<BFloat>(depth);
  return sum == Type::F16 ? pickDepth<Half, Half>(depth)
                          : pickDepth<Half>(depth);
}

/// Of m16n8k16 16-bit types, of m16n8k8 all, of m16n8k4 tf32.
static Types factorsOf(unsigned depth, Type sum) {
  static constexpr Type all[] = {Type::F16, Type::BF16, Type::TF32};
  if (sum == Type::F16)
    return ArrayRef<Type>(all).take_front(1);
  return depth == 16  ? ArrayRef<Type>(all).take_front(2)
         : depth == 8 ? ArrayRef<Type>(all)
                      : ArrayRef<Type>(all).take_back(1);
}

static void buildMultiply(Form &form) {
  form.oneOf({"sync"});
  form.oneOf({"aligned"});
  static constexpr unsigned depths[] = {16, 8, 4};
  static constexpr Type sums[] = {Type::F32, Type::F16};
  unsigned depth = depths[form.oneOf({"m16n8k16", "m16n8k8", "m16n8k4"})];
  form.oneOf({"row"});
  form.oneOf({"col"});
  Type sum = form.type(Types(sums).take_front(depth == 4 ? 1 : 2));
  Type type = form.type(factorsOf(depth, sum));
  form.type({type});
  form.type({sum});
  unsigned perRegister = type == Type::TF32 ? 1 : 2;
  unsigned a = kRows * depth / kLanes / perRegister;
  unsigned b = kColumns * depth / kLanes / perRegister;
  unsigned c = sum == Type::F32 ? 4 : 2;
  Type cType = sum == Type::F32 ? Type::F32 : Type::B32;
  form.code.flow = Flow::Collective;
  form.code.aligned = true;
  form.destVector(cType, c);
  form.sourceVector(Type::B32, a);
  form.sourceVector(Type::B32, b);
  form.sourceVector(cType, c);
  form.code.run = pickMultiply(type, sum, depth);
}

static unsigned takeMatrixForm(Form &form) {
  form.oneOf({"sync"});
  form.oneOf({"aligned"});
  form.oneOf({"m8n8"});
  static constexpr unsigned counts[] = {1, 2, 4};
  unsigned count = counts[form.oneOf({"x1", "x2", "x4"})];
  form.code.form = form.has("trans");
  form.ignoresOne({"shared", "shared::cta"});
  form.oneOf({"b16"});
  form.code.space = Space::Shared;
  form.code.vector = count;
  form.code.flow = Flow::Collective;
  form.code.aligned = true;
  return count;
}

static void buildLoadMatrix(Form &form) {
  unsigned count = takeMatrixForm(form);
  form.destVector(Type::B32, count);
  form.address();
  form.code.run = &loadMatrix;
}

static void buildStoreMatrix(Form &form) {
  unsigned count = takeMatrixForm(form);
  form.address();
  form.sourceVector(Type::B32, count);
  form.code.run = &storeMatrix;
}

void raytention::simt::addMatrixOps(BuilderTable &table) {
  table["mma"] = &buildMultiply;
  table["ldmatrix"] = &buildLoadMatrix;
  table["stmatrix"] = &buildStoreMatrix;
}
