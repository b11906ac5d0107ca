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

def IsolateSymbolsPass : Pass<"rt-isolate-symbols", "::mlir::ModuleOp"> {
  let summary = "names of a module apart from those of compiler and libraries";
  let description = [{
    Compiled code calls functions by name that the module never mentions:
    `memcpy`, `malloc`, `expf`, `rt_parallel_for`; and passes make functions
    beside a public one, `@NAME_workspace`, `@NAME_scratch`, `@NAME_entry` and
    the entries of the first two. A definition of such a name would be taken for
    theirs. So every private definition gets a name that none of them has, and
    internal linkage; public functions keep theirs, and one that collides is an
    error. With `entries` set, only those functions, and what passes made beside
    them, stay public. Declarations name functions outside of the module and
    stay as they are, except where the compiler makes a function of that name.

    Before:
    ```mlir
    func.func @f(%x: f32) -> f32 { %y = call @expf(%x) : (f32) -> f32 ... }
    func.func private @expf(%x: f32) -> f32 { ... }
    ```
    After:
    ```mlir
    func.func @f(%x: f32) -> f32 { %y = call @own.expf(%x) : (f32) -> f32 ... }
    func.func private @own.expf(%x: f32) -> f32 attributes {llvm.linkage = ...} { ... }
    ```

    Errors: a public symbol, or a declaration, of a name that the compiler
    makes; a public definition of a library's name; names that begin with
    `llvm.`; data without a value.
  }];
  let options = [ListOption<"entries", "entries", "std::string",
    "names of the functions that are called from outside; none: all public">];
  let statistics = [
    Statistic<"numRenamed", "num-renamed", "definitions renamed">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def VerifyStagePass : Pass<"rt-verify-stage"> {
  let summary = "only what is legal at a stage remains";
  let description = [{
    Fails on the first op that a stage does not know, naming both. Changes
    nothing. Stages: attention, reference, linalg, sweeps, products, tiled, cpu,
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
