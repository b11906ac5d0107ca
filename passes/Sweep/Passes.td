//===- Passes.td - from an attention to sweeps over its keys --*- tablegen -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_PASSES_SWEEP_PASSES
#define RAYTENTION_PASSES_SWEEP_PASSES

include "mlir/Pass/PassBase.td"

def ToSweepsPass : Pass<"rt-to-sweeps", "::mlir::func::FuncOp"> {
  let summary = "rt.attend as two sweeps over the keys and a finish";
  let description = [{
    Stage 0 to stage 2. The sweeps stand on whole tensors; nothing is tiled yet,
    and the list of the sweeps names each distinct channel once.

    Before:
    ```mlir
    %y, %n = rt.attend [#rt.centroid, #rt.entropy] queries(%q) lookup(%table[%ids])
      tau(%tau) gammas(%g) offset(%off) lengths(%len) {saves = [#rt.saved<norm>]}
    ```
    After:
    ```mlir
    %k = rt.lookup %table[%ids]
    %d = rt.distance %q, %k
    %f0, %p0 = rt.init <score> [...] (%B, %Tq)
    %f, %p = rt.score_sweep [...] ins(%d, %tau, %g) at(%off, %c0) lengths(%len) outs(%f0, %p0)
    %rf0, %rp0 = rt.init <reduce> [...] (%B, %Tq)
    %s0 = linalg.fill ins(%zero) outs(tensor.empty)
    %rf, %rp, %s = rt.reduce_sweep [...] ins(%d, %f, %tau, %g) keys(%k)
      at(%off, %c0) lengths(%len) outs(%rf0, %rp0) sums(%s0)
    %y, %n, %x = rt.finalize [...] of [...] score(%f, %p) reduce(%rf, %rp, %s) ...
    ```

    A gradient becomes one sweep over the keys and one over the queries, of the
    same distances:
    ```mlir
    %dq, %dt, %dtau, %dg = rt.attend_grad [...] ... saved(%y, %n, %x, %l) gradient(%dy)
    ```
    After:
    ```mlir
    %rows, %stack = rt.grad_rows [...] (%y, %n, %l, %dy) ...
    %f, %s = rt.query_grad_sweep [...] ins(%d, %rows, %stack, %k) ... outs(%f0, %s0)
    %dq, %parts = rt.query_grad [...] (%f, %s, %rows) ...
    %dtau, %dg = rt.parameter_grad %parts
    %ks = rt.key_grad_sweep [...] ins(%d, %rows, %stack, %q) copies(%y, %dy, %x) ...
    %dk = rt.key_grad [...] (%ks) ...
    %dt = rt.scatter_add %dk into %zeros[%ids]
    ```
  }];
  let dependentDialects = ["::raytention::RayTentionDialect",
    "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numAttentions", "attentions", "attentions turned into sweeps">,
    Statistic<"numGradients", "gradients", "gradients turned into sweeps">,
    Statistic<"numShared", "shared-channels", "channels that share a sweep's state with an equal one">];
}

#endif // RAYTENTION_PASSES_SWEEP_PASSES
