//===- GradientLayout.cpp - what a gradient keeps of a row ---------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/GradientLayout.h"

using namespace mlir;
using namespace raytention;

/// The next `size` of `total` fields.
static FieldRange take(int64_t &total, int64_t size) {
  FieldRange range = {total, size};
  total += size;
  return range;
}

static int64_t countFields(ChannelForm form) {
  switch (form) {
  case ChannelForm::Weighted:
    return 4;
  case ChannelForm::Scalar:
    return 2;
  case ChannelForm::Copy:
    return 0;
  }
  llvm_unreachable("a channel has a form");
}

GradientLayout GradientLayout::get(ArrayAttr channels) {
  GradientLayout layout;
  layout.numSaved = 2;
  for (Attribute attr : channels) {
    GradientSlots slots;
    slots.channel = cast<ChannelInterface>(attr);
    if (slots.channel.getForm() == ChannelForm::Weighted)
      slots.weightSlot = layout.numWeighted++;
    if (slots.channel.getForm() == ChannelForm::Copy)
      slots.copySlot = layout.numCopies++;
    layout.isScaledByTau |= slots.channel.isScaledByTau();
    if (slots.channel.hasOwnLogSum())
      slots.logSum = take(layout.numSaved, 2).begin;
    slots.saved = take(layout.numSaved, slots.channel.getSavedState().size());
    slots.state =
        take(layout.numStates, slots.channel.getGradientState().size());
    layout.slots.push_back(slots);
  }
  layout.numFields = layout.weightSum() + 1;
  for (GradientSlots &slots : layout.slots)
    slots.fields =
        take(layout.numFields, countFields(slots.channel.getForm())).begin;
  return layout;
}
