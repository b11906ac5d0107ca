//===- Ops.h - what handlers are written with -------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_DEVICE_SIMT_OPS_OPS_H
#define RAYTENTION_RUNTIME_DEVICE_SIMT_OPS_OPS_H

#include "runtime/device/simt/Assembler.h"
#include "runtime/device/simt/Machine.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace raytention::simt {

void addIntegerOps(BuilderTable &table);
void addBitOps(BuilderTable &table);
void addFloatOps(BuilderTable &table);
void addFunctionOps(BuilderTable &table);
void addCompareOps(BuilderTable &table);
void addConvertOps(BuilderTable &table);
void addMoveOps(BuilderTable &table);
void addMemoryOps(BuilderTable &table);
void addAtomicOps(BuilderTable &table);
void addAsyncOps(BuilderTable &table);
void addCollectiveOps(BuilderTable &table);
void addMatrixOps(BuilderTable &table);
void addWarpgroupOps(BuilderTable &table);
void addControlOps(BuilderTable &table);
void addFenceOps(BuilderTable &table);
void addMbarrierOps(BuilderTable &table);
void addHintOps(BuilderTable &table);
void addClusterOps(BuilderTable &table);

// Families that several files share, by the type that comes last.
void buildFloatBinary(Form &form, Type type);
void buildFloatUnary(Form &form, Type type);
void buildFloatFma(Form &form, Type type);
void buildHalf(Form &form, Type type, unsigned operands);
void buildClusterBarrier(Form &form); ///< barrier.cluster
/// .gpu, .sys, .cta or .cluster, which matters for the checks only.
void takeScope(Form &form, bool required);
void buildBulkCopy(Form &form);      ///< cp.async.bulk
void buildCopyArrival(Form &form);   ///< cp.async.mbarrier
void buildBulkReduction(Form &form); ///< cp.reduce.async.bulk
/// .add, .min, ...: its number, the types it has, and what combines them.
unsigned takeReduction(Form &form);
Types typesOfReduction(unsigned what);
Combine pickCombine(Type type);

/// add, sub and mad that give the carry out (.cc), or take it in (addc).
enum class Carry : uint8_t { Add, Sub, MadLow, MadHigh };
void buildCarry(Form &form, Carry what, Types types, bool takes, bool gives);
void addCarryOps(BuilderTable &table);

constexpr Type kWordTypes[] = {Type::U16, Type::U32, Type::U64,
                               Type::S16, Type::S32, Type::S64};
constexpr Type kBitTypes[] = {Type::B16, Type::B32, Type::B64};
constexpr Type kHighTypes[] = {Type::U32, Type::U64, Type::S32, Type::S64};
/// Words and all floats.
constexpr Type kNumberTypes[] = {
    Type::U16, Type::U32, Type::U64, Type::S16,   Type::S32,  Type::S64,
    Type::F16, Type::F32, Type::F64, Type::F16x2, Type::BF16, Type::BF16x2};

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

/// A full mask is a loop of fixed length, which the compiler vectorises.
template <class F> inline void overLanes(Mask lanes, F f) {
  if (lanes == kAllLanes) {
#pragma GCC ivdep
    for (unsigned lane = 0; lane < kLanes; ++lane)
      f(lane);
    return;
  }
  forEachLane(lanes, f);
}

template <class D, class A, class Op>
void unary(Warp &warp, const Instruction &at, Mask lanes) {
  D *d = warp.reg<D>(at.op[0]);
  const A *a = warp.reg<A>(at.op[1]);
  overLanes(lanes, [=](unsigned i) { d[i] = Op::apply(a[i]); });
}

template <class D, class A, class B, class Op>
void binary(Warp &warp, const Instruction &at, Mask lanes) {
  D *d = warp.reg<D>(at.op[0]);
  const A *a = warp.reg<A>(at.op[1]);
  const B *b = warp.reg<B>(at.op[2]);
  overLanes(lanes, [=](unsigned i) { d[i] = Op::apply(a[i], b[i]); });
}

template <class D, class A, class B, class C, class Op>
void ternary(Warp &warp, const Instruction &at, Mask lanes) {
  D *d = warp.reg<D>(at.op[0]);
  const A *a = warp.reg<A>(at.op[1]);
  const B *b = warp.reg<B>(at.op[2]);
  const C *c = warp.reg<C>(at.op[3]);
  overLanes(lanes, [=](unsigned i) { d[i] = Op::apply(a[i], b[i], c[i]); });
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

template <class T> struct Tag { using type = T; };

/// Calls f(Tag<T>) with the integer of that size, 16 to 64 bits, and sign.
template <class F> Handler withWord(Type type, F f) {
  switch (type) {
  case Type::U16:
  case Type::B16:
    return f(Tag<uint16_t>());
  case Type::S16:
    return f(Tag<int16_t>());
  case Type::U32:
  case Type::B32:
    return f(Tag<uint32_t>());
  case Type::S32:
    return f(Tag<int32_t>());
  case Type::U64:
  case Type::B64:
    return f(Tag<uint64_t>());
  case Type::S64:
    return f(Tag<int64_t>());
  default:
    return nullptr;
  }
}

/// Those of 8 bits too.
template <class F> Handler withInteger(Type type, F f) {
  if (bitsOf(type) != 8)
    return withWord(type, f);
  return isSigned(type) ? f(Tag<int8_t>()) : f(Tag<uint8_t>());
}

/// Unsigned and at least an int: arithmetic on it wraps and is defined.
template <class T>
using Wrapping = std::common_type_t<std::make_unsigned_t<T>, unsigned>;

//===----------------------------------------------------------------------===//
// Small floats
//===----------------------------------------------------------------------===//

inline float fromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}
inline uint32_t toBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

inline float fromBFloat(uint16_t bits) {
  return fromBits(uint32_t(bits) << 16);
}
float fromHalf(uint16_t bits);
uint16_t toHalf(double value, Rounding rounding);
uint16_t toBFloat(double value, Rounding rounding);
/// The bits of a float with ten bits of fraction, half away from zero.
uint32_t toTensorFloat(float value);

/// 1 for a NaN as PTX makes them.
constexpr uint32_t kNaN32 = 0x7FFFFFFF;
constexpr uint16_t kNaN16 = 0x7FFF;

inline float flushed(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value)
                                                : value;
}
inline double flushed(double value) { return value; }

template <class T> T saturated(T value) {
  return std::isnan(value) ? T(0) : std::min(std::max(value, T(0)), T(1));
}

} // namespace raytention::simt

#endif // RAYTENTION_RUNTIME_DEVICE_SIMT_OPS_OPS_H
