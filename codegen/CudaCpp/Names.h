//===- Names.h - names of values in the text --------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_CODEGEN_CUDACPP_NAMES_H
#define RAYTENTION_CODEGEN_CUDACPP_NAMES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

#include "llvm/ADT/DenseMap.h"

#include <string>

namespace raytention::cuda {

/// The names of a kernel's values: from the location where that has a name
/// (NameLoc), else from what the op is; unlike each other wherever both are
/// visible, and free in C++. Constants and what only renames (memref.dim,
/// memref.cast) have none.
class Names {
public:
  static Names choose(mlir::gpu::GPUFuncOp kernel);

  llvm::StringRef of(mlir::Value value) const;
  /// The parameter that holds a dynamic dimension of a memref argument.
  llvm::StringRef ofDimension(mlir::Value memref, unsigned dim) const;
  /// Where an iteration variable's next value waits until all are known.
  llvm::StringRef ofNext(mlir::BlockArgument variable) const;

private:
  friend class NameChooser;
  llvm::DenseMap<mlir::Value, std::string> values, next;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, std::string> dimensions;
};

} // namespace raytention::cuda

#endif // RAYTENTION_CODEGEN_CUDACPP_NAMES_H
