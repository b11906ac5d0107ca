//===- Operands.h - values where the text reads them ------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_CODEGEN_CUDACPP_OPERANDS_H
#define RAYTENTION_CODEGEN_CUDACPP_OPERANDS_H

#include "codegen/CudaCpp/Names.h"

namespace raytention::cuda {

/// Values as text: a name, or a literal where the value is constant. The
/// values' ops have been printed, so that they have a form.
class Operands {
public:
  explicit Operands(const Names &names) : names(names) {}

  const Names &getNames() const { return names; }

  /// Whether the text is a number: also the size of a static dimension.
  bool isLiteral(mlir::Value value) const;

  /// Where any expression may stand.
  std::string whole(mlir::Value value) const;
  /// Beside an operator: a literal with a sign is in parentheses.
  std::string atom(mlir::Value value) const;
  /// Where the literal's own type matters, as in a call: 64 bits have `ll`,
  /// i8 is cast.
  std::string typed(mlir::Value value) const;
  /// `value` as the unsigned type of its width.
  std::string asUnsigned(mlir::Value value) const;

  /// The pointer behind a memref.
  std::string pointer(mlir::Value memref) const;
  /// A size of a memref: an atom.
  std::string dimension(mlir::Value memref, unsigned dim) const;

private:
  const Names &names;
};

} // namespace raytention::cuda

#endif // RAYTENTION_CODEGEN_CUDACPP_OPERANDS_H
