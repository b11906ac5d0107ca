//===- InputFile.h - files that are read ------------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TOOLS_RT_INPUTFILE_H
#define RAYTENTION_TOOLS_RT_INPUTFILE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdint>
#include <optional>
#include <string>

namespace raytention::tool {

/// A file, pipe or device, read from its beginning. Errors name it by `name`,
/// say that it should be a `kind`, and are the user's (exit code 2). It is
/// read, not mapped: a file that is cut meanwhile ends early.
class InputFile {
public:
  static llvm::Expected<InputFile> open(llvm::StringRef path,
                                        llvm::StringRef name,
                                        llvm::StringRef kind = "file");
  InputFile(InputFile &&other);
  ~InputFile();

  /// Reads as many bytes as fit; fewer are returned at the end only.
  llvm::Expected<size_t> read(llvm::MutableArrayRef<char> to);

  /// Bytes that were read.
  uint64_t position() const { return done; }
  /// Bytes of a regular file when it was opened; none where that is unknown.
  std::optional<uint64_t> size() const { return known; }

private:
  InputFile(int file, llvm::StringRef name, llvm::StringRef kind)
      : file(file), name(name), kind(kind) {}
  llvm::Error unreadable(const std::string &reason) const;

  int file;
  std::optional<uint64_t> known;
  uint64_t done = 0;
  std::string name, kind;
};

/// All of a file of at most `limit` bytes, followed by a null character; what
/// never ends is refused too.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readWhole(llvm::StringRef path, llvm::StringRef name, uint64_t limit);

} // namespace raytention::tool

#endif // RAYTENTION_TOOLS_RT_INPUTFILE_H
