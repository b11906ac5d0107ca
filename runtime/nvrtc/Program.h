//===- Program.h - one compilation by NVRTC ---------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_NVRTC_PROGRAM_H
#define RAYTENTION_RUNTIME_NVRTC_PROGRAM_H

#include "runtime/nvrtc/Api.h"
#include "runtime/nvrtc/Compiler.h"

namespace raytention::nvrtc {

/// An NVRTC program, destroyed with it.
class Program {
public:
  static llvm::Expected<Program> create(const Api &api, const Source &source);
  Program(Program &&other);
  Program(const Program &) = delete;
  ~Program();

  /// Compiles; an error holds the log.
  llvm::Error compile(llvm::StringRef arch) const;

  llvm::Expected<std::string> log() const;
  llvm::Expected<std::string> ptx() const;
  llvm::Expected<std::vector<char>> cubin() const;
  llvm::Expected<std::string> loweredName(const std::string &expression) const;

private:
  Program(const Api &api, const Source &source) : api(api), source(source) {}

  const Api &api;
  const Source &source;
  void *handle = nullptr;
};

} // namespace raytention::nvrtc

#endif // RAYTENTION_RUNTIME_NVRTC_PROGRAM_H
