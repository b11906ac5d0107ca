//===- Passes.td - the reference lowering ------------------*- tablegen -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_PASSES_DECOMPOSE_PASSES_TD
#define RAYTENTION_PASSES_DECOMPOSE_PASSES_TD

include "mlir/Pass/PassBase.td"

def DecomposePass : Pass<"rt-decompose", "::mlir::func::FuncOp"> {
  let summary = "rt.attend in reference ops";
  let description = [{
    Before: `rt.attend` on tensors. After: `rt.lookup`, `rt.distance` and
    `rt.softmax`, each channel's own reference form, the channels concatenated
    by `tensor.insert_slice`, `rt.normalize`, and the saved results. Every
    intermediate is a tensor of its own: what a faster lowering is checked
    against.
  }];
  let dependentDialects = [
    "::raytention::RayTentionDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numAttends", "num-attends", "attentions decomposed">,
    Statistic<"numChannels", "num-channels", "channels decomposed">];
}

def ToLinalgPass : Pass<"rt-to-linalg", "::mlir::func::FuncOp"> {
  let summary = "reference ops in linalg, tensor, arith and math";
  let description = [{
    Before: the reference ops `rt.lookup`, `rt.distance`, `rt.softmax`,
    `rt.decay`, `rt.reduce`, `rt.arg_select`, `rt.normalize`, `rt.scatter_add`.
    After: one `linalg.generic` per step, gathers by `tensor.extract`, scatters
    as loops in order, and no op of the rt dialect; any other rt op is an error that names it. Sums run in the ops'
    float type, in order of position.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numLowered", "num-lowered", "reference ops lowered">];
}

#endif // RAYTENTION_PASSES_DECOMPOSE_PASSES_TD
