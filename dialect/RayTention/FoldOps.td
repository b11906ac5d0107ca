//===- FoldOps.td - from positions to tokens ------*- tablegen -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_FOLDOPS_TD
#define RAYTENTION_FOLDOPS_TD

include "RayTentionDialect.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def RT_DistinctOp : RT_Op<"distinct", [Pure]> {
  let summary = "the distinct tokens of each sequence";
  let description = [{
    The tokens of `ids [B, T]`, below `vocab`, in order of first occurrence:
    `slots [B, T]` has the place of each position's token in that order,
    `tokens [B, T]` the tokens in it, and behind them valid ids; `seen [T]` how
    many there are among the positions up to one, in the sequence of the batch
    that has most.

    Constraints:
    * C1: ids are `[B, T]` of i32 or i64, as the tokens; slots `[B, T]` and seen
      `[T]` of i32.

    ```mlir
    %slots, %tokens, %seen = rt.distinct %ids of %vocab
      : tensor<?x?xi64> -> tensor<?x?xi32>, tensor<?x?xi64>, tensor<?xi32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$ids, Index:$vocab);
  let results = (outs AnyRankedTensor:$slots, AnyRankedTensor:$tokens,
    AnyRankedTensor:$seen);
  let assemblyFormat = [{
    $ids `of` $vocab attr-dict `:` type($ids) `->` type($slots) `,`
    type($tokens) `,` type($seen)
  }];
  let hasVerifier = 1;
}

def RT_FoldKeysOp : RT_Op<"fold_keys", [Pure, DestinationStyleOpInterface,
    AllTypesMatch<["positions_in", "positions"]>,
    AllTypesMatch<["masses_in", "masses"]>]> {
  let summary = "adds positions to the keys of a list";
  let description = [{
    Adds the positions `[begin, end)` of each sequence, as far as it is long, to
    the keys of a list (see rt.score_sweep): to the one at its slot. Over no
    positions, positions are -1 and masses 0. Spans follow each other: what is
    added lies behind what is there.

    Constraints:
    * C1: every entry of the list, that of a score state, is a channel; gammas
      `[n]` are of the masses' type, n being static and enough for the channels.
    * C2: slots are `[B, T]` of i32, positions `[B, K, U]` of i32 with K as the
      list demands, masses `[B, M, U]` of f32 or f64 with M as it demands;
      lengths `[B]` of i64.

    ```mlir
    %p1, %m1 = rt.fold_keys [#rt.decay<backward, 0>] ins(%slots, %g : tensor<?x?xi32>, tensor<1xf32>)
      from %begin to %end outs(%p0, %m0 : tensor<?x2x?xi32>, tensor<?x2x?xf32>)
    ```
  }];
  let arguments = (ins AnyRankedTensor:$slots, AnyRankedTensor:$gammas,
    Index:$begin, Index:$end, AnyRankedTensor:$positions_in,
    AnyRankedTensor:$masses_in, Optional<AnyRankedTensor>:$lengths,
    ArrayAttr:$channels);
  let results = (outs AnyRankedTensor:$positions, AnyRankedTensor:$masses);
  let assemblyFormat = [{
    $channels `ins` `(` $slots `,` $gammas `:` type($slots) `,` type($gammas) `)`
    `from` $begin `to` $end (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    `outs` `(` $positions_in `,` $masses_in `:` type($positions_in) `,`
    type($masses_in) `)` attr-dict
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable();
  }];
  let hasVerifier = 1;
}

#endif // RAYTENTION_FOLDOPS_TD
