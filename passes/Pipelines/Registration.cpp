//===- Registration.cpp - dialects, passes and pipelines --------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Pipelines/Registration.h"
#include "dialect/RayTention/RayTention.h"
#include "passes/Fuse/Passes.h"
#include "passes/Pipelines/Passes.h"
#include "passes/Pipelines/SweepPipeline.h"
#include "passes/Sweep/Passes.h"
#include "passes/Tile/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void raytention::registerDialects(DialectRegistry &registry) {
  registry.insert<RayTentionDialect, affine::AffineDialect, arith::ArithDialect,
                  bufferization::BufferizationDialect,
                  cf::ControlFlowDialect, func::FuncDialect,
                  linalg::LinalgDialect, LLVM::LLVMDialect, math::MathDialect,
                  memref::MemRefDialect, scf::SCFDialect,
                  tensor::TensorDialect, vector::VectorDialect>();
}

void raytention::registerPasses() {
  registerCanonicalizerPass();
  registerCSEPass();
  registerSweepPasses();
  registerTilePasses();
  registerFusePasses();
  registerPipelinesPasses();
  registerStreamPipeline();
}
