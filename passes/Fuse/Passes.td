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
  let summary = "one matrix product for all weighted channels";
  let description = [{
    Where a reduce sweep adds to weighted sums, the weights of all C weighted
    channels are stacked and multiplied with the keys once. What is left of the
    sweep updates the scalar state, and is dropped where there is none. No loops
    yet: a schedule places the products in loops of its own.

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
  let summary = "a gradient's products, once for both sides";
  let description = [{
    A gradient's sweeps become one product of the stacked gradients of all
    weighted channels with the keys, the weights and coefficients of the pairs,
    and what adds them up: coefficients times differences of queries and keys, for
    the key side after a product of the weights with the stack. Copies add theirs
    last. Both sides read the same pairs; whether they are stored or computed
    again is a schedule's.

    Before:
    ```mlir
    %f, %s = rt.query_grad_sweep [...] ins(%d, %rows, %stack, %k) ...
    %t = rt.key_grad_sweep [...] ins(%d, %rows, %stack, %q) copies(%y, %dy, %x) ...
    ```
    After:
    ```mlir
    %g = linalg.contract ins(%stack, %k) outs(%zeros)
    %w, %c, %f = rt.weigh_grad [...] ins(%d, %rows, %g) ... outs(%f0)
    %s = rt.sum_differences <query> (%c, %q, %k) near(%d) outs(%s0)
    %t1 = linalg.contract ins(%w, %stack) outs(%t0)
    %t2 = rt.sum_differences <key> (%c, %q, %k) near(%d) outs(%t1)
    %t = rt.copy_grad [...] (%rows, %y, %dy, %x) at(%c0) outs(%t2)
    ```
  }];
  let dependentDialects = ["::raytention::RayTentionDialect",
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numFused", "fused", "sweeps fused">];
}

#endif // RAYTENTION_PASSES_FUSE_PASSES
