//===- ProductMemory.cpp - shared memory that products read -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/MatrixDescriptor.h"
#include "runtime/device/simt/ShadowAccess.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cstring>

using namespace llvm;
using namespace raytention::simt;

static constexpr unsigned kPieceBytes = 16;
static constexpr unsigned kRowsPerWarp = 16;

using Pieces = SmallVector<uint64_t, 512>;

static Pieces piecesOfA(const Warp &warp, const Product &product,
                        uint64_t descriptor) {
  Pieces pieces;
  unsigned first = warp.index % kWarpsPerGroup * kRowsPerWarp;
  MatrixDescriptor(descriptor)
      .pieces(!product.transposedA, first, kRowsPerWarp, pieces);
  return pieces;
}

static Pieces piecesOfB(const Product &product, uint64_t descriptor) {
  Pieces pieces;
  MatrixDescriptor(descriptor)
      .pieces(!product.transposedB, 0, product.columns, pieces);
  return pieces;
}

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

/// A read by lane that begins now, or ends.
static Toucher makeReader(Warp &warp, unsigned lane, Touch kind) {
  Toucher by = makeToucher(warp, lane, kind);
  by.async = by.beginsAsync = true;
  return by;
}

static void beginRead(Warp &warp, unsigned lane, uint64_t address) {
  bool fresh = false;
  Conflict worst = touchShared(*warp.block, address, kPieceBytes,
                               makeReader(warp, lane, Touch::Read), fresh);
  if (worst.kind)
    reportConflict(warp, lane, address, worst, "this read", Space::Shared);
  else if (fresh)
    reportFresh(warp, lane, address);
}

/// All that products read of shared memory is read here. Lanes take a piece
/// each; what must not be read is NaNs.
static void readShared(Warp &warp, ArrayRef<uint64_t> pieces, uint8_t *to) {
  Access access;
  access.kind = AccessKind::BulkRead;
  access.space = Space::Shared;
  access.bytes = kPieceBytes;
  bool checks = warp.block->worker->checks;
  for (size_t first = 0; first < pieces.size(); first += kLanes) {
    size_t count = std::min<size_t>(kLanes, pieces.size() - first);
    std::copy_n(pieces.begin() + first, count, access.address);
    Mask lanes = count == kLanes ? kAllLanes : (Mask(1) << count) - 1;
    Mask good = resolve(warp, access, lanes);
    for (size_t lane = 0; lane < count; ++lane, to += kPieceBytes) {
      if (!(good >> lane & 1)) {
        std::memset(to, 0xFF, kPieceBytes);
        continue;
      }
      std::memcpy(to, access.pointer[lane], kPieceBytes);
      if (checks)
        beginRead(warp, lane, access.address[lane]);
    }
  }
}

static void count(Warp &warp, const Pieces &pieces) {
  Worker &worker = *warp.block->worker;
  if (!worker.profiling)
    return;
  ++worker.profile.productLoads.requests;
  worker.profile.productLoads.bytes += pieces.size() * kPieceBytes;
}

void raytention::simt::readMatrixA(Warp &warp, const Product &product,
                                   uint64_t descriptor, uint8_t *to) {
  Pieces pieces = piecesOfA(warp, product, descriptor);
  readShared(warp, pieces, to);
  count(warp, pieces);
}

void raytention::simt::readMatrixB(Warp &warp, const Product &product,
                                   uint64_t descriptor, uint8_t *to) {
  Pieces pieces = piecesOfB(product, descriptor);
  readShared(warp, pieces, to);
  // The four warps share what is read of B.
  if (warp.index % kWarpsPerGroup == 0)
    count(warp, pieces);
}

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

std::string raytention::simt::describeHex(uint64_t value) {
  return "0x" + utohexstr(value, /*LowerCase=*/true);
}

static void reportReserved(Warp &warp, char operand, uint64_t reserved) {
  warp.block->worker->report(
      FindingKind::BadDescriptor, warp, warp.pc, 0, 0, [&] {
        return std::string("expected zeros in bits 14-15, 30-31, 46-48 and "
                           "52-61 of the descriptor of ") +
               operand + ", got " + describeHex(reserved);
      });
}

void raytention::simt::checkDescriptor(Warp &warp, char operand,
                                       uint64_t bits) {
  MatrixDescriptor descriptor(bits);
  if (descriptor.reserved)
    reportReserved(warp, operand, descriptor.reserved);
  if (descriptor.isAligned())
    return;
  warp.block->worker->report(
      FindingKind::Misaligned, warp, warp.pc, 0, descriptor.start, [&] {
        return "expected the " + std::to_string(descriptor.swizzledBytes) +
               "-byte swizzle of " + operand + " to start at a multiple of " +
               std::to_string(descriptor.patternBytes()) +
               " with base offset " + std::to_string(descriptor.baseOffset) +
               ", got a matrix at " + describeHex(descriptor.start);
      });
}

//===----------------------------------------------------------------------===//
// The end of a product
//===----------------------------------------------------------------------===//

static void endReadsOf(Warp &warp, const Pieces &pieces) {
  Block &block = *warp.block;
  unsigned lane = 0;
  for (uint64_t address : pieces) {
    Toucher by = makeReader(warp, lane++ % kLanes, Touch::EndRead);
    by.thread = warpgroupAgent(warp) * kLanes;
    if (address + kPieceBytes <= block.shared.size())
      touchShared(block, address, kPieceBytes, by);
  }
}

void raytention::simt::endReads(Warp &warp, const PendingProduct &pending) {
  const Product &product = *pending.product;
  if (!product.registersOfA)
    endReadsOf(warp, piecesOfA(warp, product, pending.a));
  endReadsOf(warp, piecesOfB(product, pending.b));
}
