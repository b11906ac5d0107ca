//===- CudaPipeline.h - the stages down to kernels and their plan -*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_CODEGEN_PIPELINES_CUDAPIPELINE_H
#define RAYTENTION_CODEGEN_PIPELINES_CUDAPIPELINE_H

#include "codegen/Pipelines/CpuPipeline.h"

namespace raytention {

/// Kernels for a device: "sweeps", "products", "tiled", "kernels" (ops on tiles
/// in buffers, a kernel per parallel loop), "plan" (element code in kernels,
/// and a host function that launches them). A stage verifies what it is given.
llvm::ArrayRef<PipelineStage> getCudaStages();

/// All of them: `--rt-cuda`.
void buildCudaPipeline(mlir::OpPassManager &pm);

} // namespace raytention

#endif // RAYTENTION_CODEGEN_PIPELINES_CUDAPIPELINE_H
