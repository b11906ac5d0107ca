//===- KeyFold.cpp - positions of a listed key ------ -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/elements/KeyFold.h"
#include "dialect/RayTention/RayTention.h"

using namespace mlir;
using namespace raytention;

KeyColumn raytention::addPosition(ElementBuilder &b, const SweepLayout &layout,
                                  const ParameterValues &params,
                                  const KeyColumn &column, Value position) {
  KeyColumn next = column;
  Value count = column.masses[0];
  for (int64_t i = 0; i < layout.numPositions; ++i)
    next.positions[i] =
        b.select(b.equal(count, b.constant(i)), position, column.positions[i]);
  next.positions.back() = position;
  Value isFirst = b.equal(count, b.constant(0));
  PositionValues positions{
      position, next.positions.front(),
      b.select(isFirst, position, column.positions.back())};
  next.masses[0] = b.add(count, b.constant(1));
  for (const ChannelSlots &slots : layout.slots) {
    ChannelInterface channel = slots.channel;
    if (slots.massSlot > 0)
      next.masses[slots.massSlot] = channel.addPosition(
          b, column.masses[slots.massSlot], positions, params);
  }
  return next;
}
