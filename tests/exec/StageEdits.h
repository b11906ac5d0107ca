//===- StageEdits.h - edits of a stage, and what they mean ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TESTS_EXEC_STAGEEDITS_H
#define RAYTENTION_TESTS_EXEC_STAGEEDITS_H

#include "tests/exec/EditProblem.h"

#include <optional>

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace raytention::test {

/// What an edit becomes on a target.
struct Outcome {
  enum Kind { Computed, Refused, Faults, Absent } kind;
  std::string text; ///< part of the one line; why there is no such edit
};
inline Outcome computed() { return {Outcome::Computed, ""}; }
inline Outcome refused(const char *part) { return {Outcome::Refused, part}; }
/// Compiled; the run says in one line what happened.
inline Outcome faults(const char *part) { return {Outcome::Faults, part}; }
inline Outcome absent(const char *why) { return {Outcome::Absent, why}; }

struct StageEdit {
  const char *name;
  std::vector<std::string> channels;
  bool isShort; ///< 8 keys
  void (*change)(mlir::ModuleOp);
  /// What the edited stage means, computed from changed inputs.
  EditResult (*meaning)(EditProblem &);
  Outcome cpu, fused, stored;
  const char *stage = "tiled"; ///< that is edited
  /// Of the CPU's family stored, where it is not that of `cpu`.
  std::optional<Outcome> cpuStored = std::nullopt;
  bool isTypical = false;
};

/// One of each kind of edit, for the plain run.
inline StageEdit typical(StageEdit edit) {
  edit.isTypical = true;
  return edit;
}

/// Edits of a plan.
std::vector<StageEdit> getPlanEdits();
/// Edits of a function with an attention, which becomes one with two.
std::vector<StageEdit> getAttentionEdits();
/// Edits of kernels on tiles in buffers.
std::vector<StageEdit> getKernelEdits();
/// Edits on tensors, in tiles and before there are any.
std::vector<StageEdit> getSliceEdits(); ///< what is sliced and inserted where
std::vector<StageEdit> getValueEdits(); ///< which value is read
std::vector<StageEdit> getLoopEdits();  ///< loops, branches and functions

/// Adds edits of the stage "products", where ops are on whole tensors.
void addWhole(std::vector<StageEdit> &edits, std::vector<StageEdit> whole);

} // namespace raytention::test

#endif // RAYTENTION_TESTS_EXEC_STAGEEDITS_H
