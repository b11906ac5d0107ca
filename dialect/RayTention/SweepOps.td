//===- SweepOps.td - streaming ops with explicit accumulators ------*- tablegen -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_SWEEPOPS_TD
#define RAYTENTION_SWEEPOPS_TD

include "MaskedPairs.td"
include "RayTentionAttributes.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/TilingInterface.td"

class RT_SweepOp<string mnemonic, list<Trait> traits = []>
    : RT_Op<mnemonic, traits # [Pure, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<TilingInterface, ["getLoopIteratorTypes",
      "getIterationDomain", "getTiledImplementation", "getResultTilePosition",
      "getIterationDomainTileFromResultTile", "generateResultTileValue"]>,
    RT_MaskedPairsOpInterface,
    DeclareOpInterfaceMethods<PartialReductionOpInterface, [
      "generateInitialTensorForPartialReduction",
      "tileToPartialReduction",
      "mergeReductions", "getPartialResultTilePosition"]>]>;

def RT_InitOp : RT_ProducerOp<"init"> {
  let summary = "a sweep's state over no keys";
  let description = [{
    The initial state of `batch x rows` rows: float fields `[B, Tq, F]` and
    position fields `[B, Tq, I]`; what the fields are follows from the channels.
    With `parts`, the initial partial states `[B, P, Tq, F]`, `[B, P, Tq, I]` of
    P key ranges.

    Constraints:
    * C1: every entry of the list is a channel.
    * C2: the states are `[B, Tq, F]` of f32 or f64 and `[B, Tq, I]` of i32, F
      and I as the channels demand; with parts `[B, P, Tq, F]`, `[B, P, Tq, I]`.

    ```mlir
    %f, %i = rt.init <score> [#rt.top<1>] (%b, %n) : tensor<?x?x3xf32>, tensor<?x?x1xi32>
    ```
  }];
  let arguments = (ins RT_SweepKindAttr:$sweep, ArrayAttr:$channels,
    Index:$batch, Index:$rows, Optional<Index>:$parts);
  let results = (outs AnyRankedTensor:$floats, AnyRankedTensor:$positions);
  let assemblyFormat = [{
    $sweep $channels `(` $batch `,` $rows `)` (`parts` `(` $parts^ `)`)? attr-dict
    `:` type($floats) `,` type($positions)
  }];
  let hasVerifier = 1;
}

/// What the ops on pairs say of keys that stand in a list.
defvar RT_KeySetDescription = [{

    Keys may be a list instead of a range: with `positions [B, K, T]` key j stands
    at `positions[b, 0, j]`, whatever `key` is, and is not there where that is
    negative. With `masses [B, M, T]` a key stands at several positions, all of
    which a row sees that sees the first: `positions` hold its first K - 1, -1
    where it has fewer, and the last one. Row 0 of the masses is their number;
    the others are, for each channel of the score state's list with a log-sum of
    its own, in order, the sum of their decays, counted from the first position
    forward and from the last one backward (rt.fold_keys makes them).
}];

def RT_ScoreSweepOp : RT_SweepOp<"score_sweep",
    [AttrSizedOperandSegments, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "first sweep: running maxima, log-sums and largest scores";
  let description = [{
    Adds the keys of `distances [B, Tq, T]` to the score state: with
    `z = -dist / max(tau, 0.01)`, the softmax's `(m, l)`, an own `(m, l)` per
    decayed channel, and what the channels keep (largest scores, ...). Local row
    0 stands at position `row`, local key 0 at position `key`.
  }] # RT_KeySetDescription # [{
    Constraints:
    * C1: every entry of the list is a channel.
    * C2: distances are `[B, Tq, T]`, tau `[]`, gammas `[n]`, all of the
      state's float type, n being static and enough for the channels; lengths
      `[B]` of i64.
    * C3: the states are `[B, Tq, F]` and `[B, Tq, I]` as the channels demand;
      results have the types of the initial states.
    * C4: the mask is `#rt.causal`.
    * C6: positions are `[B, K, T]` of i32, K static, without lengths; masses
      `[B, M, T]` of the state's float type, M as the list demands, stand with
      one more position than any channel can keep of one key; without them K is
      1.

    ```mlir
    %f1, %i1 = rt.score_sweep [#rt.top<1>] ins(%d, %tau, %g : tensor<1x?x?xf32>, tensor<f32>, tensor<0xf32>)
      at(%c0, %c0) outs(%f0, %i0 : tensor<1x?x3xf32>, tensor<1x?x1xi32>)
    ```
  }];
  let arguments = (ins AnyRankedTensor:$distances, AnyRankedTensor:$tau,
    AnyRankedTensor:$gammas, Index:$row, Index:$key,
    AnyRankedTensor:$floats_in, AnyRankedTensor:$positions_in,
    Optional<AnyRankedTensor>:$lengths, Optional<AnyRankedTensor>:$key_positions,
    Optional<AnyRankedTensor>:$key_masses, ArrayAttr:$channels,
    OptionalAttr<AnyAttr>:$mask);
  let results = (outs AnyRankedTensor:$floats, AnyRankedTensor:$positions);
  let assemblyFormat = [{
    $channels `ins` `(` $distances `,` $tau `,` $gammas `:` type($distances) `,`
    type($tau) `,` type($gammas) `)` `at` `(` $row `,` $key `)`
    (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    (`positions` `(` $key_positions^ `:` type($key_positions) `)`)?
    (`masses` `(` $key_masses^ `:` type($key_masses) `)`)?
    `outs` `(` $floats_in `,` $positions_in `:` type($floats_in) `,`
    type($positions_in) `)` attr-dict
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable();
    static constexpr ::raytention::SweepKind sweepKind =
        ::raytention::SweepKind::Score;
  }];
  let hasVerifier = 1;
}

def RT_ReduceSweepOp : RT_SweepOp<"reduce_sweep",
    [AttrSizedOperandSegments, AllTypesMatch<["floats_in", "floats"]>,
     AllTypesMatch<["positions_in", "positions"]>]> {
  let summary = "second sweep: exact weights, weighted sums, antitop, entropy";
  let description = [{
    With the final score state (so the final `lse` and log-sums, no rescaling),
    adds the keys of `distances [B, Tq, T]` to the reduce state and, where
    `keys [B, T, D]` are given, to the weighted sums `[B, C, Tq, D]`: for the
    C weighted channels of the list, in order, `sum_j exp(lw_ij - logsum_i) k_j`
    with each channel's own log weight and log-sum. The score state may be that
    of another list, `of`, in which channels find theirs by equality.
  }] # RT_KeySetDescription # [{
    Constraints:
    * C1: every entry of both lists is a channel; what keeps something in a score
      state stands in `of`.
    * C2: distances are `[B, Tq, T]`, tau `[]`, gammas `[n]`, all of the
      state's float type, n being static and enough for the channels; lengths
      `[B]` of i64.
    * C3: the states have the shapes that the channels demand; results have the
      types of the initial states.
    * C4: the mask is `#rt.causal`.
    * C5: keys and sums stand together: `[B, T, D]`, of the states' type or bf16
      where that is f32, and `[B, C, Tq, D]`.
    * C6: positions and masses as in rt.score_sweep, M as the score state's list
      demands.
  }];
  let arguments = (ins AnyRankedTensor:$distances,
    AnyRankedTensor:$score_state, AnyRankedTensor:$tau, AnyRankedTensor:$gammas,
    Optional<AnyRankedTensor>:$keys, Index:$row, Index:$key,
    Optional<AnyRankedTensor>:$lengths, AnyRankedTensor:$floats_in,
    AnyRankedTensor:$positions_in, Optional<AnyRankedTensor>:$sums_in,
    Optional<AnyRankedTensor>:$key_positions, Optional<AnyRankedTensor>:$key_masses,
    ArrayAttr:$channels, OptionalAttr<ArrayAttr>:$score_channels,
    OptionalAttr<AnyAttr>:$mask);
  let results = (outs AnyRankedTensor:$floats, AnyRankedTensor:$positions,
    Optional<AnyRankedTensor>:$sums);
  let assemblyFormat = [{
    $channels (`of` $score_channels^)? `ins` `(` $distances `,` $score_state `,` $tau `,` $gammas `:`
    type($distances) `,` type($score_state) `,` type($tau) `,` type($gammas) `)`
    (`keys` `(` $keys^ `:` type($keys) `)`)?
    `at` `(` $row `,` $key `)`
    (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    (`positions` `(` $key_positions^ `:` type($key_positions) `)`)?
    (`masses` `(` $key_masses^ `:` type($key_masses) `)`)?
    `outs` `(` $floats_in `,` $positions_in `:` type($floats_in) `,`
    type($positions_in) `)` (`sums` `(` $sums_in^ `:` type($sums_in) `)`)?
    attr-dict (`->` type($sums)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable();
    static constexpr ::raytention::SweepKind sweepKind =
        ::raytention::SweepKind::Reduce;
  }];
  let hasVerifier = 1;
}

def RT_WeighOp : RT_ProducerOp<"weigh", [AttrSizedOperandSegments,
    RT_MaskedPairsOpInterface]> {
  let summary = "the stacked weights of all weighted channels";
  let description = [{
    `p[b, c, i, j] = exp(lw_ij - logsum_i)` for the weighted channels of the
    list, in order, with each channel's own log weight and log-sum; 0 where
    masked. One matrix product with the chunk's keys then serves all of them.
    The score state may be that of another list, `of`.
  }] # RT_KeySetDescription # [{
    Constraints:
    * C1: every entry of both lists is a channel; what keeps something in a score
      state stands in `of`.
    * C2: distances are `[B, Tq, T]`, tau `[]`, gammas `[n]`, all of the
      state's float type, n being static and enough for the channels; the score
      state as the channels demand.
    * C3: the weights are `[B, C, Tq, T]`, C the number of weighted channels.
    * C4: the mask is `#rt.causal`.
    * C6: positions and masses as in rt.score_sweep, M as the score state's list
      demands.
  }];
  let arguments = (ins AnyRankedTensor:$distances,
    AnyRankedTensor:$score_state, AnyRankedTensor:$tau, AnyRankedTensor:$gammas,
    Index:$row, Index:$key, Optional<AnyRankedTensor>:$lengths,
    Optional<AnyRankedTensor>:$key_positions, Optional<AnyRankedTensor>:$key_masses,
    ArrayAttr:$channels, OptionalAttr<ArrayAttr>:$score_channels,
    OptionalAttr<AnyAttr>:$mask);
  let results = (outs AnyRankedTensor:$weights);
  let assemblyFormat = [{
    $channels (`of` $score_channels^)? `ins` `(` $distances `,` $score_state `,` $tau `,` $gammas `:`
    type($distances) `,` type($score_state) `,` type($tau) `,` type($gammas) `)`
    `at` `(` $row `,` $key `)`
    (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    (`positions` `(` $key_positions^ `:` type($key_positions) `)`)?
    (`masses` `(` $key_masses^ `:` type($key_masses) `)`)? attr-dict `->`
    type($weights)
  }];
  let hasVerifier = 1;
}

def RT_MergeOp : RT_Op<"merge", [Pure]> {
  let summary = "merges the states of consecutive key ranges";
  let description = [{
    Partial states `[B, P, Tq, F]` and `[B, P, Tq, I]` over P key ranges become
    one state: maxima and sums are rescaled to the common maximum and added, each
    channel merges what it keeps.

    Constraints:
    * C1: every entry of the list is a channel.
    * C2: the partial states have one dimension more than the merged ones, after
      the batch; the others agree.
  }];
  let arguments = (ins RT_SweepKindAttr:$sweep, ArrayAttr:$channels,
    AnyRankedTensor:$partial_floats, AnyRankedTensor:$partial_positions);
  let results = (outs AnyRankedTensor:$floats, AnyRankedTensor:$positions);
  let assemblyFormat = [{
    $sweep $channels `(` $partial_floats `,` $partial_positions `:`
    type($partial_floats) `,` type($partial_positions) `)` attr-dict `->`
    type($floats) `,` type($positions)
  }];
  let hasVerifier = 1;
}

def RT_FinalizeOp : RT_Op<"finalize", [Pure, AttrSizedOperandSegments,
    AllTypesMatch<["signals_in", "signals"]>, AllTypesMatch<["norm_in", "norm"]>,
    AllTypesMatch<["indices_in", "indices"]>, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<TilingInterface, ["getLoopIteratorTypes",
      "getIterationDomain", "getTiledImplementation", "getResultTilePosition",
      "getIterationDomainTileFromResultTile"]>]> {
  let summary = "channels from states: concatenated, normalised, written";
  let description = [{
    Each channel of the list finishes its row: a weighted sum times its factor,
    a key copied by position, or a scalar; the row is normalised. Channels find
    their state in the sweeps' list `of`, by equality, and that of the reduce
    sweep in another list, `reduced`, where it is not all of it. Results: the signals
    `[B, Tq, S]`, the norm `[B, Tq]`, the copies' positions `[B, Tq, N]` and,
    where a gradient will need them, the saved log-sums `[B, Tq, L]`.

    Constraints:
    * C1: every entry of the lists is a channel, every channel of the first list
      stands in the second, and what keeps something in a reduce state in
      `reduced`; the weighted channels of `reduced`, where it has any, are those of
      the second list in its order, that of the sums.
    * C2: the states and sums have the shapes that the second list demands, the
      reduce state that which `reduced` demands; tau `[]` and gammas `[n]` are of
      their type, n being static and enough for the channels.
    * C3: table `[V, D]`, ids `[B, T]`; outs `[B, Tq, S]`, `[B, Tq]`,
      `[B, Tq, N]` of i32; results have the types of the outs.
    * C4: log-sums stand on both sides or on none, `[B, Tq, L]` with L as the
      first list demands.
  }];
  let arguments = (ins AnyRankedTensor:$score_floats,
    AnyRankedTensor:$score_positions, AnyRankedTensor:$reduce_floats,
    AnyRankedTensor:$reduce_positions, AnyRankedTensor:$sums,
    AnyRankedTensor:$table, AnyRankedTensor:$ids, AnyRankedTensor:$tau,
    AnyRankedTensor:$gammas, Index:$row, AnyRankedTensor:$signals_in,
    AnyRankedTensor:$norm_in, AnyRankedTensor:$indices_in,
    Optional<AnyRankedTensor>:$log_sums_in,
    Optional<AnyRankedTensor>:$lengths, ArrayAttr:$channels, ArrayAttr:$sweep_channels,
    OptionalAttr<ArrayAttr>:$reduce_channels,
    DefaultValuedAttr<RT_DecayOriginAttr, "DecayOrigin::SequenceEnd">:$decay_origin);
  let results = (outs AnyRankedTensor:$signals, AnyRankedTensor:$norm,
    AnyRankedTensor:$indices, Optional<AnyRankedTensor>:$log_sums);
  let assemblyFormat = [{
    $channels `of` $sweep_channels (`reduced` $reduce_channels^)?
    `score` `(` $score_floats `,` $score_positions `:` type($score_floats) `,`
    type($score_positions) `)`
    `reduce` `(` $reduce_floats `,` $reduce_positions `,` $sums `:`
    type($reduce_floats) `,` type($reduce_positions) `,` type($sums) `)`
    `lookup` `(` $table `[` $ids `]` `:` type($table) `,` type($ids) `)`
    `tau` `(` $tau `:` type($tau) `)` `gammas` `(` $gammas `:` type($gammas) `)`
    `at` `(` $row `)` (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    `outs` `(` $signals_in `,` $norm_in `,` $indices_in `:` type($signals_in)
    `,` type($norm_in) `,` type($indices_in) `)`
    (`log_sums` `(` $log_sums_in^ `:` type($log_sums_in) `)`)? attr-dict
    (`->` type($log_sums)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable();
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

#endif // RAYTENTION_SWEEPOPS_TD
