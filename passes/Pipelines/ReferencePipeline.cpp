//===- ReferencePipeline.cpp - tensors to loops -----------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Pipelines/ReferencePipeline.h"
#include "passes/Decompose/Passes.h"
#include "passes/Differentiate/Passes.h"
#include "passes/Pipelines/Passes.h"

#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace raytention;

static void simplify(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

/// Tensors to buffers; results to buffers of the caller, written in place where
/// the function would have allocated and returned them.
static void bufferize(OpPassManager &pm) {
  pm.addPass(bufferization::createEmptyTensorEliminationPass());
  bufferization::OneShotBufferizePassOptions oneShot;
  oneShot.bufferizeFunctionBoundaries = true;
  oneShot.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(oneShot));
  simplify(pm);
  bufferization::BufferResultsToOutParamsPassOptions outParams;
  outParams.hoistStaticAllocs = true;
  outParams.hoistDynamicAllocs = true;
  outParams.modifyPublicFunctions = true;
  pm.addPass(bufferization::createBufferResultsToOutParamsPass(outParams));
  bufferization::buildBufferDeallocationPipeline(pm);
  simplify(pm);
  // Each buffer goes as soon as it is dead: a reference of T keys would
  // otherwise hold all its T x T tensors at once.
  pm.addNestedPass<func::FuncOp>(
      bufferization::createOptimizeAllocationLivenessPass());
}

/// From reference ops to loops over buffers.
static void buildLoops(OpPassManager &pm) {
  pm.addPass(createVerifyStagePass("reference"));
  pm.addNestedPass<func::FuncOp>(createToLinalgPass());
  pm.addPass(createVerifyStagePass("linalg"));
  // Without CSE: reductions that share one tensor of zeros would copy it.
  pm.addPass(createCanonicalizerPass());
  bufferize(pm);
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  simplify(pm);
}

void raytention::buildReferencePipeline(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createDecomposePass());
  buildLoops(pm);
}

void raytention::buildReferenceGradientPipeline(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createDecomposePass());
  pm.addPass(createDifferentiatePass());
  buildLoops(pm);
}
