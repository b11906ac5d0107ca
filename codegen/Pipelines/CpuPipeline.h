//===- CpuPipeline.h - from rt.attend to code for the CPU -------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_CODEGEN_PIPELINES_CPUPIPELINE_H
#define RAYTENTION_CODEGEN_PIPELINES_CPUPIPELINE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace mlir {
class OpPassManager;
}

namespace raytention {

/// One step of a pipeline: what it is called and how it is built.
struct PipelineStage {
  llvm::StringRef name;
  void (*build)(mlir::OpPassManager &pm);
};

/// Streaming: "sweeps", "products", "tiled", "cpu" (tasks and entry points on
/// buffers), "llvm". A stage verifies what it is given.
llvm::ArrayRef<PipelineStage> getCpuStages();
/// The same after "gradient", which differentiates the attention.
llvm::ArrayRef<PipelineStage> getCpuGradientStages();
/// Materialising: "reference" (loops on buffers), "cpu", "llvm".
llvm::ArrayRef<PipelineStage> getReferenceStages();

/// All stages of the streaming pipeline: `--rt-cpu`.
void buildCpuPipeline(mlir::OpPassManager &pm);

} // namespace raytention

#endif // RAYTENTION_CODEGEN_PIPELINES_CPUPIPELINE_H
