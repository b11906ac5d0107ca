//===- MaskedPairs.td - ops on pairs of rows and keys ------*- tablegen -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_MASKEDPAIRS_TD
#define RAYTENTION_MASKEDPAIRS_TD

include "mlir/IR/OpBase.td"

def RT_MaskedPairsOpInterface : OpInterface<"MaskedPairsOpInterface"> {
  let cppNamespace = "::raytention";
  let description = [{
    An op on all pairs of rows and keys that knows which rows see which keys: it
    adds nothing for other pairs, or gives 0. Whoever tiles it may leave them
    out.
  }];
  let methods = [
    InterfaceMethod<"The pairs' distances, `[B, Tq, T]`.", "::mlir::Value",
                    "getDistances">,
    InterfaceMethod<"Position of local row 0 (type index).", "::mlir::Value",
                    "getRow">,
    InterfaceMethod<"Position of local key 0 (type index).", "::mlir::Value",
                    "getKey">,
    InterfaceMethod<"Tokens of each sequence, `[B]` of i64; null: all keys.",
                    "::mlir::Value", "getLengths">,
    InterfaceMethod<[{Positions of keys that stand in a list, `[B, K, T]`; null:
      from `getKey()` on, one behind the other.}], "::mlir::Value",
                    "getKeyPositions", (ins), [{}],
                    [{ return ::mlir::Value(); }]>,
    InterfaceMethod<"Makes every sequence as long as there are keys.", "void",
                    "dropLengths", (ins), [{}],
                    [{ $_op.getLengthsMutable().clear(); }]>,
    InterfaceMethod<"The mask; null: causal.", "::mlir::Attribute",
                    "getMaskAttr">,
  ];
}

#endif // RAYTENTION_MASKEDPAIRS_TD
