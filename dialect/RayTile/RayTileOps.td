//===- RayTileOps.td - the rt_tile dialect -*- tablegen -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTILE_OPS_TD
#define RAYTILE_OPS_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def RayTile_Dialect : Dialect {
  let name = "rt_tile";
  let cppNamespace = "::raytention::tile";
  let summary = "tiles of an attention in buffers";
  let description = [{
    What upstream has no op for between tiles as tensors and code on buffers.
  }];
}

class RTT_Op<string mnemonic, list<Trait> traits = []>
    : Op<RayTile_Dialect, mnemonic, traits>;

def RTT_ComputeOp : RTT_Op<"compute", [AttrSizedOperandSegments,
    SingleBlock,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "one op on tensors, with buffers for its operands and results";
  let description = [{
    Bufferization decides where the operands and results of an op stand; this op
    says it. The body has one op on tensors and yields its results. Its block
    arguments stand for the contents of the buffers when the op begins, first
    those of `ins`, then those of `outs`; what it yields is what the buffers of
    `outs` contain when it ends. Sizes and positions come from around it.

    Constraints:
    * C1: one block argument per buffer, a tensor of its shape and element type.
    * C2: the body is one op and a yield of all of its results, one per buffer
      of `outs`, with the types of their block arguments.
    * C3: tensors that the op reads are block arguments.
    * C4: a result that starts from an operand starts from what is in its own
      buffer.

    ```mlir
    rt_tile.compute ins(%d : memref<1x?x?xf32>) outs(%m : memref<1x?x4xf32>) {
    ^bb0(%td: tensor<1x?x?xf32>, %tm: tensor<1x?x4xf32>):
      %r = ... ins(%td) outs(%tm)
      rt_tile.yield %r : tensor<1x?x4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyStridedMemRef>:$inputs,
                       Variadic<AnyStridedMemRef>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    (`ins` `(` $inputs^ `:` type($inputs) `)`)?
    `outs` `(` $outputs `:` type($outputs) `)` $body attr-dict
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The op on tensors.
    ::mlir::Operation *getOp() { return &getBody().front().front(); }
    /// The buffer that an operand of the op stands for.
    ::mlir::Value getBuffer(::mlir::Value operand);
    /// The buffer of one of its results.
    ::mlir::Value getResultBuffer(unsigned number) {
      return getOutputs()[number];
    }
  }];
}

def RTT_YieldOp : RTT_Op<"yield", [Pure, ReturnLike, Terminator,
    HasParent<"ComputeOp">]> {
  let summary = "what the buffers contain in the end";
  let arguments = (ins Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = "($results^ `:` type($results))? attr-dict";
}

#endif // RAYTILE_OPS_TD
