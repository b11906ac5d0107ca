//===- OperandParser.h - operands of PTX instructions --------------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_DEVICE_SIMT_OPERANDPARSER_H
#define RAYTENTION_RUNTIME_DEVICE_SIMT_OPERANDPARSER_H

#include "runtime/device/simt/ConstantParser.h"

namespace raytention::simt {

/// Registers, numbers, addresses, vectors and pairs.
class OperandParser : public ConstantParser {
public:
  using ConstantParser::ConstantParser;

  /// All operands of a statement, up to its end.
  void operands(Statement &s);
  Operand operand(unsigned depth);

private:
  Operand single(unsigned depth);
  Operand list(llvm::StringRef close, unsigned depth);
  Operand address(unsigned depth);
  Operand number();
  Operand hexFloat(Operand::Kind kind, llvm::StringRef digits);
  Operand decimal();

  bool isCall = false; ///< parentheses hold a list
};

} // namespace raytention::simt

#endif // RAYTENTION_RUNTIME_DEVICE_SIMT_OPERANDPARSER_H
