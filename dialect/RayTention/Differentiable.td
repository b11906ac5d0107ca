//===- Differentiable.td - ops with a derivative rule ------*- tablegen -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_DIFFERENTIABLE_TD
#define RAYTENTION_DIFFERENTIABLE_TD

include "mlir/IR/OpBase.td"

def RT_DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::raytention";
  let description = [{
    An op that knows its own derivative: from the adjoints of its results, the
    adjoints of its operands. With `y = f(x)` and a scalar `L` behind y, the
    adjoint of y is `dL/dy` and the rule gives `dL/dx = (df/dx)^T dL/dy`.

    An adjoint has the shape of its value and the accumulator's element type:
    f32 for bf16 and f16, else the value's own. Rules are external models where
    the op belongs to another dialect or its rule needs ops that the dialect
    does not; nothing that differentiates knows which ops exist.
  }];
  let methods = [
    InterfaceMethod<[{The adjoint of each operand, null where none flows
      (integers, destinations, constants by nature). The rule runs outside of
      the function that holds the op: it may read the op's attributes and types,
      but of values only `operands` and `results`, which stand for the op's own
      there. An entry of `resultAdjoints` is null where none arrives; at least
      one is set. Fails after an error at the op.}],
      "::llvm::FailureOr<::llvm::SmallVector<::mlir::Value>>", "buildAdjoints",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands,
           "::mlir::ValueRange":$results,
           "::mlir::ValueRange":$resultAdjoints)>,
    InterfaceMethod<[{Called once before differentiation, inside the forward
      function: the op may replace itself by a form that also yields what its
      rule reads. Gives the values that the function must return besides those
      it does, so that they are handed to the backward function instead of
      being computed again.}],
      "::llvm::SmallVector<::mlir::Value>", "prepareForward",
      (ins "::mlir::RewriterBase &":$rewriter), [{}], [{ return {}; }]>,
  ];
}

#endif // RAYTENTION_DIFFERENTIABLE_TD
