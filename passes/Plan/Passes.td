//===- Passes.td - from tiles to kernels and their plan -*- tablegen -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_PASSES_PLAN_PASSES
#define RAYTENTION_PASSES_PLAN_PASSES

include "mlir/Pass/PassBase.td"

def BufferizePass : Pass<"rt-bufferize", "::mlir::ModuleOp"> {
  let summary = "buffers for tensors; results become arguments";
  let description = [{
    Upstream's one-shot analysis decides which tensors share a buffer. Results
    of a function become arguments behind its own; its other arguments are only
    read. New buffers that stand in no scf.forall are freed at the end of their
    block; those of a parallel loop belong to one iteration, and its target says
    where they stand. One that ends as a copy in a buffer from outside is that
    buffer from the start. Ops of rt become rt_tile.compute.

    Errors: a body of several blocks, results that are no tensors, a function on
    tensors that is called, a branch or loop that hands on a new buffer.

    Before:
    ```mlir
    func.func @attend(%q: tensor<1x?x64xf32>, ...) -> tensor<1x?x64xf32> {
      %e = tensor.empty(%n) : tensor<1x?x64xf32>
      %y = scf.forall (%i) = (0) to (%n) step (%c32) shared_outs(%o = %e) {
        ...
        %d = rt.distance %q_t, %k ...
    ```
    After:
    ```mlir
    func.func @attend(%q: memref<1x?x64xf32>, ..., %y: memref<1x?x64xf32>) {
      scf.forall (%i) = (0) to (%n) step (%c32) {
        ...
        %d = memref.alloc(%rows, %m) : memref<1x?x?xf32>
        rt_tile.compute ins(%q_t, %k : ...) outs(%d : ...) { ... rt.distance ... }
    ```
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
    "::mlir::memref::MemRefDialect",
    "::raytention::tile::RayTileDialect"];
  let statistics = [Statistic<"numFunctions", "functions",
    "functions that got buffers">];
}

def OutlineKernelsPass : Pass<"rt-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "parallel loops become kernels and their launches";
  let description = [{
    Each scf.forall on buffers that stands in no other one becomes a gpu.func of
    the module's gpu.module and a gpu.launch_func in its place: one block per
    iteration, the last dimension of the loop along x, the one before along y,
    the others counted through by z. Views and constants move
    into the kernel; other values become its arguments.

    Before:
    ```mlir
    scf.forall (%b, %i) = (0, 0) to (%B, %n) step (1, 32) { ... }
    ```
    After, with threads=128:
    ```mlir
    %tiles = arith.ceildivsi %n, %c32
    gpu.launch_func @kernels::@attend_finalize blocks in (%tiles, %B, %c1)
      threads in (%c128, %c1, %c1) args(...)
    ```
  }];
  let options = [Option<"threads", "threads", "int64_t", "0",
    "threads per block; 0: from rt.schedule of the function, else 128">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::raytention::RayTentionDialect"];
  let statistics = [Statistic<"numKernels", "kernels", "kernels made">];
}

def ExpandElementsPass
    : Pass<"rt-expand-elements", "::mlir::gpu::GPUFuncOp"> {
  let summary = "ops on tiles become element code over threads";
  let description = [{
    Each op on the buffers of a kernel becomes an scf.forall over threads, or
    several one behind the other, with the element programs of
    dialect/RayTention/elements inside: a thread has one element of a product
    or of weights, or one row of a sweep.

    Before:
    ```mlir
    rt_tile.compute ins(%q, %k : ...) outs(%d : ...) { ... rt.distance ... }
    ```
    After:
    ```mlir
    scf.forall (%b, %i, %j) in (%c1, %rows, %keys) {
      %sum = scf.for %x = %c0 to %c64 step %c1 iter_args(%s = %zero) -> (f32) {
        ...
      }
      memref.store %sum, %d[%b, %i, %j]
    } {mapping = [#gpu.thread<linear_dim_2>, ...]}
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"numExpanded", "expanded", "ops expanded">];
}

def DistributeThreadsPass
    : Pass<"rt-distribute-threads", "::mlir::gpu::GPUFuncOp"> {
  let summary = "loops over threads become strides of a block's threads";
  let description = [{
    The iterations of an scf.forall over threads are counted through, the last
    dimension fastest; thread t runs t, t + threads, ... A barrier behind each
    loop makes what it wrote visible to the block.

    Before:
    ```mlir
    scf.forall (%i, %j) in (%n, %m) { ... } {mapping = [#gpu.thread<linear_dim_1>, ...]}
    ```
    After:
    ```mlir
    %count = arith.muli %n, %m
    scf.for %x = %thread to %count step %c128 {
      %i = arith.divui %x, %m
      %j = arith.remui %x, %m
      ...
    }
    gpu.barrier
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"numLoops", "loops", "loops distributed">];
}

def PlacePass : Pass<"rt-place", "::mlir::ModuleOp"> {
  let summary = "places for the buffers in shared memory";
  let description = [{
    Each buffer of a kernel gets a constant offset in the block's dynamic shared
    memory, for the largest size that its sizes can have; buffers that are never
    needed at the same time may overlap. Launches ask for the sum.

    Before:
    ```mlir
    %d = memref.alloc(%rows, %m) : memref<1x?x?xf32>
    ```
    After:
    ```mlir
    %shared = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %d = memref.view %shared[%c4096][%rows, %m] : ... to memref<1x?x?xf32, ...>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect"];
  let statistics = [Statistic<"numPlaced", "placed", "buffers placed">];
}

def VerifyResourcesPass : Pass<"rt-verify-resources", "::mlir::ModuleOp"> {
  let summary = "whether each launch fits the target";
  let description = [{
    Checks the block size and the shared memory of each launch against limits.
  }];
  let options = [
    Option<"sharedBytes", "shared-bytes", "int64_t", "101376",
      "bytes of shared memory that a block may use">,
    Option<"maxThreads", "max-threads", "int64_t", "1024",
      "threads that a block may have">];
}

#endif // RAYTENTION_PASSES_PLAN_PASSES
