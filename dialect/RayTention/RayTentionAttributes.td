//===- RayTentionAttributes.td - attributes of the rt dialect -*- tablegen -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_ATTRIBUTES_TD
#define RAYTENTION_ATTRIBUTES_TD

include "RayTentionDialect.td"
include "RayTentionInterfaces.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class RT_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::raytention";
  let genSpecializedAttr = 0;
}
class RT_EnumAttr<I32EnumAttr info, string mnemonic>
    : EnumAttr<RayTention_Dialect, info, mnemonic> {
  let assemblyFormat = "`<` $value `>`";
}

def RT_Metric : RT_Enum<"Metric", "what a distance is", [
  I32EnumAttrCase<"SqL2", 0, "sq_l2">, I32EnumAttrCase<"L2", 1, "l2">,
  I32EnumAttrCase<"Dot", 2, "dot">]>;
def RT_MetricAttr : RT_EnumAttr<RT_Metric, "metric">;

def RT_DecayOrigin : RT_Enum<"DecayOrigin", "where backward decays count from", [
  I32EnumAttrCase<"SequenceEnd", 0, "sequence_end">,
  I32EnumAttrCase<"Query", 1, "query">]>;
def RT_DecayOriginAttr : RT_EnumAttr<RT_DecayOrigin, "decay_origin">;

def RT_Saved : RT_Enum<"Saved", "a per-row value handed on beside the signals", [
  I32EnumAttrCase<"Norm", 0, "norm">, I32EnumAttrCase<"Indices", 1, "indices">,
  I32EnumAttrCase<"LogSums", 2, "log_sums">]>;
def RT_SavedAttr : RT_EnumAttr<RT_Saved, "saved">;

def RT_Direction : RT_Enum<"Direction", "which way a decay falls off", [
  I32EnumAttrCase<"Forward", 0, "forward">,
  I32EnumAttrCase<"Backward", 1, "backward">]>;
def RT_DirectionAttr : RT_EnumAttr<RT_Direction, "direction">;

def RT_Precision : RT_Enum<"Precision", "how distances are computed", [
  I32EnumAttrCase<"Fast", 0, "fast">, I32EnumAttrCase<"Exact", 1, "exact">]>;
def RT_PrecisionAttr : RT_EnumAttr<RT_Precision, "precision">;

def RT_Order : RT_Enum<"Order", "which end of the scores is selected", [
  I32EnumAttrCase<"Largest", 0, "largest">,
  I32EnumAttrCase<"Smallest", 1, "smallest">,
  I32EnumAttrCase<"Last", 2, "last">]>;
def RT_OrderAttr : RT_EnumAttr<RT_Order, "order">;

def RT_SweepKind : RT_Enum<"SweepKind", "which of the two sweeps", [
  I32EnumAttrCase<"Score", 0, "score">, I32EnumAttrCase<"Reduce", 1, "reduce">]>;
def RT_SweepKindAttr : RT_EnumAttr<RT_SweepKind, "sweep">;

def RT_PairSide : RT_Enum<"PairSide", "whose gradient is summed: the items of a task",
  [I32EnumAttrCase<"Query", 0, "query">, I32EnumAttrCase<"Key", 1, "key">]>;
def RT_PairSideAttr : RT_EnumAttr<RT_PairSide, "side">;

def RT_ScorePlan : RT_Enum<"ScorePlan", "what the reduce sweep reads", [
  I32EnumAttrCase<"Keep", 0, "keep">,
  I32EnumAttrCase<"Recompute", 1, "recompute">]>;

def RT_Family : RT_Enum<"Family", "the loop nest of an attention", [
  I32EnumAttrCase<"Fused", 0, "fused">, I32EnumAttrCase<"Stored", 1, "stored">]>;
def RT_FamilyParameter : EnumParameter<RT_Family> {
  let defaultValue = "::raytention::Family::Fused";
}

class RT_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<RayTention_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def RT_CausalAttr : RT_Attr<"Causal", "causal",
    [DeclareAttrInterfaceMethods<RT_MaskInterface>]> {
  let summary = "a query sees the keys up to its own position";
}

def RT_WindowAttr : RT_Attr<"Window", "window"> {
  let summary = "a query sees the last `size` keys; not supported yet";
  let parameters = (ins "int64_t":$size);
  let assemblyFormat = "`<` $size `>`";
}

def RT_ScheduleAttr : RT_Attr<"Schedule", "schedule"> {
  let summary = "how an attention is cut: tile, chunk, split, kept scores";
  let description = [{
    Rows per query tile, keys per chunk, independent key ranges, and whether the
    scores of a query tile are kept between the sweeps or recomputed. In the
    family `fused` one loop over query tiles does everything for its rows; in
    `stored` each op is a kernel of its own, and what passes between them
    stands in global memory. `threads` is the size of a kernel's block; the CPU
    does not read it. `query_chunk` is of `stored`: a loop on the host runs the
    kernels for as many rows at a time, which bounds what stands in global
    memory; 0 is all rows at once. With `fold_chunk` the attention is folded onto
    the vocabulary that many rows at a time (--rt-fold-vocabulary); 0 is position
    by position. Other sizes are 1 to 2147483647. Stands on
    the function as `rt.schedule`; the tiling passes read it where their own
    options are not given.

    ```mlir
    #rt.schedule<query_tile = 32, key_chunk = 192, split_keys = 1, scores = keep>
    ```
  }];
  let parameters = (ins "int64_t":$query_tile, "int64_t":$key_chunk,
                        "int64_t":$split_keys,
                        EnumParameter<RT_ScorePlan>:$scores,
                        RT_FamilyParameter:$family,
                        DefaultValuedParameter<"int64_t", "128">:$threads,
                        DefaultValuedParameter<"int64_t", "0">:$query_chunk,
                        DefaultValuedParameter<"int64_t", "0">:$fold_chunk);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let builders = [AttrBuilder<(ins "int64_t":$query_tile,
    "int64_t":$key_chunk, "int64_t":$split_keys, "ScorePlan":$scores), [{
      return $_get($_ctxt, query_tile, key_chunk, split_keys, scores,
                   Family::Fused, /*threads=*/128, /*query_chunk=*/0,
                   /*fold_chunk=*/0);
    }]>];
}

#endif // RAYTENTION_ATTRIBUTES_TD
