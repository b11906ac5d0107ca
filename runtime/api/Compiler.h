//===- Compiler.h - from a spec or a text to machine code -------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_API_COMPILER_H
#define RAYTENTION_RUNTIME_API_COMPILER_H

#include "runtime/api/AttendBuilder.h"
#include "runtime/api/BackEnd.h"
#include "runtime/api/CompilerContext.h"
#include "runtime/api/KeyStatistics.h"

namespace raytention {

/// What remains of a compilation.
struct CompiledModule {
  std::unique_ptr<BackEnd> code;
  std::string scheduleText; ///< empty for the reference
  int64_t signalWidth = 0, numIndices = 0, numLogSums = 0;
  bool savesLogSums = false; ///< the forward function has them as a result
};

/// Compiles an attention, by one schedule or by several. Where a diagnostic is
/// reported, the first one is the error.
class AttentionCompiler {
public:
  static llvm::Expected<std::unique_ptr<AttentionCompiler>>
  create(const AttentionSpec &spec, const CompileOptions &options);

  /// The schedules for runs with such keys; equal ones are the same
  /// attributes.
  llvm::Expected<Schedules> chooseSchedules(const KeyStatistics &keys) const;
  /// Those for the expected number of keys, or for few.
  llvm::Expected<Schedules> chooseSchedules() const;
  llvm::Expected<CompiledModule> compile(const Schedules &schedules) const;
  /// The function @attend of a module of MLIR text.
  llvm::Expected<CompiledModule> compile(llvm::StringRef text) const;

private:
  AttentionCompiler(const AttentionSpec &spec, const CompileOptions &options)
      : spec(spec), options(options) {}

  CompilerContext compiler;
  AttentionSpec spec;
  CompileOptions options;
  mlir::ArrayAttr channels; ///< of the spec
};

} // namespace raytention

#endif // RAYTENTION_RUNTIME_API_COMPILER_H
