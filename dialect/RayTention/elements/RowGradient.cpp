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

NormGradient raytention::deriveNorm(ElementBuilder &b, Value product,
                                    Value norm) {
  Value floor = b.constant(kNormFloor);
  return {b.div(b.constant(1), b.max(norm, floor)),
          b.select(b.greater(norm, floor), product, b.constant(0))};
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
                          llvm::function_ref<Value(int64_t)> field) {
  ChannelInterface channel = slots.channel;
  if (channel.getForm() == ChannelForm::Scalar)
    return {row.gradient, row.along};
  Value logSum = field(slots.logSum + 1);
  if (prepared.logFactor)
    logSum = b.sub(logSum, prepared.logFactor);
  Value offset = b.div(prepared.offset, row.scale); // as U . k, not G . k
  return {logSum, offset, prepared.rest ? prepared.rest : b.constant(0)};
}

Value raytention::finishTemperature(ElementBuilder &b, Value sum,
                                    const ParameterValues &params) {
  Value scaled = b.div(b.sub(b.constant(0), sum), params.temperature);
  Value isFloored = b.less(params.tau, b.constant(kTauFloor));
  return b.select(isFloored, b.constant(0), scaled);
}
