//===- MatrixDescriptor.h - where a product finds its operands -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_DEVICE_SIMT_MATRIXDESCRIPTOR_H
#define RAYTENTION_RUNTIME_DEVICE_SIMT_MATRIXDESCRIPTOR_H

#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace raytention::simt {

/// The 64-bit descriptor of a matrix in shared memory. Memory is read in
/// pieces of 16 bytes; eight of them are a core matrix.
struct MatrixDescriptor {
  explicit MatrixDescriptor(uint64_t bits);

  uint32_t start = 0;         ///< bytes
  uint32_t leading = 0;       ///< bytes, by the layout: see pieces()
  uint32_t stride = 0;        ///< bytes, by the layout
  uint32_t baseOffset = 0;    ///< rows of 128 bytes
  uint32_t swizzledBytes = 0; ///< 128, 64 or 32; 0: not swizzled
  uint64_t reserved = 0;      ///< bits that must be zero

  /// Bytes after which the swizzle repeats.
  uint32_t patternBytes() const { return 8 * swizzledBytes; }
  /// Whether the pattern starts where the base offset says.
  bool isAligned() const;
  /// The address after the swizzle.
  uint64_t swizzle(uint64_t address) const;

  /// Addresses of the pieces of rows [first, first + count) of M or N and of
  /// all of K. Where K lies together (`byRow`): two for each row; else for
  /// each of the 16 columns of K, count / 8.
  void pieces(bool byRow, unsigned first, unsigned count,
              llvm::SmallVectorImpl<uint64_t> &addresses) const;

private:
  uint64_t pieceOfRow(unsigned row, unsigned piece) const;
  uint64_t pieceOfColumn(unsigned column, unsigned piece) const;
};

} // namespace raytention::simt

#endif // RAYTENTION_RUNTIME_DEVICE_SIMT_MATRIXDESCRIPTOR_H
