//===- GradientOps.td - the streaming gradient ------*- tablegen -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_GRADIENTOPS_TD
#define RAYTENTION_GRADIENTOPS_TD

include "MaskedPairs.td"
include "RayTentionAttributes.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/TilingInterface.td"

def RT_AttendGradOp : RT_Op<"attend_grad", [Pure, AttrSizedOperandSegments]> {
  let summary = "the gradient of rt.attend";
  let description = [{
    From the gradient `dy [B, Tq, S]` of the signals and what the attention
    saved (signals, norm, indices, log_sums), the gradients of the queries
    `[B, Tq, D]`, the table `[V, D]`, tau `[]` and the gammas `[n]`. Everything
    else is recomputed; `x = y max(norm, 1e-10)`. Formulas: semantics,
    "Gradient". All gradients are of the accumulator type, f64 for f64, else f32.

    Constraints:
    * C1: queries `[B, Tq, D]` with static D and table `[V, D]` are of one type,
      f32, f64 or bf16; ids are `[B, T]` of i32 or i64; tau `[]`, gammas `[n]`
      are of the accumulator type; lengths `[B]` of i64.
    * C2: at least one channel, each a channel attribute that fits the gammas.
    * C3: signals and their gradient are `[B, Tq, S]`, norm `[B, Tq]`, indices
      i32 `[B, Tq, copies]`, log_sums `[B, Tq, L]`, as the channels demand.
    * C4: results are `[B, Tq, D]`, `[V, D]`, `[]` and `[n]` of the accumulator
      type.
    * C5: the mask is `#rt.causal`; the metric is sq_l2 or l2.

    ```mlir
    %dq, %dt, %dtau, %dg = rt.attend_grad [#rt.centroid]
      queries(%q : tensor<1x?x64xf32>) lookup(%t[%ids] : tensor<?x64xf32>, tensor<1x?xi32>)
      tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>)
      saved(%y, %n, %x, %l : tensor<1x?x64xf32>, tensor<1x?xf32>, tensor<1x?x0xi32>, tensor<1x?x2xf32>)
      gradient(%dy : tensor<1x?x64xf32>)
      -> tensor<1x?x64xf32>, tensor<?x64xf32>, tensor<f32>, tensor<0xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$queries, AnyRankedTensor:$table,
    AnyRankedTensor:$ids, AnyRankedTensor:$tau, AnyRankedTensor:$gammas,
    Optional<Index>:$query_offset, Optional<AnyRankedTensor>:$lengths,
    AnyRankedTensor:$signals, AnyRankedTensor:$norm, AnyRankedTensor:$indices,
    AnyRankedTensor:$log_sums, AnyRankedTensor:$gradient,
    ArrayAttr:$channels, DefaultValuedAttr<RT_MetricAttr, "Metric::SqL2">:$metric,
    DefaultValuedAttr<RT_DecayOriginAttr, "DecayOrigin::SequenceEnd">:$decay_origin,
    DefaultValuedAttr<RT_PrecisionAttr, "Precision::Fast">:$precision,
    OptionalAttr<AnyAttr>:$mask);
  let results = (outs AnyRankedTensor:$queries_grad, AnyRankedTensor:$table_grad,
    AnyRankedTensor:$tau_grad, AnyRankedTensor:$gammas_grad);
  let assemblyFormat = [{
    $channels `queries` `(` $queries `:` type($queries) `)`
    `lookup` `(` $table `[` $ids `]` `:` type($table) `,` type($ids) `)`
    `tau` `(` $tau `:` type($tau) `)` `gammas` `(` $gammas `:` type($gammas) `)`
    (`offset` `(` $query_offset^ `)`)?
    (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    `saved` `(` $signals `,` $norm `,` $indices `,` $log_sums `:` type($signals)
    `,` type($norm) `,` type($indices) `,` type($log_sums) `)`
    `gradient` `(` $gradient `:` type($gradient) `)` attr-dict `->`
    type($queries_grad) `,` type($table_grad) `,` type($tau_grad) `,`
    type($gammas_grad)
  }];
  let hasVerifier = 1;
}

def RT_GradRowsOp : RT_ProducerOp<"grad_rows"> {
  let summary = "what a gradient needs of each row, before any key";
  let description = [{
    Per row: the saved log-sums; `scale = 1 / max(norm, 1e-10)` and
    `along = y . dy` (0 at the norm's floor), so that
    `dx = scale (dy - along y)`; scale, and what is derived from dx, in the unit of
    the gradient: a power of two, 1 unless tau is large, by which rt.query_grad
    and rt.key_grad multiply again (`elements/RowGradient.h`); the sum over keys of `w_ij dw_ij` as far as it
    is known from saved values; per channel what its derivative prepares. And
    the slices of `dx / scale` that belong to the C weighted channels, stacked:
    a tiny or huge norm does not take them out of the type's range. Rows beyond
    their sequence are zero. A sequence of `keys` keys ends at `lengths`.

    Constraints:
    * C1: signals and their gradient are `[B, Tq, S]`, norm `[B, Tq]`, log_sums
      `[B, Tq, L]`, tau `[]`, gammas `[n]`, of one float type; lengths `[B]`.
    * C2: rows are `[B, Tq, F]` as the channels demand, the stack
      `[B, C, Tq, D]`, of the same type.
    * C3: every entry of the list is a channel.
  }];
  let arguments = (ins AnyRankedTensor:$signals, AnyRankedTensor:$norm,
    AnyRankedTensor:$log_sums, AnyRankedTensor:$gradient, AnyRankedTensor:$tau,
    AnyRankedTensor:$gammas, Index:$row, Index:$keys,
    Optional<AnyRankedTensor>:$lengths, ArrayAttr:$channels,
    DefaultValuedAttr<RT_DecayOriginAttr, "DecayOrigin::SequenceEnd">:$decay_origin);
  let results = (outs AnyRankedTensor:$rows, AnyRankedTensor:$stack);
  let assemblyFormat = [{
    $channels `(` $signals `,` $norm `,` $log_sums `,` $gradient `:`
    type($signals) `,` type($norm) `,` type($log_sums) `,` type($gradient) `)`
    `tau` `(` $tau `:` type($tau) `)` `gammas` `(` $gammas `:` type($gammas) `)`
    `at` `(` $row `)` `of` $keys (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    attr-dict `->` type($rows) `,` type($stack)
  }];
  let hasVerifier = 1;
}

/// Tiled where it stands, and as the producer of a tile of one of its results.
class RT_TiledOp<string mnemonic, list<Trait> traits = []>
    : RT_Op<mnemonic, traits # [Pure,
    DeclareOpInterfaceMethods<TilingInterface, ["getLoopIteratorTypes",
      "getIterationDomain", "getTiledImplementation", "getResultTilePosition",
      "getIterationDomainTileFromResultTile"]>]>;

def RT_QueryGradSweepOp : RT_Op<"query_grad_sweep",
    [Pure, DestinationStyleOpInterface,
     AllTypesMatch<["floats_in", "floats"]>,
     AllTypesMatch<["sums_in", "sums"]>]> {
  let summary = "what keys add to the gradients of queries and parameters";
  let description = [{
    With the rows of rt.grad_rows, adds for each visible key the derivative by
    `q_i`, `c_ij (k_j - q_i)`, to the sums `[B, Tq, D]`, and to the accumulators
    `[B, Tq, A]` the temperature's part and what the channels keep for their
    parameters.

    Constraints:
    * C1: every entry of the list is a channel.
    * C2: distances are `[B, Tq, T]`, rows `[B, Tq, F]`, the stack
      `[B, C, Tq, D]`, keys `[B, T, D]`, tau `[]`, gammas `[n]`, all of the
      accumulators' type (keys also of bf16 where that is f32); lengths `[B]` of
      i64.
    * C3: accumulators are `[B, Tq, A]` as the channels demand, sums
      `[B, Tq, D]`; results have their types.
    * C4: the mask is `#rt.causal`; the metric is sq_l2 or l2.
  }];
  let arguments = (ins AnyRankedTensor:$distances, AnyRankedTensor:$rows,
    AnyRankedTensor:$stack, AnyRankedTensor:$keys, AnyRankedTensor:$tau,
    AnyRankedTensor:$gammas, Index:$row, Index:$key,
    AnyRankedTensor:$floats_in, AnyRankedTensor:$sums_in,
    // Last, so that result types are inferred with it or without.
    Optional<AnyRankedTensor>:$lengths, ArrayAttr:$channels,
    DefaultValuedAttr<RT_MetricAttr, "Metric::SqL2">:$metric,
    OptionalAttr<AnyAttr>:$mask);
  let results = (outs AnyRankedTensor:$floats, AnyRankedTensor:$sums);
  let assemblyFormat = [{
    $channels `ins` `(` $distances `,` $rows `,` $stack `,` $keys `:`
    type($distances) `,` type($rows) `,` type($stack) `,` type($keys) `)`
    `tau` `(` $tau `:` type($tau) `)` `gammas` `(` $gammas `:` type($gammas) `)`
    `at` `(` $row `,` $key `)`
    (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    `outs` `(` $floats_in `,` $sums_in `:` type($floats_in) `,` type($sums_in) `)`
    attr-dict
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable();
  }];
  let hasVerifier = 1;
}

def RT_KeyGradSweepOp : RT_Op<"key_grad_sweep",
    [Pure, DestinationStyleOpInterface, AllTypesMatch<["sums_in", "sums"]>]> {
  let summary = "what queries add to the gradients of keys";
  let description = [{
    For each key, over the queries that see it: adds `w_cij U_ci` of every
    weighted channel, U being the stack of rt.grad_rows, `c_ij (q_i - k_j)` and
    the gradient of each copying channel that chose the key, to the sums
    `[B, T, D]`.

    Constraints:
    * C1: every entry of the list is a channel.
    * C2: distances are `[B, Tq, T]`, rows `[B, Tq, F]`, the stack
      `[B, C, Tq, D]`, signals and gradient `[B, Tq, S]`, tau `[]`, gammas
      `[n]`, of the accumulators' type; queries `[B, Tq, D]`, indices
      `[B, Tq, N]` of i32, lengths `[B]` of i64.
    * C3: sums are `[B, T, D]`; the result has their type.
    * C4: the mask is `#rt.causal`; the metric is sq_l2 or l2.
  }];
  let arguments = (ins AnyRankedTensor:$distances, AnyRankedTensor:$rows,
    AnyRankedTensor:$stack, AnyRankedTensor:$queries, AnyRankedTensor:$signals,
    AnyRankedTensor:$gradient, AnyRankedTensor:$indices, AnyRankedTensor:$tau,
    AnyRankedTensor:$gammas, Index:$row, Index:$key,
    AnyRankedTensor:$sums_in,
    // Last, so that result types are inferred with it or without.
    Optional<AnyRankedTensor>:$lengths, ArrayAttr:$channels,
    DefaultValuedAttr<RT_MetricAttr, "Metric::SqL2">:$metric,
    OptionalAttr<AnyAttr>:$mask);
  let results = (outs AnyRankedTensor:$sums);
  let assemblyFormat = [{
    $channels `ins` `(` $distances `,` $rows `,` $stack `,` $queries `:`
    type($distances) `,` type($rows) `,` type($stack) `,` type($queries) `)`
    `copies` `(` $signals `,` $gradient `,` $indices `:` type($signals) `,`
    type($gradient) `,` type($indices) `)`
    `tau` `(` $tau `:` type($tau) `)` `gammas` `(` $gammas `:` type($gammas) `)`
    `at` `(` $row `,` $key `)`
    (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    `outs` `(` $sums_in `:` type($sums_in) `)`
    attr-dict
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable();
  }];
  let hasVerifier = 1;
}

def RT_WeighGradOp : RT_TiledOp<"weigh_grad", [AttrSizedOperandSegments,
    RT_MaskedPairsOpInterface,
    AllTypesMatch<["products", "weights"]>,
    AllTypesMatch<["distances", "coefficients"]>]> {
  let summary = "weights and distance coefficients of pairs";
  let description = [{
    From the products `U_ci . k_j` `[B, C, Tq, T]`, U being the stack of
    rt.grad_rows: the factors `w_cij` with which `U_ci` enters the key's
    gradient, `[B, C, Tq, T]`, and the coefficients `c_ij` `[B, Tq, T]`, the
    pair's derivative being `c_ij (k_j - q_i)` by the query and
    `c_ij (q_i - k_j)` by the key; under l2, at distances below 2^-20 (f64:
    2^-200), these over the distance. Both are 0 where masked. With
    accumulators `[B, Tq, A]` adds to them what the keys give to the gradients
    of the parameters, as rt.query_grad_sweep does.

    Constraints:
    * C1: every entry of the list is a channel.
    * C2: distances are `[B, Tq, T]`, rows `[B, Tq, F]`, products
      `[B, C, Tq, T]`, tau `[]`, gammas `[n]`, all of one type; lengths `[B]` of
      i64.
    * C3: accumulators are `[B, Tq, A]`, before and after or on neither side; the
      result has their type.
    * C4: the mask is `#rt.causal`; the metric is sq_l2 or l2.
  }];
  let arguments = (ins AnyRankedTensor:$distances, AnyRankedTensor:$rows,
    AnyRankedTensor:$products, AnyRankedTensor:$tau, AnyRankedTensor:$gammas,
    Index:$row, Index:$key, Optional<AnyRankedTensor>:$lengths,
    Optional<AnyRankedTensor>:$floats_in, ArrayAttr:$channels,
    DefaultValuedAttr<RT_MetricAttr, "Metric::SqL2">:$metric,
    OptionalAttr<AnyAttr>:$mask);
  let results = (outs AnyRankedTensor:$weights, AnyRankedTensor:$coefficients,
    Optional<AnyRankedTensor>:$floats);
  let assemblyFormat = [{
    $channels `ins` `(` $distances `,` $rows `,` $products `:`
    type($distances) `,` type($rows) `,` type($products) `)`
    `tau` `(` $tau `:` type($tau) `)` `gammas` `(` $gammas `:` type($gammas) `)`
    `at` `(` $row `,` $key `)` (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    (`outs` `(` $floats_in^ `:` type($floats_in) `)`)?
    attr-dict (`->` type($floats)^)?
  }];
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def RT_SumDifferencesOp : RT_TiledOp<"sum_differences",
    [DestinationStyleOpInterface, AllTypesMatch<["sums_in", "sums"]>]> {
  let summary = "coefficients times differences of keys and queries, summed";
  let description = [{
    `#rt.side<query>` adds `sum_j c_ij (k_j - q_i)` to the sums `[B, Tq, D]`;
    `#rt.side<key>` adds `sum_i c_ij (q_i - k_j)` to the sums `[B, T, D]`; under
    l2, tiny distances divide, as rt.weigh_grad says. As
    `sum c k - q sum c`, what nearly cancels would be lost where a query is near
    its key: a target may expand the product only where the precision is not
    exact and the distances, of `metric`, say that no pair of the chunk is near.

    Constraints:
    * C1: coefficients and distances are `[B, Tq, T]`, keys `[B, T, D]`, sums
      `[B, Tq, D]` or `[B, T, D]`, as the side says, queries `[B, Tq, D]`, of one
      type; queries and keys also of bf16 where that is f32; the metric is sq_l2
      or l2, that of the coefficients.
  }];
  let arguments = (ins RT_PairSideAttr:$side, AnyRankedTensor:$coefficients,
    AnyRankedTensor:$queries, AnyRankedTensor:$keys, AnyRankedTensor:$distances,
    AnyRankedTensor:$sums_in,
    DefaultValuedAttr<RT_MetricAttr, "Metric::SqL2">:$metric,
    DefaultValuedAttr<RT_PrecisionAttr, "Precision::Fast">:$precision);
  let results = (outs AnyRankedTensor:$sums);
  let assemblyFormat = [{
    $side `(` $coefficients `,` $queries `,` $keys `:` type($coefficients) `,`
    type($queries) `,` type($keys) `)` `near` `(` $distances `:`
    type($distances) `)` `outs` `(` $sums_in `:` type($sums_in) `)` attr-dict
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getSumsInMutable(); }
  }];
  let hasVerifier = 1;
}

def RT_CopyGradOp : RT_TiledOp<"copy_grad",
    [DestinationStyleOpInterface, AllTypesMatch<["sums_in", "sums"]>]> {
  let summary = "gradients of copies, added to the keys they chose";
  let description = [{
    For each row and each of the N copying channels whose index lies in
    `[key, key + T)`: adds `dx`, in the unit of the rows, cut to the channel, to the
    sums `[B, T, D]` of
    that key.

    Constraints:
    * C1: every entry of the list is a channel.
    * C2: rows are `[B, Tq, F]`, signals and gradient `[B, Tq, S]`, sums
      `[B, T, D]`, of one type; indices `[B, Tq, N]` of i32.
  }];
  let arguments = (ins AnyRankedTensor:$rows, AnyRankedTensor:$signals,
    AnyRankedTensor:$gradient, AnyRankedTensor:$indices, Index:$key,
    AnyRankedTensor:$sums_in, ArrayAttr:$channels);
  let results = (outs AnyRankedTensor:$sums);
  let assemblyFormat = [{
    $channels `(` $rows `,` $signals `,` $gradient `,` $indices `:` type($rows)
    `,` type($signals) `,` type($gradient) `,` type($indices) `)` `at` `(` $key `)`
    `outs` `(` $sums_in `:` type($sums_in) `)` attr-dict
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getSumsInMutable(); }
  }];
  let hasVerifier = 1;
}

def RT_QueryGradOp : RT_TiledOp<"query_grad", [DestinationStyleOpInterface,
    AllTypesMatch<["queries_grad_in", "queries_grad"]>,
    AllTypesMatch<["parameters_in", "parameters"]>]> {
  let summary = "finished gradients of the queries, parameters row by row";
  let description = [{
    `dq_i`, the sums `[B, Tq, D]` times the rows' unit, and each row's part in the gradients of
    tau and the gammas, `[B, Tq, 1 + n]`; 0 for rows beyond their sequence.

    Constraints:
    * C1: every entry of the list is a channel.
    * C2: accumulators `[B, Tq, A]`, sums `[B, Tq, D]`, rows `[B, Tq, F]`,
      tau `[]`, gammas `[n]` are of one type.
    * C3: outs are `[B, Tq, D]` and `[B, Tq, 1 + n]`; results have their types.
  }];
  let arguments = (ins AnyRankedTensor:$floats, AnyRankedTensor:$sums,
    AnyRankedTensor:$rows, AnyRankedTensor:$tau,
    AnyRankedTensor:$gammas, Index:$row, Index:$keys,
    AnyRankedTensor:$queries_grad_in, AnyRankedTensor:$parameters_in,
    Optional<AnyRankedTensor>:$lengths, ArrayAttr:$channels,
    DefaultValuedAttr<RT_DecayOriginAttr, "DecayOrigin::SequenceEnd">:$decay_origin);
  let results = (outs AnyRankedTensor:$queries_grad, AnyRankedTensor:$parameters);
  let assemblyFormat = [{
    $channels `(` $floats `,` $sums `,` $rows `:` type($floats) `,` type($sums)
    `,` type($rows) `)`
    `tau` `(` $tau `:` type($tau) `)` `gammas` `(` $gammas `:` type($gammas) `)`
    `at` `(` $row `)` `of` $keys (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    `outs` `(` $queries_grad_in `,` $parameters_in `:` type($queries_grad_in)
    `,` type($parameters_in) `)` attr-dict
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable();
  }];
  let hasVerifier = 1;
}

def RT_KeyGradOp : RT_TiledOp<"key_grad",
    [DestinationStyleOpInterface, AllTypesMatch<["keys_grad_in", "keys_grad"]>]> {
  let summary = "finished gradients of the keys";
  let description = [{
    `dk_j`, the sums `[B, T, D]` times the rows' unit; 0, whatever stands in the
    sums, for keys that no row sees: from `num_keys` on, or beyond their sequence
    as `lengths` says. Local key 0 stands at position `key`.

    Constraints:
    * C1: sums and out `[B, T, D]`, tau `[]` and gammas `[n]` are of one type,
      lengths `[B]` of i64; the result has the out's type.
    * C2: every entry of the list is a channel.
  }];
  let arguments = (ins AnyRankedTensor:$sums, AnyRankedTensor:$tau,
    AnyRankedTensor:$gammas, Index:$key, Index:$num_keys,
    AnyRankedTensor:$keys_grad_in, Optional<AnyRankedTensor>:$lengths, ArrayAttr:$channels);
  let results = (outs AnyRankedTensor:$keys_grad);
  let assemblyFormat = [{
    $channels `(` $sums `:` type($sums) `)` `tau` `(` $tau `:` type($tau) `)`
    `gammas` `(` $gammas `:` type($gammas) `)` `at` `(` $key `)` `of` $num_keys
    (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    `outs` `(` $keys_grad_in `:` type($keys_grad_in) `)` attr-dict
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable();
  }];
  let hasVerifier = 1;
}

def RT_ParameterGradOp : RT_Op<"parameter_grad", [Pure]> {
  let summary = "gradients of tau and the gammas from the rows' parts";
  let description = [{
    Sums `[B, Tq, 1 + n]` over batch and rows, in that order and in double
    precision: the first entry is tau's `[]`, the others the gammas' `[n]`.

    Constraints:
    * C1: the parts are `[B, Tq, P]`, tau's gradient `[]`, the gammas' `[n]`, of
      one type, with P = n + 1.
  }];
  let arguments = (ins AnyRankedTensor:$parameters);
  let results = (outs AnyRankedTensor:$tau_grad, AnyRankedTensor:$gammas_grad);
  let assemblyFormat = [{
    $parameters attr-dict `:` type($parameters) `->` type($tau_grad) `,`
    type($gammas_grad)
  }];
  let hasVerifier = 1;
}

#endif // RAYTENTION_GRADIENTOPS_TD
