//===- Shadow.cpp - who touched a word last, and in what order --*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/Shadow.h"

#include "llvm/Support/Compiler.h"

using namespace raytention::simt;

/// Of a block, by way of others. Most kernels never come here.
LLVM_ATTRIBUTE_NOINLINE static const View *findView(const Toucher &by,
                                                    uint32_t block) {
  return by.others->get()->find(block);
}

/// What is known of a block by way of others; null for nothing.
static const View *viewOf(const Toucher &by, uint32_t block) {
  return by.others ? findView(by, block) : nullptr;
}

/// Whether an access at `time` by `thread` of the same block happened before.
static bool isOrdered(const Toucher &by, uint32_t time, uint32_t thread) {
  if (thread == by.thread || by.clock->seen.covers(time, thread))
    return true;
  const View *view = viewOf(by, by.block);
  return view && view->covers(time, thread);
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

static Conflict againstWrite(const Cell &cell, const Toucher &by) {
  if (!cell.writeTime || (cell.writeStrong && by.strong))
    return {};
  if (cell.writeBlock != by.block) {
    const View *view = viewOf(by, cell.writeBlock);
    if (view && view->covers(cell.writeTime, cell.writeThread))
      return {};
    return {Conflict::BlockRace, true, cell.writeThread, cell.writeBlock};
  }
  Conflict::Kind kind = !isWriteOrdered(cell, by)   ? Conflict::Race
                        : !isWriteProxied(cell, by) ? Conflict::NoProxyFence
                                                    : Conflict::None;
  return {kind, true, cell.writeThread, cell.writeBlock};
}

LLVM_ATTRIBUTE_NOINLINE static bool isReadKnown(const Toucher &by,
                                                unsigned warp, WarpRead read) {
  const View *view = findView(by, by.block);
  return view && view->warps[warp].coversAll(read.time, read.lanes);
}

/// Whether reads of a warp of this block came before.
LLVM_ATTRIBUTE_ALWAYS_INLINE static bool
isReadOrdered(const Toucher &by, unsigned warp, WarpRead read) {
  // A thread's own accesses are in its order.
  if (warp == by.thread / 32)
    read.lanes &= ~(1u << by.thread % 32);
  return !read.lanes ||
         by.clock->seen.warps[warp].coversAll(read.time, read.lanes) ||
         (by.others && isReadKnown(by, warp, read));
}

/// Whether the reads of other blocks came before.
LLVM_ATTRIBUTE_NOINLINE static bool
areOthersReadsOrdered(const Cell &cell, ReaderPool &pool, const Toucher &by) {
  if (!by.others)
    return false;
  const GridView &others = *by.others->get();
  if (cell.manyBlocks)
    return others.knowsAll(cell.readLanes, cell.readEpoch, by.block, by.blocks);
  const View *view = others.find(cell.readBlock);
  if (!view || !cell.readers)
    return view &&
           view->warps[cell.readWarp].coversAll(cell.readTime, cell.readLanes);
  const Readers &readers = pool.at(cell.readers);
  for (uint64_t rest = readers.warps; rest; rest &= rest - 1) {
    unsigned warp = __builtin_ctzll(rest);
    const WarpRead &read = readers.reads[warp];
    if (!view->warps[warp].coversAll(read.time, read.lanes))
      return false;
  }
  return true;
}

/// Whether all reads noted in the cell came before.
static bool areReadsOrdered(const Cell &cell, ReaderPool &pool,
                            const Toucher &by) {
  if (LLVM_UNLIKELY(cell.manyBlocks || cell.readBlock != by.block))
    return areOthersReadsOrdered(cell, pool, by);
  if (!cell.readers)
    return isReadOrdered(by, cell.readWarp, {cell.readTime, cell.readLanes});
  const Readers &readers = pool.at(cell.readers);
  for (uint64_t rest = readers.warps; rest; rest &= rest - 1) {
    unsigned warp = __builtin_ctzll(rest);
    if (!isReadOrdered(by, warp, readers.reads[warp]))
      return false;
  }
  return true;
}

static Conflict againstReads(const Cell &cell, ReaderPool &pool,
                             const Toucher &by) {
  if (!cell.readTime || areReadsOrdered(cell, pool, by))
    return {};
  bool isOther = cell.manyBlocks || cell.readBlock != by.block;
  return {isOther ? Conflict::BlockRace : Conflict::Race, false,
          cell.manyBlocks ? 0 : cell.readThread(), cell.readBlock};
}

/// Another read that nothing orders behind those noted.
static void addReader(Cell &cell, ReaderPool &pool, const Toucher &by) {
  unsigned warp = by.thread / 32;
  uint32_t lane = 1u << by.thread % 32;
  if (!cell.readers && warp == cell.readWarp) {
    cell.readLanes |= lane;
    return;
  }
  if (!cell.readers) {
    cell.readers = pool.allocate();
    pool.at(cell.readers).note(cell.readWarp, {cell.readTime, cell.readLanes});
  }
  Readers &readers = pool.at(cell.readers);
  WarpRead before = readers.has(warp) ? readers.reads[warp] : WarpRead();
  // What its lanes read before they last met is no longer asked for.
  if (isReadOrdered(by, warp, before))
    before.lanes = 0;
  readers.note(warp, {by.now, before.lanes | lane});
  cell.readWarp = warp;
  cell.readLanes = lane;
}

static uint32_t bitOf(uint32_t block) { return 1u << block % 32; }

/// The reads of many blocks are not told apart.
static void noteManyBlocks(Cell &cell, ReaderPool &pool, const Toucher &by) {
  if (!cell.manyBlocks)
    cell.readLanes = bitOf(cell.readBlock);
  cell.manyBlocks = true;
  cell.readLanes |= bitOf(by.block);
  cell.readBlock = by.block;
  pool.release(cell.readers);
}

static void noteRead(Cell &cell, ReaderPool &pool, const Toucher &by) {
  // Of what many blocks read, where none waits for another.
  if (cell.manyBlocks && !by.others) {
    cell.readLanes |= bitOf(by.block);
    return;
  }
  if (cell.readTime && !areReadsOrdered(cell, pool, by)) {
    if (cell.manyBlocks || cell.readBlock != by.block)
      return noteManyBlocks(cell, pool, by);
    addReader(cell, pool, by);
    cell.readTime = by.now;
    return;
  }
  pool.release(cell.readers);
  cell.manyBlocks = false;
  cell.readTime = by.now;
  cell.readEpoch = by.epoch;
  cell.readBlock = by.block;
  cell.readWarp = by.thread / 32;
  cell.readLanes = 1u << by.thread % 32;
}

static void noteWrite(Cell &cell, ReaderPool &pool, const Toucher &by) {
  Cell before = cell;
  pool.release(cell.readers);
  cell = Cell();
  cell.asyncReads = before.asyncReads;
  cell.asyncBlock = before.asyncBlock;
  cell.asyncReader = before.asyncReader;
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
           cell.asyncBlock == by.block)
    result = {Conflict::BeingRead, false, cell.asyncReader, cell.asyncBlock};
  return result;
}

/// Of several blocks that read at a time, the last is known.
static void beginRead(Cell &cell, const Toucher &by) {
  cell.asyncReads = cell.asyncBlock == by.block ? cell.asyncReads + 1 : 1;
  cell.asyncBlock = by.block;
  cell.asyncReader = by.thread;
}

static void endRead(Cell &cell, const Toucher &by) {
  if (cell.asyncBlock == by.block && cell.asyncReads)
    --cell.asyncReads;
}

Conflict raytention::simt::touch(Cell &cell, ReaderPool &pool,
                                 const Toucher &by) {
  if (by.kind == Touch::EndRead) {
    endRead(cell, by);
    noteRead(cell, pool, by);
    return {};
  }
  Conflict result = againstState(cell, by);
  if (result.kind == Conflict::None)
    result = againstWrite(cell, by);
  if (by.kind == Touch::Read) {
    // Atomic reads order nothing and collide with no atomic write; an async
    // one is noted when it ends.
    if (by.beginsAsync)
      beginRead(cell, by);
    else if (!by.strong)
      noteRead(cell, pool, by);
    return result;
  }
  if (result.kind == Conflict::None)
    result = againstReads(cell, pool, by);
  noteWrite(cell, pool, by);
  return result;
}
