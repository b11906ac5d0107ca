//===- ToLinalgPatterns.h - lowerings of the reference ops ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_PASSES_DECOMPOSE_TOLINALGPATTERNS_H
#define RAYTENTION_PASSES_DECOMPOSE_TOLINALGPATTERNS_H

namespace mlir {
class RewritePatternSet;
}

namespace raytention {

/// rt.lookup and rt.distance.
void populateKeysToLinalg(mlir::RewritePatternSet &patterns);
/// rt.softmax and rt.decay.
void populateWeightsToLinalg(mlir::RewritePatternSet &patterns);
/// rt.reduce and rt.normalize.
void populateRowsToLinalg(mlir::RewritePatternSet &patterns);
/// rt.arg_select.
void populateSelectToLinalg(mlir::RewritePatternSet &patterns);
/// rt.scatter_add.
void populateScatterToLinalg(mlir::RewritePatternSet &patterns);

} // namespace raytention

#endif // RAYTENTION_PASSES_DECOMPOSE_TOLINALGPATTERNS_H
