//===- SharedLibrary.h - libraries opened at run time -----------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_SUPPORT_SHAREDLIBRARY_H
#define RAYTENTION_RUNTIME_SUPPORT_SHAREDLIBRARY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace raytention {

/// A function of a library: its name, and its address once it is bound.
template <typename Signature> struct Symbol;
template <typename Result, typename... Args> struct Symbol<Result(Args...)> {
  const char *name;
  Result (*pointer)(Args...) = nullptr;

  Result operator()(Args... args) const { return pointer(args...); }
  explicit operator bool() const { return pointer != nullptr; }
};

/// Where a library may be, and how a user decides about it.
struct LibrarySearch {
  std::string title;                   ///< "NVRTC", in messages
  const char *pathVariable;            ///< environment: the one file to open
  std::vector<std::string> candidates; ///< names or paths, best first
  std::string where;                   ///< "on the loader's path", in messages
  std::string howToGet;                ///< end of the message if none opens
};

/// A library that stays open: those of CUDA have threads and exit handlers
/// that an unloading would pull the ground from.
class SharedLibrary {
public:
  /// Opens the file that the variable names, or else the first candidate that
  /// opens. Errors: nothing found, the named file does not open, or CUDA's
  /// libraries are hidden (RT_HIDE_CUDA is set and not 0).
  static llvm::Expected<SharedLibrary> open(const LibrarySearch &search);

  /// The address of a function, or null.
  void *find(const char *name) const;

  /// Binds `symbol`; an error names it, the library and its file.
  template <typename Signature>
  llvm::Error bind(Symbol<Signature> &symbol) const {
    bindOptional(symbol);
    return symbol ? llvm::Error::success() : missing(symbol.name);
  }

  /// Binds `symbol` where the library has it.
  template <typename Signature>
  void bindOptional(Symbol<Signature> &symbol) const {
    symbol.pointer = reinterpret_cast<Signature *>(find(symbol.name));
  }

  /// The file it was loaded from.
  const std::string &path() const { return file; }

private:
  SharedLibrary(void *handle, std::string title)
      : handle(handle), title(std::move(title)) {}
  llvm::Error missing(const char *name) const;

  void *handle;
  std::string title, file;
};

/// The value of an environment variable, "" where it is not set.
std::string environment(const char *name);

/// Paths under which `fileNames` may lie in a CUDA toolkit or among Python
/// packages, existing files only: CUDA_HOME, CUDA_PATH, /usr/local/cuda*, then
/// the site-packages of the active and of the system's Python.
/// `packageFolders` are the packages' folders below site-packages.
std::vector<std::string>
findToolkitFiles(llvm::ArrayRef<std::string> fileNames,
                 llvm::ArrayRef<std::string> packageFolders);

} // namespace raytention

#endif // RAYTENTION_RUNTIME_SUPPORT_SHAREDLIBRARY_H
