//===- Variants.h - the code of an attention by schedule --------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_API_VARIANTS_H
#define RAYTENTION_RUNTIME_API_VARIANTS_H

#include "runtime/api/Compiler.h"
#include "runtime/api/KeyStatistics.h"

namespace raytention {

/// The code of one attention, a variant for each schedule that was needed; one
/// of them is the current one.
class Variants {
public:
  /// Compiles the one for the expected number of keys.
  static llvm::Expected<Variants> compile(const AttentionSpec &spec,
                                          const CompileOptions &options);
  /// Compiles the one of a module, which serves any number of keys.
  static llvm::Expected<Variants> compile(llvm::StringRef text,
                                          const AttentionSpec &spec,
                                          const CompileOptions &options);

  /// Makes that for such keys the current one, and compiles it first where
  /// there is none. Returns the milliseconds that this took, else 0.
  llvm::Expected<double> select(const KeyStatistics &keys);

  const CompiledModule &current() const { return all[active].module; }
  int size() const { return static_cast<int>(all.size()); }
  double compileMs() const { return milliseconds; } ///< of all of them

private:
  struct Variant {
    Schedules schedules;
    CompiledModule module;
  };

  llvm::Error add(const Schedules &schedules,
                  llvm::Expected<CompiledModule> module);

  std::unique_ptr<AttentionCompiler> compiler; ///< null: there is one variant
  std::vector<Variant> all;
  size_t active = 0;
  double milliseconds = 0;
};

} // namespace raytention

#endif // RAYTENTION_RUNTIME_API_VARIANTS_H
