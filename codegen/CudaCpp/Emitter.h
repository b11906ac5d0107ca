//===- Emitter.h - ops as statements ----------------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_CODEGEN_CUDACPP_EMITTER_H
#define RAYTENTION_CODEGEN_CUDACPP_EMITTER_H

#include "codegen/CudaCpp/Operands.h"

#include "mlir/Support/IndentedOstream.h"

namespace raytention::cuda {

/// Prints the ops of a kernel one by one. An op without a form is an error at
/// that op.
class Emitter {
public:
  Emitter(const Names &names, llvm::raw_ostream &os)
      : operands(names), os(os) {}

  mlir::LogicalResult emitBlock(mlir::Block &block);
  mlir::LogicalResult emit(mlir::Operation *op);
  /// `type name = expression;`
  void define(mlir::Value result, const llvm::Twine &expression);

  Operands operands;
  mlir::raw_indented_ostream os;
};

/// The value of an op of arith or math, read from its operands.
mlir::FailureOr<std::string> makeArith(const Operands &operands,
                                       mlir::Operation *op);
mlir::FailureOr<std::string> makeArithCast(const Operands &operands,
                                           mlir::Operation *op);
mlir::FailureOr<std::string> makeMath(const Operands &operands,
                                      mlir::Operation *op);

mlir::LogicalResult emitScf(Emitter &emitter, mlir::Operation *op);
mlir::LogicalResult emitMemRef(Emitter &emitter, mlir::Operation *op);
mlir::LogicalResult emitGpu(Emitter &emitter, mlir::Operation *op);

/// Says at `op` that it has no form in CUDA C++.
mlir::InFlightDiagnostic refuse(mlir::Operation *op);

} // namespace raytention::cuda

#endif // RAYTENTION_CODEGEN_CUDACPP_EMITTER_H
