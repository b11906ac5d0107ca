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
    The chunk must have a constant bound, which is what the stacked weights
    take: sweeps over all keys are an error.

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

#endif // RAYTENTION_PASSES_FUSE_PASSES
