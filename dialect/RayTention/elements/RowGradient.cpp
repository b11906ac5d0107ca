//===- RowGradient.cpp - a row before and after its pairs -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/elements/RowGradient.h"

using namespace mlir;
using namespace raytention;

namespace {
/// From which tau on, and by which power of two, gradients are scaled.
struct UnitStep {
  double tau, unit;
};
} // namespace

static SmallVector<UnitStep> getUnitSteps(const ElementBuilder &b,
                                          bool hasDistanceGradient) {
  // G is at most 2^93 (f64: 2^533) in the domain, and no larger than that with
  // dz / t kept up.
  if (!hasDistanceGradient)
    return {b.isDouble() ? UnitStep{0x1p512, 0x1p-400}
                         : UnitStep{0x1p64, 0x1p-32}};
  // G tau outweighs all else where tau is large. G itself may be tiny there,
  // and must not be flushed: no larger unit than that tau needs.
  if (b.isDouble())
    return {{0x1p256, 0x1p64},
            {0x1p320, 0x1p128},
            {0x1p384, 0x1p192},
            {0x1p448, 0x1p256},
            {0x1p512, 0x1p512}};
  return {{0x1p32, 0x1p8},
          {0x1p40, 0x1p16},
          {0x1p48, 0x1p24},
          {0x1p56, 0x1p32},
          {0x1p64, 0x1p64}};
}

GradientUnit raytention::getGradientUnit(ElementBuilder &b,
                                         const GradientLayout &layout,
                                         const ParameterValues &params) {
  Value size = b.max(params.tau, b.sub(b.constant(0), params.tau));
  GradientUnit unit{b.constant(1), b.constant(1)};
  for (UnitStep step : getUnitSteps(b, layout.hasDistanceGradient)) {
    Value isLarge = b.greater(size, b.constant(step.tau));
    unit.unit = b.select(isLarge, b.constant(step.unit), unit.unit);
    unit.inverse = b.select(isLarge, b.constant(1 / step.unit), unit.inverse);
  }
  return unit;
}

NormGradient raytention::deriveNorm(ElementBuilder &b, Value product,
                                    Value norm, const GradientUnit &unit) {
  Value floor = b.constant(kNormFloor);
  Value scale = b.div(b.constant(1), b.max(norm, floor));
  Value along = b.select(b.greater(norm, floor), product, b.constant(0));
  return {scale, along, b.mul(scale, unit.inverse)};
}

Value raytention::getRelativeLogSum(ElementBuilder &b,
                                    const GradientSlots &slots,
                                    llvm::function_ref<Value(int64_t)> field) {
  if (slots.logSum == 0)
    return b.constant(0);
  // The own maximum counts from the softmax's.
  return b.add(field(slots.logSum), b.sub(field(slots.logSum + 1), field(1)));
}

SmallVector<Value>
raytention::prepareFields(ElementBuilder &b, const GradientSlots &slots,
                          const GradientRow &row, const RowGradient &prepared,
                          const ParameterValues &params,
                          llvm::function_ref<Value(int64_t)> field) {
  ChannelInterface channel = slots.channel;
  if (channel.getForm() == ChannelForm::Scalar)
    return {row.gradient, row.along};
  Value logSum = field(slots.logSum + 1);
  if (prepared.logFactor)
    logSum = b.sub(logSum, prepared.logFactor);
  Value offset = b.div(prepared.offset, row.scale); // as U . k, not G . k
  Value perBase = logSum;
  if (int64_t base = channel.getBase(); base >= 0)
    perBase = b.add(logSum, params.logGammas[base]);
  return {logSum, perBase, offset,
          prepared.rest ? prepared.rest : b.constant(0)};
}

Value raytention::finishTemperature(ElementBuilder &b, Value sum,
                                    const ParameterValues &params) {
  Value scaled = b.div(b.sub(b.constant(0), sum), params.temperature);
  Value isFloored = b.less(params.tau, b.constant(kTauFloor));
  return b.select(isFloored, b.constant(0), scaled);
}
