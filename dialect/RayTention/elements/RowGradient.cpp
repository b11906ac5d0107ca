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

using Values = SmallVector<Value>;

namespace {
/// From which tau on, and by which power of two, gradients are scaled.
struct UnitStep {
  double tau, unit;
};
} // namespace

static SmallVector<UnitStep> getUnitSteps(const ElementBuilder &b,
                                          bool isScaledByTau) {
  // G is at most 2^93 (f64: 2^533) in the domain, and no larger than that with
  // dz / t kept up.
  if (!isScaledByTau)
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
  for (UnitStep step : getUnitSteps(b, layout.isScaledByTau)) {
    Value isLarge = b.greater(size, b.constant(step.tau));
    unit.unit = b.select(isLarge, b.constant(step.unit), unit.unit);
    unit.inverse = b.select(isLarge, b.constant(1 / step.unit), unit.inverse);
  }
  return unit;
}

Value raytention::getRelativeLogSum(ElementBuilder &b,
                                    const GradientSlots &slots,
                                    llvm::function_ref<Value(int64_t)> field) {
  if (slots.logSum == 0)
    return b.constant(0);
  // The own maximum counts from the softmax's.
  return b.add(field(slots.logSum), b.sub(field(slots.logSum + 1), field(1)));
}

//===----------------------------------------------------------------------===//
// Before the pairs
//===----------------------------------------------------------------------===//

RowPreparation::RowPreparation(ElementBuilder &b, const GradientLayout &layout,
                               const ParameterValues &params, Values saved,
                               Value product, Value norm, Value row, Value last)
    : b(b), params(params), saved(std::move(saved)), row(row), last(last) {
  unit = getGradientUnit(b, layout, params);
  Value floor = b.constant(kNormFloor);
  scale = b.mul(b.div(b.constant(1), b.max(norm, floor)), unit.inverse);
  along = b.select(b.greater(norm, floor), product, b.constant(0));
  weightSum = b.constant(0);
}

Values RowPreparation::prepareScalar(const GradientSlots &slots, Value plain,
                                     Value y) {
  return prepare(slots, b.mul(plain, scale), b.mul(plain, y));
}

Values RowPreparation::prepareWeighted(const GradientSlots &slots, Value sum) {
  return prepare(slots, Value(), sum);
}

Values RowPreparation::prepare(const GradientSlots &slots, Value gradient,
                               Value sum) {
  ChannelInterface channel = slots.channel;
  GradientRow values;
  values.gradient = gradient;
  // x = y / scale, so that G . x needs no scale.
  values.along = b.mul(sum, unit.inverse);
  values.scale = scale;
  values.relativeLogSum =
      getRelativeLogSum(b, slots, [&](int64_t field) { return saved[field]; });
  values.row = row;
  values.last = last;
  values.saved = ValueRange(saved).slice(slots.saved.begin, slots.saved.size);
  RowGradient prepared = channel.prepareGradient(b, values, params);
  if (prepared.weightSum)
    weightSum = b.add(weightSum, prepared.weightSum);
  return makeFields(slots, values, prepared);
}

Values RowPreparation::makeFields(const GradientSlots &slots,
                                  const GradientRow &values,
                                  const RowGradient &prepared) {
  ChannelInterface channel = slots.channel;
  if (channel.getForm() == ChannelForm::Scalar)
    return {values.gradient, values.along};
  Value logSum = saved[slots.logSum + 1];
  if (prepared.logFactor)
    logSum = b.sub(logSum, prepared.logFactor);
  Value offset = b.div(prepared.offset, scale); // as U . k, not G . k
  Value perBase = logSum;
  if (int64_t base = channel.getBase(); base >= 0)
    perBase = b.add(logSum, params.logGammas[base]);
  return {logSum, perBase, offset,
          prepared.rest ? prepared.rest : b.constant(0)};
}

//===----------------------------------------------------------------------===//
// After the pairs
//===----------------------------------------------------------------------===//

/// `dtau` of the sum of dz z over a row's pairs: `-sum / t`, 0 for tau under
/// its floor.
static Value finishTemperature(ElementBuilder &b, Value sum,
                               const ParameterValues &params) {
  Value scaled = b.div(b.sub(b.constant(0), sum), params.temperature);
  Value isFloored = b.less(params.tau, b.constant(kTauFloor));
  return b.select(isFloored, b.constant(0), scaled);
}

static Values loadAll(FieldRange range,
                      llvm::function_ref<Value(int64_t)> load) {
  Values values;
  for (int64_t i = 0; i < range.size; ++i)
    values.push_back(load(range.begin + i));
  return values;
}

Values raytention::finishParameters(ElementBuilder &b,
                                    const GradientLayout &layout,
                                    const ParameterValues &params,
                                    const ParameterSource &source) {
  Value unit = getGradientUnit(b, layout, params).unit;
  Value tau =
      finishTemperature(b, source.sum(GradientLayout::kTemperature), params);
  Values gammas(params.logGammas.size(), b.constant(0));
  for (const GradientSlots &slots : layout.slots) {
    ChannelInterface channel = slots.channel;
    if (channel.getForm() == ChannelForm::Copy)
      continue;
    GradientRow row;
    if (channel.getForm() == ChannelForm::Scalar) {
      row.gradient = source.field(slots.fields);
      row.along = source.field(slots.fields + 1);
    }
    // Exact, and in range where the scale in the unit times a sum may not be.
    row.scale = b.mul(source.field(layout.scale()), unit);
    row.relativeLogSum = getRelativeLogSum(b, slots, source.field);
    row.row = source.row;
    row.last = source.last;
    Values saved = loadAll(slots.saved, source.field);
    row.saved = saved;
    ParameterGradient own = channel.finishGradient(
        b, row, params, loadAll(slots.state, source.sum));
    if (own.tau)
      tau = b.add(tau, own.tau);
    if (own.gamma)
      gammas[own.gammaIndex] = b.add(gammas[own.gammaIndex], own.gamma);
  }
  gammas.insert(gammas.begin(), b.mul(tau, unit));
  return gammas;
}
