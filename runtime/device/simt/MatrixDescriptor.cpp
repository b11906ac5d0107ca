//===- MatrixDescriptor.cpp - where a product finds its operands -*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/MatrixDescriptor.h"

using namespace raytention::simt;

static constexpr unsigned kPieceBytes = 16;
/// Two pieces of each row, or this many columns of 16-bit elements.
static constexpr unsigned kColumns = 16;

static uint32_t bitsAt(uint64_t bits, unsigned first, unsigned count) {
  return bits >> first & ((uint64_t(1) << count) - 1);
}

MatrixDescriptor::MatrixDescriptor(uint64_t bits) {
  static constexpr uint32_t widths[] = {0, 128, 64, 32};
  start = bitsAt(bits, 0, 14) * kPieceBytes;
  leading = bitsAt(bits, 16, 14) * kPieceBytes;
  stride = bitsAt(bits, 32, 14) * kPieceBytes;
  baseOffset = bitsAt(bits, 49, 3);
  swizzledBytes = widths[bitsAt(bits, 62, 2)];
  constexpr uint64_t two = 3, three = 7, ten = 0x3FF;
  reserved = bits & (two << 14 | two << 30 | three << 46 | ten << 52);
}

bool MatrixDescriptor::isAligned() const {
  if (!swizzledBytes)
    return true;
  // What is left within a row of the pattern is an advance along it.
  uint32_t rows = (start - baseOffset * 128) & (patternBytes() - 1);
  return rows < swizzledBytes;
}

uint64_t MatrixDescriptor::swizzle(uint64_t address) const {
  if (!swizzledBytes)
    return address;
  uint64_t phase =
      (address / 128 - baseOffset) & (swizzledBytes / kPieceBytes - 1);
  return address ^ phase * kPieceBytes;
}

/// Eight rows of 16 bytes, or of as many as are swizzled, follow one another;
/// the next eight are `stride` away. Without a swizzle the second half of K is
/// `leading` away.
uint64_t MatrixDescriptor::pieceOfRow(unsigned row, unsigned piece) const {
  uint64_t rowBytes = swizzledBytes ? swizzledBytes : kPieceBytes;
  uint64_t next = swizzledBytes ? kPieceBytes : leading;
  return start + row % 8 * rowBytes + uint64_t(row / 8) * stride + piece * next;
}

/// Eight columns of 16 bytes, or of as many as are swizzled, follow one
/// another. The next eight and the next rows are `stride` and `leading` away,
/// without a swizzle the other way round.
uint64_t MatrixDescriptor::pieceOfColumn(unsigned column,
                                         unsigned piece) const {
  uint64_t pieces = swizzledBytes ? swizzledBytes / kPieceBytes : 1;
  uint64_t nextColumns = swizzledBytes ? stride : leading;
  uint64_t nextRows = swizzledBytes ? leading : stride;
  return start + column % 8 * pieces * kPieceBytes + column / 8 * nextColumns +
         piece % pieces * kPieceBytes + piece / pieces * nextRows;
}

void MatrixDescriptor::pieces(
    bool byRow, unsigned first, unsigned count,
    llvm::SmallVectorImpl<uint64_t> &addresses) const {
  if (byRow) {
    for (unsigned row = first; row < first + count; ++row)
      for (unsigned piece = 0; piece < 2; ++piece)
        addresses.push_back(swizzle(pieceOfRow(row, piece)));
    return;
  }
  for (unsigned column = 0; column < kColumns; ++column)
    for (unsigned piece = first / 8; piece < (first + count) / 8; ++piece)
      addresses.push_back(swizzle(pieceOfColumn(column, piece)));
}
