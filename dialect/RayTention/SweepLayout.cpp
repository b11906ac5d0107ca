//===- SweepLayout.cpp - where each channel's state stands ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/SweepLayout.h"
#include "dialect/RayTention/RayTention.h"

#include "mlir/AsmParser/AsmParser.h"
#include "llvm/ADT/StringExtras.h"

#include <limits>

using namespace mlir;
using namespace raytention;

static void place(ArrayRef<StateField> fields, SmallVectorImpl<double> &floats,
                  SmallVectorImpl<double> &ints, FieldRange &floatRange,
                  FieldRange &intRange) {
  floatRange = {static_cast<int64_t>(floats.size()), 0};
  intRange = {static_cast<int64_t>(ints.size()), 0};
  for (const StateField &field : fields) {
    (field.isPosition ? ints : floats).push_back(field.initial);
    ++(field.isPosition ? intRange : floatRange).size;
  }
}

SweepLayout SweepLayout::get(ArrayAttr channels) {
  SweepLayout layout;
  constexpr double none = -std::numeric_limits<double>::infinity();
  layout.scoreFloatInit = {none, 0};
  for (Attribute attr : channels) {
    ChannelSlots slots;
    slots.channel = cast<ChannelInterface>(attr);
    if (slots.channel.getForm() == ChannelForm::Weighted)
      slots.weightSlot = layout.numWeighted++;
    if (slots.channel.hasOwnLogSum()) {
      slots.logSum = layout.scoreFloatInit.size();
      layout.scoreFloatInit.append({none, 0});
      slots.massSlot = layout.numMasses++;
    }
    layout.numPositions =
        std::max(layout.numPositions, slots.channel.getNumPositions());
    place(slots.channel.getScoreState(), layout.scoreFloatInit,
          layout.scoreIntInit, slots.scoreFloats, slots.scoreInts);
    place(slots.channel.getReduceState(), layout.reduceFloatInit,
          layout.reduceIntInit, slots.reduceFloats, slots.reduceInts);
    layout.slots.push_back(slots);
  }
  return layout;
}

SweepLayout SweepLayout::with(SweepKind kind, ArrayAttr others) const {
  SweepLayout layout = *this;
  if (!others)
    return layout;
  SweepLayout other = get(others);
  bool isScore = kind == SweepKind::Score;
  if (isScore) {
    layout.scoreFloatInit = other.scoreFloatInit;
    layout.scoreIntInit = other.scoreIntInit;
    layout.numMasses = other.numMasses;
    layout.numPositions = other.numPositions;
  } else {
    layout.reduceFloatInit = other.reduceFloatInit;
    layout.reduceIntInit = other.reduceIntInit;
  }
  for (ChannelSlots &slot : layout.slots) {
    const ChannelSlots *found = other.find(slot.channel);
    ChannelSlots own = found ? *found : ChannelSlots();
    if (isScore) {
      slot.logSum = own.logSum;
      slot.massSlot = own.massSlot;
      slot.scoreFloats = own.scoreFloats;
      slot.scoreInts = own.scoreInts;
    } else {
      slot.reduceFloats = own.reduceFloats;
      slot.reduceInts = own.reduceInts;
    }
  }
  return layout;
}

const ChannelSlots *SweepLayout::find(Attribute channel) const {
  for (const ChannelSlots &slot : slots)
    if (slot.channel == channel)
      return &slot;
  return nullptr;
}

int64_t raytention::getChannelWidth(ChannelInterface channel, int64_t dModel) {
  return channel.getForm() == ChannelForm::Scalar ? 1 : dModel;
}

int64_t raytention::getSignalWidth(ArrayAttr channels, int64_t dModel) {
  int64_t width = 0;
  for (Attribute channel : channels)
    width += getChannelWidth(cast<ChannelInterface>(channel), dModel);
  return width;
}

int64_t raytention::getNumCopies(ArrayAttr channels) {
  return llvm::count_if(channels, [](Attribute channel) {
    return cast<ChannelInterface>(channel).getForm() == ChannelForm::Copy;
  });
}

FailureOr<Attribute> raytention::parseChannelSpelling(MLIRContext *context,
                                                      StringRef spelling,
                                                      std::string &error) {
  auto [name, parameters] = spelling.split(':');
  std::string text = ("#rt." + name).str();
  if (!parameters.empty()) {
    SmallVector<StringRef> parts;
    parameters.split(parts, ':');
    text += "<" + llvm::join(parts, ", ") + ">";
  }
  // Only the parser's verdict is of use: its locations point into `text`.
  ScopedDiagnosticHandler quiet(context,
                                [&](Diagnostic &) { return success(); });
  Attribute attr = mlir::parseAttribute(text, context);
  if (attr && isa<ChannelInterface>(attr))
    return attr;
  auto *dialect = context->getOrLoadDialect<RayTentionDialect>();
  error = ("expected a channel out of " +
           llvm::join(dialect->getChannelSpellings(), ", ") + ", got '" +
           spelling + "'")
              .str();
  return failure();
}
