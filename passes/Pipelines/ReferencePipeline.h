//===- ReferencePipeline.h - tensors to loops -------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_PASSES_PIPELINES_REFERENCEPIPELINE_H
#define RAYTENTION_PASSES_PIPELINES_REFERENCEPIPELINE_H

namespace mlir {
class OpPassManager;
}

namespace raytention {

/// From rt.attend to loops over buffers: plain and materialising. A function's
/// tensor results become buffers that the caller provides, after its other
/// arguments; every intermediate is allocated and freed by the function.
void buildReferencePipeline(mlir::OpPassManager &pm);

/// The same with a function @NAME_backward beside each @NAME, differentiated
/// op by op from the decomposed forward.
void buildReferenceGradientPipeline(mlir::OpPassManager &pm);

} // namespace raytention

#endif // RAYTENTION_PASSES_PIPELINES_REFERENCEPIPELINE_H
