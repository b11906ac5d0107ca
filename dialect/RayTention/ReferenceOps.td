//===- ReferenceOps.td - materialising reference ops ------*- tablegen -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_REFERENCEOPS_TD
#define RAYTENTION_REFERENCEOPS_TD

include "RayTentionAttributes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/TilingInterface.td"

def RT_LookupOp : RT_ProducerOp<"lookup"> {
  let summary = "rows of a table by index";
  let description = [{
    `rows[b, j] = table[indices[b, j]]`, or, for a table with a leading batch,
    `rows[b, j] = table[b, indices[b, j]]`. A bf16 table
    gives bf16 rows, or f32 ones.

    Constraints:
    * C1: table is `[V, D]` or `[B, V, D]`, indices `[B, N]` of i32 or i64,
      rows `[B, N, D]`.
    * C2: rows have the table's element type, or f32 where that is bf16.

    ```mlir
    %k = rt.lookup %table[%ids] : tensor<?x64xf32>, tensor<1x?xi32> -> tensor<1x?x64xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$table, AnyRankedTensor:$indices);
  let results = (outs AnyRankedTensor:$rows);
  let assemblyFormat = [{
    $table `[` $indices `]` attr-dict `:` type($table) `,` type($indices)
    `->` type($rows)
  }];
  let hasVerifier = 1;
}

def RT_ScatterAddOp : RT_Op<"scatter_add", [Pure,
    AllTypesMatch<["init", "result"]>]> {
  let summary = "rows added to a table by index: the adjoint of rt.lookup";
  let description = [{
    `result[v] = init[v] + sum of rows[b, j] over all (b, j) with
    indices[b, j] = v`, or, for a table with a leading batch, `result[b, v] =
    init[b, v] + sum of rows[b, j] over all j with indices[b, j] = v`. The sums
    run in order of batch, then position.

    Constraints:
    * C1: rows are `[B, N, D]`, indices `[B, N]` of i32 or i64, init and the
      result `[V, D]` or `[B, V, D]`.
    * C2: rows and init have one element type, f32 or f64.

    ```mlir
    %dtable = rt.scatter_add %dk into %zeros[%ids]
      : tensor<1x?x64xf32>, tensor<1x?xi32> -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$rows, AnyRankedTensor:$init,
    AnyRankedTensor:$indices);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $rows `into` $init `[` $indices `]` attr-dict `:` type($rows) `,`
    type($indices) `->` type($result)
  }];
  let hasVerifier = 1;
}

def RT_DistanceOp : RT_ProducerOp<"distance"> {
  let summary = "distance of every query to every key";
  let description = [{
    `dist[b, i, j] = ||q[b, i] - k[b, j]||^2`, or its square root for `l2`.
    `fast` expands the square and clamps at 0 (and, for `l2`, recomputes small
    distances by differences); `exact` sums squared differences.

    Constraints:
    * C1: queries `[B, Tq, D]`, keys `[B, T, D]`, distances `[B, Tq, T]`.
    * C2: distances are f32 or f64; queries and keys, each, have that type, or
      bf16 where it is f32.
    * C3: the metric is sq_l2 or l2.

    ```mlir
    %d = rt.distance %q, %k {metric = #rt.metric<l2>}
      : tensor<1x?x64xf32>, tensor<1x?x64xf32> -> tensor<1x?x?xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$queries, AnyRankedTensor:$keys,
    DefaultValuedAttr<RT_MetricAttr, "Metric::SqL2">:$metric,
    DefaultValuedAttr<RT_PrecisionAttr, "Precision::Fast">:$precision);
  let results = (outs AnyRankedTensor:$distances);
  let assemblyFormat = [{
    $queries `,` $keys attr-dict `:` type($queries) `,` type($keys) `->`
    type($distances)
  }];
  let hasVerifier = 1;
}

def RT_SoftmaxOp : RT_Op<"softmax", [Pure, AttrSizedOperandSegments,
    AllTypesMatch<["distances", "scores", "weights"]>]> {
  let summary = "masked scores and their softmax";
  let description = [{
    `z = -dist / max(tau, 0.01)` on visible keys, minus infinity elsewhere, and
    `w = exp(z - lse)`, `lse = log sum exp(z)`; rows that see nothing are zero.

    Constraints:
    * C1: distances, scores and weights are `[B, Tq, T]` of one float type; tau
      is `[]` of it; lengths are `[B]` of i64.
    * C2: the mask is `#rt.causal`.

    ```mlir
    %z, %w = rt.softmax %d tau(%tau : tensor<f32>) : tensor<1x?x?xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$distances, AnyRankedTensor:$tau,
    Optional<Index>:$query_offset, Optional<AnyRankedTensor>:$lengths,
    OptionalAttr<AnyAttr>:$mask);
  let results = (outs AnyRankedTensor:$scores, AnyRankedTensor:$weights);
  let assemblyFormat = [{
    $distances `tau` `(` $tau `:` type($tau) `)` (`offset` `(` $query_offset^ `)`)?
    (`lengths` `(` $lengths^ `:` type($lengths) `)`)? attr-dict `:`
    type($distances)
  }];
  let hasVerifier = 1;
}

def RT_DecayOp : RT_Op<"decay", [Pure, AttrSizedOperandSegments,
    AllTypesMatch<["weights", "decayed"]>]> {
  let summary = "weights decayed by position";
  let description = [{
    `a[b, i, j] = w[b, i, j] * gammas[index]^p`, `p = j` forward and `P - j`
    backward; `P` is the sequence's last position (`sequence_end`) or the row's
    own (`query`).

    Constraints:
    * C1: weights and result are `[B, Tq, T]` of one float type, gammas `[n]`
      of it, lengths `[B]` of i64.
    * C2: `0 <= index < n` where n is static.

    ```mlir
    %a = rt.decay %w by %gammas[1] {direction = #rt.direction<backward>}
      : tensor<1x?x?xf32>, tensor<5xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$weights, AnyRankedTensor:$gammas,
    Optional<Index>:$query_offset, Optional<AnyRankedTensor>:$lengths,
    I64Attr:$index,
    DefaultValuedAttr<RT_DirectionAttr, "Direction::Backward">:$direction,
    DefaultValuedAttr<RT_DecayOriginAttr, "DecayOrigin::SequenceEnd">:$origin);
  let results = (outs AnyRankedTensor:$decayed);
  let assemblyFormat = [{
    $weights `by` $gammas `[` $index `]` (`offset` `(` $query_offset^ `)`)?
    (`lengths` `(` $lengths^ `:` type($lengths) `)`)? attr-dict `:`
    type($weights) `,` type($gammas)
  }];
  let hasVerifier = 1;
}

def RT_ReduceOp : RT_Op<"reduce", [Pure]> {
  let summary = "sum over keys, of weights alone or of weighted rows";
  let description = [{
    `[b, i] = sum_j w[b, i, j]`, or with values `[b, i, d] = sum_j w[b, i, j]
    v[b, j, d]`; with `floor` divided by `max(sum_j w[b, i, j], floor)`.

    Constraints:
    * C1: weights are `[B, Tq, T]`; values, where present, `[B, T, D]` of the
      same float type.
    * C2: `floor` is positive and needs values.

    ```mlir
    %c = rt.reduce %w of %k : tensor<1x?x?xf32>, tensor<1x?x64xf32> -> tensor<1x?x64xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$weights,
    Optional<AnyRankedTensor>:$values, OptionalAttr<F64Attr>:$floor);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $weights (`of` $values^)? attr-dict `:` type($weights)
    (`,` type($values)^)? `->` type($result)
  }];
  let hasVerifier = 1;
}

def RT_ArgSelectOp : RT_Op<"arg_select", [Pure]> {
  let summary = "position of the rank-th key in score order";
  let description = [{
    The position of the `rank`-th largest or smallest visible score (1 is the
    first), ties to the lowest position; with `weights`, among those whose weight
    exceeds 1e-10. With fewer candidates the last one found; 0 with none. Order
    `last` is the last visible position, whatever its score.

    Constraints:
    * C1: scores (and weights) are `[B, Tq, T]` of one float type, the result
      `[B, Tq]` of i32.
    * C2: `rank >= 1`.

    ```mlir
    %i = rt.arg_select %z {rank = 2 : i64} : tensor<1x?x?xf32> -> tensor<1x?xi32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$scores,
    Optional<AnyRankedTensor>:$weights,
    DefaultValuedAttr<RT_OrderAttr, "Order::Largest">:$order,
    DefaultValuedAttr<I64Attr, "1">:$rank);
  let results = (outs AnyRankedTensor:$positions);
  let assemblyFormat = [{
    $scores (`where` `(` $weights^ `:` type($weights) `)`)? attr-dict `:`
    type($scores) `->`
    type($positions)
  }];
  let hasVerifier = 1;
}

def RT_NormalizeOp : RT_Op<"normalize", [Pure, AttrSizedOperandSegments,
    AllTypesMatch<["x", "y"]>]> {
  let summary = "rows divided by their norm; rows beyond the length are zero";
  let description = [{
    `norm = ||x_i||_2`, `y_i = x_i / max(norm, 1e-10)`; both 0 for rows at or
    beyond their sequence's length.

    Constraints:
    * C1: x and y are `[B, Tq, S]` of one float type, norm `[B, Tq]`, lengths
      `[B]` of i64.

    ```mlir
    %y, %n = rt.normalize %x : tensor<1x?x66xf32> -> tensor<1x?xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, Optional<Index>:$query_offset,
    Optional<AnyRankedTensor>:$lengths);
  let results = (outs AnyRankedTensor:$y, AnyRankedTensor:$norm);
  let assemblyFormat = [{
    $x (`offset` `(` $query_offset^ `)`)?
    (`lengths` `(` $lengths^ `:` type($lengths) `)`)? attr-dict `:`
    type($x) `->` type($norm)
  }];
  let hasVerifier = 1;
}

def RT_ClearPaddingOp : RT_Op<"clear_padding", [Pure,
    AllTypesMatch<["rows", "cleared"]>]> {
  let summary = "zeros in place of rows beyond their sequence";
  let description = [{
    Row `i` of sequence `b` is 0 where `i + offset >= lengths[b]`, whatever stands
    there: a product with a weight of 0 would keep a NaN. Others are as they are.

    Constraints:
    * C1: rows are `[B, N, W]` of floats, lengths `[B]` of i64.

    ```mlir
    %k1 = rt.clear_padding %k lengths(%len : tensor<1xi64>) : tensor<1x?x66xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$rows, Optional<Index>:$query_offset,
    AnyRankedTensor:$lengths);
  let results = (outs AnyRankedTensor:$cleared);
  let assemblyFormat = [{
    $rows (`offset` `(` $query_offset^ `)`)? `lengths` `(` $lengths `:`
    type($lengths) `)` attr-dict `:` type($rows)
  }];
  let hasVerifier = 1;
}

#endif // RAYTENTION_REFERENCEOPS_TD
