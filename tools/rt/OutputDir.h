//===- OutputDir.h - a folder written whole or not at all -------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TOOLS_RT_OUTPUTDIR_H
#define RAYTENTION_TOOLS_RT_OUTPUTDIR_H

#include "tools/rt/Npy.h"

#include "llvm/Support/raw_ostream.h"

#include <functional>

namespace raytention::tool {

/// Writes files into a folder beside `path` and renames it when complete.
/// Unless commit() succeeded nothing is left behind, after a signal or a crash
/// either (PendingFolder). One may be open at a time.
class OutputDir {
public:
  /// Opens the temporary folder. Fails where commit() would, as far as can be
  /// known: if `path` is no folder, or one that holds anything but the files
  /// this class is told of, or one that cannot be replaced, or if its parent
  /// cannot be written. `names`: the files that may be written, or be replaced
  /// in an existing folder.
  static llvm::Expected<std::unique_ptr<OutputDir>>
  create(llvm::StringRef path, llvm::ArrayRef<llvm::StringRef> names);
  ~OutputDir();
  OutputDir(const OutputDir &) = delete;
  OutputDir &operator=(const OutputDir &) = delete;

  /// Whether files of these sizes, in bytes, fit the disk and the limits of
  /// this process.
  llvm::Error checkRoom(llvm::ArrayRef<uint64_t> files) const;

  /// Writes the array `name`; `body` puts its elements after the header.
  llvm::Error writeNpy(llvm::StringRef name, NpyType type,
                       llvm::ArrayRef<int64_t> shape,
                       const std::function<void(llvm::raw_ostream &)> &body);

  /// Moves the folder to its place, atomically; an older one is replaced.
  llvm::Error commit();

  llvm::StringRef temporaryPath() const { return temporary; }

private:
  OutputDir(std::string path, std::string temporary);

  std::string path, temporary;
  bool committed = false;
};

} // namespace raytention::tool

#endif // RAYTENTION_TOOLS_RT_OUTPUTDIR_H
