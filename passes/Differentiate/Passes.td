//===- Passes.td - reverse-mode differentiation ------------*- tablegen -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_PASSES_DIFFERENTIATE_PASSES_TD
#define RAYTENTION_PASSES_DIFFERENTIATE_PASSES_TD

include "mlir/Pass/PassBase.td"

def DifferentiatePass : Pass<"rt-differentiate", "::mlir::ModuleOp"> {
  let summary = "a backward function beside each function";
  let description = [{
    For each public function of one block whose first result is a tensor of
    floats and that holds a differentiable op of the rt dialect, adds

        @NAME_backward(arguments of NAME, results of NAME, adjoint of result 0)
          -> (adjoints of the arguments that are tensors of floats, in order)

    Every op's derivative is its own rule (`DifferentiableOpInterface`); adjoints
    of several uses are added; an argument that nothing depends on gets zeros.
    A forward value that the function returns is read from the arguments, any
    other that a rule needs is computed again. Before that, ops may ask that the
    function returns more. Adjoints of bf16 are f32.

    Before:
    ```mlir
    func.func @f(%table: tensor<?x8xbf16>, %ids: tensor<1x?xi32>) -> tensor<1x?x8xf32> {
      %k = rt.lookup %table[%ids] : tensor<?x8xbf16>, tensor<1x?xi32> -> tensor<1x?x8xf32>
      return %k : tensor<1x?x8xf32>
    }
    ```
    After, in addition:
    ```mlir
    func.func @f_backward(%table: tensor<?x8xbf16>, %ids: tensor<1x?xi32>,
        %k: tensor<1x?x8xf32>, %dk: tensor<1x?x8xf32>) -> tensor<?x8xf32> {
      %zeros = linalg.fill ...
      %dtable = rt.scatter_add %dk into %zeros[%ids] : ...
      return %dtable : tensor<?x8xf32>
    }
    ```

    Errors: an op without a rule between an argument and the first result;
    control flow; a function @NAME_backward that exists; a call of a function
    whose results would change.
  }];
  let dependentDialects = [
    "::raytention::RayTentionDialect", "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
  let options = [Option<"function", "function", "std::string", "\"\"",
    "name of the one function to differentiate; empty: all that qualify">];
  let statistics = [
    Statistic<"numFunctions", "functions", "backward functions added">,
    Statistic<"numRules", "rules", "derivative rules applied">,
    Statistic<"numRecomputed", "recomputed",
      "forward ops that backward functions compute again">,
    Statistic<"numResiduals", "residuals",
      "results that forward functions return in addition">];
}

#endif // RAYTENTION_PASSES_DIFFERENTIATE_PASSES_TD
