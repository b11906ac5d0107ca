//===- Math.cpp - math in C++ ---------------------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/CudaCpp/Emitter.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace raytention;
using namespace raytention::cuda;

/// CUDA's function of f64 with the same meaning; that of f32 has an `f` behind.
static StringRef functionOf(Operation *op) {
  return llvm::StringSwitch<StringRef>(op->getName().getStringRef())
      .Case("math.absf", "fabs")
      .Case("math.ceil", "ceil")
      .Case("math.exp", "exp")
      .Case("math.exp2", "exp2")
      .Case("math.floor", "floor")
      .Case("math.fma", "fma")
      .Case("math.log", "log")
      .Case("math.log2", "log2")
      .Case("math.rsqrt", "rsqrt")
      .Case("math.sqrt", "sqrt")
      .Case("math.tanh", "tanh")
      .Default("");
}

FailureOr<std::string> cuda::makeMath(const Operands &operands, Operation *op) {
  StringRef function = functionOf(op);
  if (function.empty())
    return refuse(op);
  std::string text = function.str();
  text += op->getResult(0).getType().isF32() ? "f(" : "(";
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    text += (i ? ", " : "") + operands.whole(operand);
  return text + ")";
}
