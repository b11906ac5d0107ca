//===- Passes.td - fusing the work of a chunk --------------*- tablegen -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_PASSES_FUSE_PASSES
#define RAYTENTION_PASSES_FUSE_PASSES

include "mlir/Pass/PassBase.td"

def FuseChannelsPass : Pass<"rt-fuse-channels", "::mlir::func::FuncOp"> {
  let summary = "one matrix product per chunk for all weighted channels";
  let description = [{
    Where a reduce sweep adds to weighted sums, the weights of all C weighted
    channels are stacked and multiplied with the chunk's keys once. What is left
    of the sweep updates the scalar state, and is dropped where there is none.
    Sweeps over all keys are split alike, for loops that come later (family
    stored); the CPU then refuses weights of keys without a constant bound.

    Before:
    ```mlir
    %rf1, %rp1, %s1 = rt.reduce_sweep [...] ins(%d, %f, %tau, %g) keys(%k)
      at(%row, %j) outs(%rf, %rp) sums(%s)
    ```
    After:
    ```mlir
    %w = rt.weigh [...] ins(%d, %f, %tau, %g) at(%row, %j) -> tensor<1xCx?x?xf32>
    %s1 = linalg.contract indexing_maps = [(b,c,i,d,j) -> (b,c,i,j),
        (b,c,i,d,j) -> (b,j,d), (b,c,i,d,j) -> (b,c,i,d)]
      ins(%w, %k) outs(%s)
    %rf1, %rp1 = rt.reduce_sweep [...] ins(%d, %f, %tau, %g) at(%row, %j) outs(%rf, %rp)
    ```
  }];
  let dependentDialects = ["::raytention::RayTentionDialect",
    "::mlir::linalg::LinalgDialect"];
  let statistics = [
    Statistic<"numFused", "fused", "reduce sweeps turned into matrix products">,
    Statistic<"numStacked", "stacked", "weighted channels served by them">,
    Statistic<"numDropped", "dropped", "reduce sweeps left without state">];
}

def FuseGradientPass : Pass<"rt-fuse-gradient", "::mlir::func::FuncOp"> {
  let summary = "one body per chunk of a gradient: products and weights";
  let description = [{
    A gradient's sweep over a chunk becomes one product of the stacked gradients
    of all weighted channels with the chunk's keys, the weights and coefficients
    of its pairs, and what adds them up: coefficients times differences of queries
    and keys, for the key side after a product of the weights with the stack.
    Copies add theirs last. The two sweeps stand apart: run it after
    --rt-chunk-keys and --rt-tile-keys.

    Before:
    ```mlir
    %s = rt.key_grad_sweep [...] ins(%d, %rows, %stack, %q) copies(%y, %dy, %x) ...
    ```
    After:
    ```mlir
    %g = linalg.contract ins(%stack, %k) outs(%zeros)
    %w, %c = rt.weigh_grad <key> [...] ins(%d, %rows, %g) ...
    %s1 = linalg.contract ins(%w, %stack) outs(%s0)
    %s2 = rt.sum_differences <key> (%c, %q, %k) near(%d) outs(%s1)
    %s = rt.copy_grad [...] (%rows, %y, %dy, %x) at(%j) outs(%s2)
    ```
  }];
  let dependentDialects = ["::raytention::RayTentionDialect",
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numFused", "fused", "sweeps fused">];
}

#endif // RAYTENTION_PASSES_FUSE_PASSES
