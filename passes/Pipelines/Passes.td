//===- Passes.td - passes that several pipelines share -----*- tablegen -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_PASSES_PIPELINES_PASSES_TD
#define RAYTENTION_PASSES_PIPELINES_PASSES_TD

include "mlir/Pass/PassBase.td"

def ExpandCopiesPass : Pass<"rt-expand-copies", "::mlir::func::FuncOp"> {
  let summary = "strided copies as loops";
  let description = [{
    Before: `memref.copy` between buffers of any layout. After: copies between
    contiguous buffers remain, to become memcpy; strided ones are loops, since
    their upstream lowering calls a library that compiled code must not need.
  }];
  let dependentDialects = [
    "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"numExpanded", "num-expanded", "strided copies expanded">];
}

def VerifyStagePass : Pass<"rt-verify-stage"> {
  let summary = "only what is legal at a stage remains";
  let description = [{
    Fails on the first op that a stage does not know, naming both. Changes
    nothing. Stages: attention, reference, linalg, sweeps, tiled, fused, cpu,
    llvm.

    Before and after, with stage=sweeps:
    ```mlir
    %f, %p = rt.score_sweep ...   // legal
    %y = rt.attend ...            // error: 'rt.attend' op is not legal at stage sweeps
    ```
  }];
  let options = [Option<"stage", "stage", "std::string", "\"\"",
    "name of the stage that the IR should be in">];
  let statistics = [Statistic<"numChecked", "checked", "ops checked">];
}

#endif // RAYTENTION_PASSES_PIPELINES_PASSES_TD
