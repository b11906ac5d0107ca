//===- Passes.td - bufferised IR to symbols the JIT calls --*- tablegen -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_CODEGEN_LLVMCPU_PASSES_TD
#define RAYTENTION_CODEGEN_LLVMCPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def OutlineTasksPass : Pass<"rt-outline-tasks", "::mlir::ModuleOp"> {
  let summary = "parallel loops become tasks that a worker pool runs";
  let description = [{
    Every outermost `scf.forall` without results in a function becomes a private
    task function and a call of `@rt_parallel_for`. A task knows its linear
    index: the last loop counts down and varies slowest, the first varies
    fastest, so that under a causal mask the expensive last rows of all batch
    entries start first. Values from outside travel through an array of pointers
    to their LLVM forms; constants are cloned. Allocations in the body become
    slices of the worker's workspace, at multiples of 64 bytes, and a function
    `@NAME_workspace` computes the bytes that one worker needs from the same
    arguments. Inner `scf.forall` become sequential loops.

    Before:
    ```mlir
    func.func @f(%m: memref<?x?xf32>, %n: index) {
      scf.forall (%b, %i) in (%nb, %nt) {
        %s = memref.alloc(%n) : memref<?xf32>
        ...
        memref.dealloc %s : memref<?xf32>
      }
      return
    }
    ```
    After:
    ```mlir
    func.func @f(%m: memref<?x?xf32>, %n: index) {
      ...
      call @rt_parallel_for(%task0, %tasks, %bytes, %args)
        : (!llvm.ptr, i64, i64, !llvm.ptr) -> ()
      return
    }
    func.func @f_workspace(%m: memref<?x?xf32>, %n: index) -> i64 { ... }
    func.func private @f_task0(%args: !llvm.ptr, %task: i64, %workspace: !llvm.ptr) {
      ...
      %s = memref.view %buffer[%offset][%n] : memref<?xi8> to memref<?xf32>
      ...
    }
    ```

    Errors: an allocation whose size is not known before the loop, that leaves
    its block, has a layout or memory space, or asks for more than 64 bytes of
    alignment; a loop whose workspace does not follow from the arguments;
    another symbol @NAME_workspace.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"numTasks", "tasks", "Task functions made">,
    Statistic<"numCaptures", "captures", "Values handed to tasks">,
    Statistic<"numSlices", "slices", "Allocations placed in the workspace">];
}

def CpuEntryPass : Pass<"rt-cpu-entry", "::mlir::ModuleOp"> {
  let summary = "entry points with one array of pointers as argument";
  let description = [{
    Adds an entry to every public function without results and to every public
    function with one i64 as result (`@NAME_workspace`). `args[i]` points to the
    LLVM form of argument i: a memref's descriptor, an i64 for an index.

    Before:
    ```mlir
    func.func @f(%m: memref<?xf32>, %n: index) { ... }
    ```
    After, in addition:
    ```mlir
    func.func @f_entry(%args: !llvm.ptr) {
      %p0 = llvm.load %args : !llvm.ptr -> !llvm.ptr
      %v0 = llvm.load %p0 : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
      ...
      call @f(%m, %n) : (memref<?xf32>, index) -> ()
      return
    }
    ```

    Errors: an argument that is still a tensor; another symbol @NAME_entry.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect"];
  let statistics = [Statistic<"numEntries", "entries", "Entry points made">];
}

def CollectScratchPass : Pass<"rt-collect-scratch", "::mlir::ModuleOp"> {
  let summary = "what passes between parallel loops, in one argument";
  let description = [{
    Buffers that a public function allocates become slices of one more argument,
    bytes that the caller brings, at multiples of 64 bytes; a function
    `@NAME_scratch` computes how many from the other arguments. Compiled code
    then allocates nothing.

    Before:
    ```mlir
    func.func @f(%m: memref<?x?xf32>, %n: index) {
      %s = memref.alloc(%n) : memref<?xf32>
      scf.forall (%i) in (%n) { ... }
      scf.forall (%i) in (%n) { ... }
      memref.dealloc %s : memref<?xf32>
      return
    }
    ```
    After:
    ```mlir
    func.func @f(%m: memref<?x?xf32>, %n: index, %scratch: memref<?xi8>) {
      %s = memref.view %scratch[%c0][%n] : memref<?xi8> to memref<?xf32>
      ...
    }
    func.func @f_scratch(%m: memref<?x?xf32>, %n: index) -> i64 { ... }
    ```

    Errors: a size that does not follow from the arguments; another symbol
    @NAME_scratch.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::memref::MemRefDialect"];
  let statistics = [Statistic<"numSlices", "num-slices",
    "buffers that became slices">];
}

def LowerToCpuPass : Pass<"rt-lower-to-cpu", "::mlir::ModuleOp"> {
  let summary = "the tiled stage to loops on packed panels and vectors";
  let description = [{
    Lowers the parallel loops of functions on buffers (--rt-bufferize of the
    tiled stage) to loops on task-local memory. Here the CPU's choices begin:
    scores stand transposed with a query per vector lane, queries and keys are
    packed in panels, products run in register tiles of explicit multiply-adds.

    Before:
    ```mlir
    scf.forall (%b, %i) = (0, 0) to (%B, %Tq) step (1, 32) {
      %k = memref.alloc(%n) : memref<1x?x64xf32>
      rt_tile.compute ins(%table, %ids_t : ...) outs(%k : ...) { ... rt.lookup ... }
      ...
    }
    ```
    After:
    ```mlir
    scf.forall (%b, %i) = (0, 0) to (%B, %Tq) step (1, 32) {
      %keys = memref.alloc() : memref<4x192x16xf32>
      ... scf.for, vector.load, math.fma, ...
    }
    ```

    Errors: an op that the tiled stage does not hold, a tile or chunk without a
    constant bound.
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "int64_t", /*default=*/"0",
           "Width of a vector register in bits; 0 is this machine's.">];
  let statistics = [
    Statistic<"numFunctions", "num-functions", "Functions lowered">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

def ExpandMathPass : Pass<"rt-expand-math"> {
  let summary = "exp and log as range reductions and polynomials";
  let description = [{
    `math.exp` and `math.log` of f32 and f64, scalars and vectors, become
    arithmetic: no call remains, and what a call costs per lane is saved. A
    result of exp that would be subnormal is exactly 0. Both stay within a few
    units in the last place; log expects a positive normal argument.

    Before:
    ```mlir
    %y = math.exp %x : vector<8xf32>
    ```
    After:
    ```mlir
    %n = math.roundeven ... ; math.fma ... ; arith.bitcast ...
    ```
  }];
  let statistics = [
    Statistic<"numExpanded", "num-expanded", "Ops expanded">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect"];
}

#endif // RAYTENTION_CODEGEN_LLVMCPU_PASSES_TD
