//===- Passes.td - folding onto the vocabulary --------------*- tablegen -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_PASSES_FOLD_PASSES
#define RAYTENTION_PASSES_FOLD_PASSES

include "mlir/Pass/PassBase.td"

def FoldVocabularyPass : Pass<"rt-fold-vocabulary", "::mlir::func::FuncOp"> {
  let summary = "an attention over distinct tokens instead of positions";
  let description = [{
    Keys are rows of a table, so positions of one token share a score. A loop
    over `chunk` rows at a time keeps a list of the tokens seen before the chunk,
    in order of first occurrence, with their first and last positions and how
    often, and with which decays, each counts. Both sweeps go over that list
    first, then over the chunk's own positions under the mask. Exact
    (docs/semantics.md, "Folding onto the vocabulary"); rows see min(T, U) keys
    and half a chunk instead of half of T.

    Before:
    ```mlir
    %k = rt.lookup %table[%ids]
    %d = rt.distance %q, %k
    %f, %p = rt.score_sweep [...] ins(%d, ...) at(%row, %c0) lengths(%len) outs(...)
    %rf, %rp, %s = rt.reduce_sweep [...] ins(%d, %f, ...) keys(%k) at(%row, %c0) ...
    %y, %n, %x = rt.finalize ...
    ```
    After:
    ```mlir
    %slots, %tokens, %seen = rt.distinct %ids of %vocab
    scf.for %c = %c0 to %rows step %chunk iter_args(%y, %n, %x, %at0, %of0) {
      %at, %of = rt.fold_keys [...] ins(%slots, %g) from %begin to %start lengths(%len) outs(%at0, %of0)
      %hk = rt.lookup %table[%tokens_seen]
      %hd = rt.distance %q_c, %hk
      %f0, %p0 = rt.score_sweep [...] ins(%hd, ...) positions(%at_seen) masses(%of_seen) outs(...)
      %k = rt.lookup %table[%ids_c]
      %d = rt.distance %q_c, %k
      %f, %p = rt.score_sweep [...] ins(%d, ...) at(%start, %start) lengths(%len) outs(%f0, %p0)
      ...
    }
    ```

    Errors: a finish that is not that of two sweeps over the rows of one lookup.
  }];
  let options = [Option<"chunk", "chunk", "int64_t", "0",
      "rows at a time; 0: fold_chunk of the function's rt.schedule">];
  let dependentDialects = ["::raytention::RayTentionDialect",
    "::mlir::affine::AffineDialect",
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numFolded", "folded", "attentions folded">];
}

#endif // RAYTENTION_PASSES_FOLD_PASSES
