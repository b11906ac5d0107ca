//===- RayTentionInterfaces.td - channel and mask interfaces -*- tablegen -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_INTERFACES_TD
#define RAYTENTION_INTERFACES_TD

include "mlir/IR/OpBase.td"

def RT_ChannelInterface : AttrInterface<"ChannelInterface"> {
  let cppNamespace = "::raytention";
  let description = [{
    One output channel of an attention, complete in one attribute: how the
    reference computes it, which state it keeps per row while keys stream by,
    how one key adds to it, how two states over disjoint key sets merge, and how
    it finishes. Nothing outside a channel's own file knows which channels
    exist; passes and code generators call this interface only.

    Element-wise code is emitted through an `ElementBuilder`, on scalars or on
    vectors of rows alike: the same channel serves a GPU thread and a CPU lane.
  }];
  let methods = [
    InterfaceMethod<"Spelling in the IR and on the command line.",
      "::llvm::StringRef", "getMnemonic">,
    InterfaceMethod<"Prints the parameters with their brackets, or nothing.",
      "void", "printParameters", (ins "::mlir::AsmPrinter &":$printer)>,
    InterfaceMethod<"Checks the channel against the attention it stands in.",
      "::llvm::LogicalResult", "verifyChannel",
      (ins "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError,
           "int64_t":$numGammas), [{}], [{ return ::mlir::success(); }]>,
    InterfaceMethod<[{How the output is formed: a weighted sum of keys, a copy
      of one key, or a scalar.}], "::raytention::ChannelForm", "getForm">,
    InterfaceMethod<[{Scalar form: how large the value may be where no distance
      passes `distance` and no score `score`, for the domain of inputs; 0 where
      no input makes it large.}],
      "long double", "getLargestValue",
      (ins "long double":$distance, "long double":$score,
           "long double":$tau), [{}], [{ return 0; }]>,
    InterfaceMethod<[{The same channel in a cheaper form, given the decay bases
      that are compile-time constants (unset where unknown).}],
      "::mlir::Attribute", "simplify",
      (ins "::llvm::ArrayRef<std::optional<double>>":$gammas), [{}],
      [{ return $_attr; }]>,
    InterfaceMethod<"The channel in reference-level ops.",
      "::raytention::DecomposedChannel", "decompose",
      (ins "const ::raytention::DecomposeContext &":$context)>,
    InterfaceMethod<[{Weighted form: adds the channel's own log factor to a log
      weight `value` of a pair, z minus the row's largest.}],
      "::mlir::Value", "addLogFactor",
      (ins "::raytention::ElementBuilder &":$b,
           "const ::raytention::PairValues &":$pair,
           "const ::raytention::ParameterValues &":$params,
           "::mlir::Value":$value), [{}], [{ return value; }]>,
    InterfaceMethod<[{Weighted form: whether the weights are normalised by a
      log-sum of their own instead of the softmax's.}],
      "bool", "hasOwnLogSum", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{Weighted form: the gamma of whose powers the own log factor
      consists, or -1.}],
      "int64_t", "getBase", (ins), [{}], [{ return -1; }]>,
    InterfaceMethod<"Per-row state of the score sweep, with initial values.",
      "::llvm::SmallVector<::raytention::StateField>", "getScoreState", (ins),
      [{}], [{ return {}; }]>,
    InterfaceMethod<[{Of how many positions of one key the score state can keep
      something.}], "int64_t", "getNumPositions", (ins), [{}],
      [{ return 1; }]>,
    InterfaceMethod<[{Own log-sum: the mass of a key with one position more,
      behind all others, `first` and `last` being those before it (i32; its own
      where there is none yet, with a mass of 0).}],
      "::mlir::Value", "addPosition",
      (ins "::raytention::ElementBuilder &":$b, "::mlir::Value":$mass,
           "const ::raytention::PositionValues &":$positions,
           "const ::raytention::ParameterValues &":$params), [{}],
      [{ return b.add(mass, b.constant(1)); }]>,
    InterfaceMethod<[{What one key adds to the score state. Keys come in any
      order; `pair.score` is minus infinity where masked.}],
      "::llvm::SmallVector<::mlir::Value>", "updateScore",
      (ins "::raytention::ElementBuilder &":$b,
           "const ::raytention::PairValues &":$pair,
           "const ::raytention::ParameterValues &":$params,
           "::mlir::ValueRange":$state), [{}], [{ return {}; }]>,
    InterfaceMethod<"Merges the states of two sets of keys, whatever they are.",
      "::llvm::SmallVector<::mlir::Value>", "mergeScore",
      (ins "::raytention::ElementBuilder &":$b, "::mlir::ValueRange":$first,
           "::mlir::ValueRange":$second), [{}], [{ return {}; }]>,
    InterfaceMethod<"Per-row state of the reduce sweep, with initial values.",
      "::llvm::SmallVector<::raytention::StateField>", "getReduceState", (ins),
      [{}], [{ return {}; }]>,
    InterfaceMethod<[{What one key adds to the reduce state; `pair.weight`,
      `pair.logWeight` and `pair.mass` are set, and final: sums take the mass,
      thresholds the weight.}],
      "::llvm::SmallVector<::mlir::Value>", "updateReduce",
      (ins "::raytention::ElementBuilder &":$b,
           "const ::raytention::PairValues &":$pair,
           "const ::raytention::ParameterValues &":$params,
           "::mlir::ValueRange":$state), [{}], [{ return {}; }]>,
    InterfaceMethod<"Merges two reduce states.",
      "::llvm::SmallVector<::mlir::Value>", "mergeReduce",
      (ins "::raytention::ElementBuilder &":$b, "::mlir::ValueRange":$first,
           "::mlir::ValueRange":$second), [{}], [{ return {}; }]>,
    InterfaceMethod<[{Finishes a row. Weighted: the factor of the normalised
      sum of keys. Copy: the position of the copied key. Scalar: the value.}],
      "::mlir::Value", "finish",
      (ins "::raytention::ElementBuilder &":$b,
           "const ::raytention::RowValues &":$row,
           "const ::raytention::ParameterValues &":$params)>,
    InterfaceMethod<[{What the gradient needs of a row beside the value and the
      log-sums: floats that the forward pass saves.}],
      "::llvm::SmallVector<::raytention::StateField>", "getSavedState", (ins),
      [{}], [{ return {}; }]>,
    InterfaceMethod<"The saved floats of a finished row.",
      "::llvm::SmallVector<::mlir::Value>", "finishSaved",
      (ins "::raytention::ElementBuilder &":$b,
           "const ::raytention::RowValues &":$row,
           "const ::raytention::ParameterValues &":$params), [{}],
      [{ return {}; }]>,
    InterfaceMethod<[{Gradient, before the keys: what the row hands to its
      pairs. Copies hand on nothing.}],
      "::raytention::RowGradient", "prepareGradient",
      (ins "::raytention::ElementBuilder &":$b,
           "const ::raytention::GradientRow &":$row,
           "const ::raytention::ParameterValues &":$params), [{}],
      [{ return {}; }]>,
    InterfaceMethod<[{Scalar form: whether what pairs add to the derivative by
      the distance, past the score, is in proportion to tau.}],
      "bool", "isScaledByTau", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<"Scalar form: what one pair adds to the derivatives.",
      "::raytention::PairGradient", "getPairGradient",
      (ins "::raytention::ElementBuilder &":$b,
           "const ::raytention::GradientPair &":$pair,
           "const ::raytention::ParameterValues &":$params), [{}],
      [{ return {}; }]>,
    InterfaceMethod<"Per-row sums for the gradients of parameters.",
      "::llvm::SmallVector<::raytention::StateField>", "getGradientState",
      (ins), [{}], [{ return {}; }]>,
    InterfaceMethod<"What one key adds to them.",
      "::llvm::SmallVector<::mlir::Value>", "updateGradient",
      (ins "::raytention::ElementBuilder &":$b,
           "const ::raytention::GradientPair &":$pair,
           "const ::raytention::ParameterValues &":$params,
           "::mlir::ValueRange":$state), [{}], [{ return {}; }]>,
    InterfaceMethod<"A row's part in the gradients of tau and a gamma.",
      "::raytention::ParameterGradient", "finishGradient",
      (ins "::raytention::ElementBuilder &":$b,
           "const ::raytention::GradientRow &":$row,
           "const ::raytention::ParameterValues &":$params,
           "::mlir::ValueRange":$state), [{}], [{ return {}; }]>,
  ];
}

def RT_MaskInterface : AttrInterface<"MaskInterface"> {
  let cppNamespace = "::raytention";
  let description = [{
    Which keys a query sees. A pass asks for the range that a tile of rows can
    see; generated code asks per element inside that range.
  }];
  let methods = [
    InterfaceMethod<[{One past the last key that any of `rows` rows from
      position `firstRow` sees, out of `numKeys` (all of type index).}],
      "::mlir::Value", "getVisibleEnd",
      (ins "::mlir::OpBuilder &":$b, "::mlir::Location":$loc,
           "::mlir::Value":$firstRow, "::mlir::Value":$rows,
           "::mlir::Value":$numKeys)>,
    InterfaceMethod<[{The first of the rows from position `firstRow` on that
      sees a key from `firstKey` on, counted from `firstRow` (type index).}],
      "::mlir::Value", "getSeeingBegin",
      (ins "::mlir::OpBuilder &":$b, "::mlir::Location":$loc,
           "::mlir::Value":$firstRow, "::mlir::Value":$firstKey)>,
    InterfaceMethod<"Whether the row at `row` sees the key at `key`.",
      "::mlir::Value", "isVisible",
      (ins "::raytention::ElementBuilder &":$b, "::mlir::Value":$row,
           "::mlir::Value":$key)>,
  ];
}

#endif // RAYTENTION_INTERFACES_TD
