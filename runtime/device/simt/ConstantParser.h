//===- ConstantParser.h - constant expressions of PTX -----------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_DEVICE_SIMT_CONSTANTPARSER_H
#define RAYTENTION_RUNTIME_DEVICE_SIMT_CONSTANTPARSER_H

#include "runtime/device/simt/TokenCursor.h"

namespace raytention::simt {

/// Integers of 64 bits, WARP_SZ and what C makes of them: of .s64, or of .u64
/// where an operand is.
class ConstantParser : public TokenCursor {
public:
  using TokenCursor::TokenCursor;

  bool startsConstant() const;
  /// The bits; `what` it is that is missing where there is none.
  uint64_t constant(llvm::StringRef what);

private:
  struct Value {
    uint64_t bits = 0;
    bool isUnsigned = false;
    int64_t asSigned() const { return static_cast<int64_t>(bits); }
  };
  Value choice(llvm::StringRef what, unsigned depth);
  Value binary(llvm::StringRef what, unsigned least, unsigned depth);
  Value unary(llvm::StringRef what, unsigned depth);
  Value inParentheses(llvm::StringRef what, unsigned depth);
  llvm::StringRef peekOperator() const;
  Value apply(llvm::StringRef op, Value a, Value b);
};

} // namespace raytention::simt

#endif // RAYTENTION_RUNTIME_DEVICE_SIMT_CONSTANTPARSER_H
