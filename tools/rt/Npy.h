//===- Npy.h - arrays in .npy files -----------------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of the format that `rt` takes: versions 1.0 to 3.0, little-endian
// floats and signed integers of 4 and 8 bytes, C order. A file may hold any
// bytes: every length is checked before it is used.
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TOOLS_RT_NPY_H
#define RAYTENTION_TOOLS_RT_NPY_H

#include "tools/rt/InputFile.h"
#include "llvm/ADT/ArrayRef.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>

namespace raytention::tool {

enum class NpyType { F4, F8, I4, I8 };

/// "<f4", "<f8", "<i4" or "<i8".
llvm::StringRef npyTypeName(NpyType type);
inline int64_t npyItemSize(NpyType type) {
  return type == NpyType::F4 || type == NpyType::I4 ? 4 : 8;
}
inline bool isFloat(NpyType type) {
  return type == NpyType::F4 || type == NpyType::F8;
}

/// One array.
class NpyArray {
public:
  NpyType type = NpyType::F4;
  llvm::SmallVector<int64_t, 4> shape;

  int64_t size() const; ///< number of elements
  /// Element `index` of an array of floats, or of integers.
  double floatAt(int64_t index) const;
  int64_t intAt(int64_t index) const;
  const char *bytes() const { return buffer->getBufferStart(); }

private:
  friend llvm::Expected<NpyArray> parseNpy(InputFile &file,
                                           llvm::StringRef name);
  std::unique_ptr<llvm::MemoryBuffer> buffer;
};

/// Reads an array that is all of the file; `name` is used in messages. No more
/// is read, and no memory taken, than the header asks for and the file has.
llvm::Expected<NpyArray> parseNpy(InputFile &file, llvm::StringRef name);

/// Reads an array of floats (or of ints) of rank `rank`. If `optionalBatch`, an
/// array of rank - 1 gets a leading dimension of 1. Errors name the file, what
/// was expected and what was got.
llvm::Expected<NpyArray> readNpy(llvm::StringRef path, bool floats,
                                 unsigned rank, bool optionalBatch);

/// The header (version 1.0, padded to 64 bytes) of an array.
std::string npyHeader(NpyType type, llvm::ArrayRef<int64_t> shape);

/// "[2, 3, 4]", as messages and reports show shapes.
std::string shapeText(llvm::ArrayRef<int64_t> shape);

} // namespace raytention::tool

#endif // RAYTENTION_TOOLS_RT_NPY_H
