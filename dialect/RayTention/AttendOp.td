//===- AttendOp.td - the attention itself ------*- tablegen -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_ATTENDOP_TD
#define RAYTENTION_ATTENDOP_TD

include "RayTentionAttributes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def RT_AttendOp : RT_Op<"attend", [Pure, AttrSizedOperandSegments]> {
  let summary = "RayTention: every channel of every query, normalised";
  let description = [{
    For queries `q [B, Tq, D]`, a table `[V, D]` and ids `[B, T]`, with
    `k_j = table[ids_j]` and the row `i` standing at position `i + offset`:

        z_ij = -metric(q_i, k_j) / max(tau, 0.01)      over visible keys j
        w_ij = exp(z_ij - log sum_j exp(z_ij))
        x_i  = the channels, concatenated;  y_i = x_i / max(||x_i||, 1e-10)

    Results: `y [B, Tq, S]`, then the saved per-row values in the order of
    `saves`: `norm` is `||x_i||` `[B, Tq]`, `indices` the position of the key
    that each copying channel chose, i32 `[B, Tq, copies]`, `log_sums` what
    gradients need of the row's sums, `[B, Tq, L]`: the largest z and the log of
    `sum_j exp(z_ij - max)`, the same pair of each channel that normalises by a
    sum of its own, and what channels add. A sequence shorter
    than T is said by `lengths`; rows beyond it are zero.

    Constraints:
    * C1: queries are `[B, Tq, D]` with static D >= 1, of f32, f64 or bf16.
    * C2: table is `[V, D]` of the element type of the queries.
    * C3: ids are `[B, T]` of i32 or i64.
    * C4: tau is a 0-d tensor and gammas a 1-d tensor of static size, of the
      accumulator type: f64 for f64, else f32.
    * C5: at least one channel, each a channel attribute.
    * C6: each channel fits: its gamma exists, its rank is positive.
    * C7: the signals are `[B, Tq, S]` of the accumulator type, S the sum of
      the channels' widths.
    * C8: one saved result per entry of `saves`, none twice, of its shape.
    * C9: lengths are `[B]` of i64.
    * C10: static sizes of B, Tq, D agree between operands and results; an
      error bears the number of the operand or result that disagrees.
    * C11 (not supported yet, by name): queries `[B, Tq, Hq, D]`, direct keys,
      values, a sink, a score epilogue, a mask other than causal, metric dot,
      a static size of 0.

    Example:
    ```mlir
    %y = rt.attend [#rt.centroid, #rt.decay<backward, 0>, #rt.entropy]
      queries(%q : tensor<1x?x64xf32>)
      lookup(%table[%ids] : tensor<?x64xf32>, tensor<1x?xi32>)
      tau(%tau : tensor<f32>) gammas(%gammas : tensor<1xf32>)
      -> tensor<1x?x129xf32>
    ```
  }];
  let arguments = (ins
    AnyRankedTensor:$queries,
    Optional<AnyRankedTensor>:$table, Optional<AnyRankedTensor>:$ids,
    Optional<AnyRankedTensor>:$keys, Optional<AnyRankedTensor>:$values,
    AnyRankedTensor:$tau, AnyRankedTensor:$gammas,
    Optional<Index>:$query_offset, Optional<AnyRankedTensor>:$lengths,
    Optional<AnyRankedTensor>:$sink,
    ArrayAttr:$channels,
    DefaultValuedAttr<RT_MetricAttr, "Metric::SqL2">:$metric,
    DefaultValuedAttr<RT_DecayOriginAttr, "DecayOrigin::SequenceEnd">:$decay_origin,
    DefaultValuedAttr<RT_PrecisionAttr, "Precision::Fast">:$precision,
    OptionalAttr<AnyAttr>:$mask, OptionalAttr<ArrayAttr>:$epilogue,
    OptionalAttr<ArrayAttr>:$saves);
  let results = (outs AnyRankedTensor:$signals, Variadic<AnyRankedTensor>:$saved);
  let assemblyFormat = [{
    $channels `queries` `(` $queries `:` type($queries) `)`
    (`lookup` `(` $table^ `[` $ids `]` `:` type($table) `,` type($ids) `)`)?
    (`keys` `(` $keys^ `:` type($keys) `)`)?
    (`values` `(` $values^ `:` type($values) `)`)?
    `tau` `(` $tau `:` type($tau) `)` `gammas` `(` $gammas `:` type($gammas) `)`
    (`offset` `(` $query_offset^ `)`)?
    (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    (`sink` `(` $sink^ `:` type($sink) `)`)?
    attr-dict `->` type($signals) (`saves` type($saved)^)?
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

#endif // RAYTENTION_ATTENDOP_TD
