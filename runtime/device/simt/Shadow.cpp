//===- Shadow.cpp - who touched a word last, and in what order --*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/Shadow.h"

using namespace raytention::simt;

/// Whether an access at `time` by `thread` of the same block happened before.
static bool isOrdered(const Toucher &by, uint32_t time, uint32_t thread) {
  return thread == by.thread || by.clock->seen.covers(time, thread);
}

/// What an mbarrier told of is in nobody's order but of those that waited.
static bool isWriteOrdered(const Cell &cell, const Toucher &by) {
  if (cell.writeSlot)
    return by.clock->seen.hasLanded(cell.writeTime, cell.writeSlot - 1);
  return isOrdered(by, cell.writeTime, cell.writeThread);
}

static bool isWriteProxied(const Cell &cell, const Toucher &by) {
  if (!by.async || cell.writeAsync)
    return true;
  if (cell.writeSlot)
    return by.clock->proxied.hasLanded(cell.writeTime, cell.writeSlot - 1);
  return by.clock->proxied.covers(cell.writeTime, cell.writeThread);
}

/// Whether what another block wrote may be read: it fenced after the write, and
/// this block fenced before the read.
static bool isPublished(const Toucher &by, uint32_t block, uint32_t time) {
  return by.acquired && by.published &&
         time <= by.published[block].load(std::memory_order_acquire);
}

static Conflict againstWrite(const Cell &cell, const Toucher &by) {
  if (!cell.writeTime || (cell.writeStrong && by.strong))
    return {};
  if (cell.writeBlock != by.block) {
    if (isPublished(by, cell.writeBlock, cell.writeTime))
      return {};
    return {Conflict::BlockRace, true, cell.writeThread, cell.writeBlock};
  }
  Conflict::Kind kind = !isWriteOrdered(cell, by)   ? Conflict::Race
                        : !isWriteProxied(cell, by) ? Conflict::NoProxyFence
                                                    : Conflict::None;
  return {kind, true, cell.writeThread, cell.writeBlock};
}

/// Whether all reads noted in the cell, all of this block, came before. Of the
/// last one the time is known, of the others' warps only that they read no
/// earlier than the first: a race may be missed, and none is made up.
static bool areReadsOrdered(const Cell &cell, const Toucher &by) {
  if (!isOrdered(by, cell.readTime, cell.readThread))
    return false;
  if (!cell.manyReaders)
    return true;
  for (uint32_t warps = cell.readWarps; warps; warps &= warps - 1)
    if (cell.firstRead > by.clock->seen.warps[__builtin_ctz(warps)].latest())
      return false;
  return true;
}

static Conflict againstReads(const Cell &cell, const Toucher &by) {
  if (!cell.readTime)
    return {};
  if (cell.manyBlocks || cell.readBlock != by.block) {
    if (!cell.manyBlocks && isPublished(by, cell.readBlock, cell.readTime))
      return {};
    return {Conflict::BlockRace, false, cell.readThread, cell.readBlock};
  }
  if (areReadsOrdered(cell, by))
    return {};
  return {Conflict::Race, false, cell.readThread, cell.readBlock};
}

static void noteRead(Cell &cell, const Toucher &by) {
  uint32_t warp = uint32_t(1) << (by.thread / 32);
  bool fresh = !cell.readTime || cell.manyBlocks;
  if (!cell.readTime ||
      (cell.readBlock == by.block && areReadsOrdered(cell, by))) {
    cell.manyReaders = false;
    cell.readWarps = warp;
    cell.firstRead = by.now;
  } else if (cell.readBlock != by.block) {
    cell.manyBlocks = true;
  } else if (!fresh) {
    cell.manyReaders |= cell.readThread != by.thread;
    cell.readWarps |= warp;
  }
  cell.readTime = by.now;
  cell.readBlock = by.block;
  cell.readThread = by.thread;
}

static void noteWrite(Cell &cell, const Toucher &by) {
  uint16_t asyncReads = cell.asyncReads;
  cell = Cell();
  cell.asyncReads = asyncReads;
  cell.writeTime = by.now;
  cell.writeBlock = by.block;
  cell.writeThread = by.thread;
  cell.writeSlot = by.slot;
  cell.writeStrong = by.strong;
  cell.writeAsync = by.async;
  cell.pending = by.beginsAsync;
  cell.isObject = by.object == Toucher::Init;
}

/// What stands against any access of the cell, whoever orders it.
static Conflict againstState(const Cell &cell, const Toucher &by) {
  Conflict result = {Conflict::None, true, cell.writeThread, cell.writeBlock};
  if (cell.isObject && by.object == Toucher::NoObject)
    result.kind = Conflict::Object;
  else if (cell.pending && by.kind != Touch::Land &&
           cell.writeBlock == by.block)
    result.kind = Conflict::Pending;
  else if (cell.asyncReads && by.kind != Touch::Read &&
           cell.readBlock == by.block)
    result = {Conflict::BeingRead, false, cell.readThread, cell.readBlock};
  return result;
}

Conflict raytention::simt::touch(Cell &cell, const Toucher &by) {
  if (by.kind == Touch::EndRead) {
    cell.asyncReads -= cell.asyncReads != 0;
    noteRead(cell, by);
    return {};
  }
  Conflict result = againstState(cell, by);
  if (result.kind == Conflict::None)
    result = againstWrite(cell, by);
  if (by.kind == Touch::Read) {
    // Atomic reads order nothing and collide with no atomic write.
    if (!by.strong)
      noteRead(cell, by);
    cell.asyncReads += by.beginsAsync;
    return result;
  }
  if (result.kind == Conflict::None)
    result = againstReads(cell, by);
  noteWrite(cell, by);
  return result;
}
