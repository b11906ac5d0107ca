//===- Compiler.h - CUDA C++ to PTX or machine code -------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_NVRTC_COMPILER_H
#define RAYTENTION_RUNTIME_NVRTC_COMPILER_H

#include "runtime/nvrtc/CompileLog.h"

#include "llvm/ADT/ArrayRef.h"

#include <map>
#include <memory>

namespace raytention::nvrtc {

struct Api;

/// A header that exists in memory only: `#include "name"` finds it.
struct Header {
  std::string name, text;
};

/// CUDA C++ and how it is compiled.
struct Source {
  std::string name = "kernel.cu"; ///< in messages and line tables
  std::string text;
  std::vector<Header> headers;
  std::vector<std::string> options; ///< as NVRTC spells them
  /// Kernels to instantiate and look up: "scale<float>", "&raytention::sum".
  std::vector<std::string> nameExpressions;
  bool lineInfo = false; ///< a line table, so that findings have a CUDA line
  /// For sm_XX: fail where the assembler reports a hazard, or spills registers.
  bool failOnHazards = false, failOnSpills = false;
};

/// What one architecture gave. `kernels` and `hazards` are known for sm_XX
/// only: compute_XX never runs the assembler, so it does not see wrong inline
/// PTX either.
struct Compiled {
  std::string arch;
  std::string ptx;         ///< text; made for sm_XX too
  std::vector<char> cubin; ///< empty for compute_XX
  std::string log;
  std::vector<KernelResources> kernels;
  std::vector<std::string> hazards;
  /// Name expression to the name of its kernel.
  std::map<std::string, std::string> loweredNames;
  double milliseconds = 0;
};

struct Version {
  int major = 0, minor = 0;
};

/// An open NVRTC. Safe to use from several threads at once.
class Compiler {
public:
  /// Opens NVRTC: the file RT_NVRTC names, or else the first found on the
  /// loader's path, in a CUDA toolkit, among Python packages. Errors say what
  /// to install, or which function the library lacks.
  static llvm::Expected<std::shared_ptr<Compiler>> open();

  const std::string &path() const { return file; }
  Version version() const { return number; }
  /// Numbers of the architectures it knows: 80 for sm_80, rising.
  llvm::ArrayRef<int> architectures() const { return archs; }

  /// Compiles for `arch`: "compute_80" gives PTX, "sm_90a" machine code. An
  /// error holds the compiler's log.
  llvm::Expected<Compiled> compile(const Source &source,
                                   llvm::StringRef arch) const;

  /// Compiles for each of `wanted`, on `threads` threads (0: all cores). The
  /// results stand in that order; the errors of all that failed are joined.
  llvm::Expected<std::vector<Compiled>>
  compileAll(const Source &source, llvm::ArrayRef<std::string> wanted,
             int threads = 0) const;

  ~Compiler();

private:
  Compiler();
  llvm::Error readVersion();
  llvm::Error checkArchitecture(llvm::StringRef arch) const;

  std::unique_ptr<Api> api;
  std::string file;
  Version number;
  std::vector<int> archs;
};

} // namespace raytention::nvrtc

#endif // RAYTENTION_RUNTIME_NVRTC_COMPILER_H
