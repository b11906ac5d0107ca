//===- ShapeChecker.h - named sizes for verifiers ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_DIALECT_SHAPECHECKER_H
#define RAYTENTION_DIALECT_SHAPECHECKER_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringMap.h"

namespace raytention {

/// Checks tensors of one op against shapes written with names, [B, Tq, D]:
/// equal names are equal sizes wherever both are static. A name in lower case,
/// [n], is of a static size.
class ShapeChecker {
public:
  explicit ShapeChecker(mlir::Operation *op) : op(op) {}

  /// Fixes a named size before the tensors are checked.
  void bind(llvm::StringRef name, int64_t size) { sizes[name] = size; }
  /// The size bound to a name, or ShapedType::kDynamic.
  int64_t getSize(llvm::StringRef name) const;

  /// An error tagged with `constraint` unless `value` has the rank and sizes
  /// of `dims` and, where given, the element type. A null value passes.
  llvm::LogicalResult check(llvm::StringRef constraint, llvm::StringRef what,
                            mlir::Value value,
                            llvm::ArrayRef<llvm::StringRef> dims,
                            mlir::Type element = {});

private:
  mlir::Operation *op;
  llvm::StringMap<int64_t> sizes;
};

/// The element type of keys or queries that are computed with in `element`:
/// that, or their own where they are stored in bf16 and computed with in f32.
mlir::Type getStoredType(mlir::Value rows, mlir::Type element);

/// C1 of the sweeps: every entry is a channel.
llvm::LogicalResult verifyChannelList(mlir::Operation *op,
                                      llvm::StringRef constraint,
                                      mlir::ArrayAttr channels);
/// Every channel of the list fits the gammas `[n]`.
llvm::LogicalResult verifyGammas(mlir::Operation *op,
                                 llvm::StringRef constraint,
                                 mlir::ArrayAttr channels, mlir::Value gammas);
/// The mask is absent or causal; others are named as not supported yet.
llvm::LogicalResult verifyMask(mlir::Operation *op, llvm::StringRef constraint,
                               mlir::Attribute mask);

} // namespace raytention

#endif // RAYTENTION_DIALECT_SHAPECHECKER_H
