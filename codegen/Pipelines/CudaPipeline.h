//===- CudaPipeline.h - from rt.attend to a plan ----------------*- C++ -*-===//
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

/// For devices that run CUDA C++: "sweeps", "tiled". No plan comes out yet.
llvm::ArrayRef<PipelineStage> getCudaStages();

} // namespace raytention

#endif // RAYTENTION_CODEGEN_PIPELINES_CUDAPIPELINE_H
