//===- Passes.td - what targets choose -*- tablegen -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_CODEGEN_TARGET_PASSES
#define RAYTENTION_CODEGEN_TARGET_PASSES

include "mlir/Pass/PassBase.td"

def ScheduleKernelsPass : Pass<"rt-schedule-kernels", "::mlir::func::FuncOp"> {
  let summary = "a device's schedule where a function has none";
  let description = [{
    A function with an rt.attend and without rt.schedule gets the default of a
    device for the first one: the family by the width of its rows, and tiles
    that fit a block's shared memory.

    Before:
    ```mlir
    func.func @attend(...) { rt.attend ... tensor<1x?x64xf32> ... }
    ```
    After:
    ```mlir
    func.func @attend(...) attributes {rt.schedule = #rt.schedule<query_tile = 16,
      key_chunk = 32, split_keys = 1, scores = recompute>} { ... }
    ```
  }];
  let dependentDialects = ["::raytention::RayTentionDialect"];
  let statistics = [Statistic<"numScheduled", "scheduled",
    "functions that got a schedule">];
}

#endif // RAYTENTION_CODEGEN_TARGET_PASSES
