//===- Literals.cpp - constants in C++ ------------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/CudaCpp/Literals.h"
#include "codegen/CudaCpp/Types.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"

#include <charconv>

using namespace mlir;
using namespace raytention;

static std::string makeInteger(const APInt &value) {
  if (value.getBitWidth() == 1)
    return value.isZero() ? "false" : "true";
  // C++ has no negative literals: the least value is out of reach of a minus.
  if (value.isMinSignedValue() && value.getBitWidth() >= 32) {
    std::string next = llvm::toString(value + 1, 10, /*Signed=*/true);
    return next + (value.getBitWidth() == 64 ? "ll - 1" : " - 1");
  }
  return llvm::toString(value, 10, /*Signed=*/true);
}

static std::string makeHex(const APInt &bits) {
  return "0x" + llvm::toString(bits, 16, /*Signed=*/false, false,
                               /*UpperCase=*/false);
}

/// NVRTC has no INFINITY, and a NaN has bits of its own.
static std::string makeSpecial(const APFloat &value) {
  std::string bits = makeHex(value.bitcastToAPInt());
  std::string cast = APFloat::getSizeInBits(value.getSemantics()) == 32
                         ? "__int_as_float(" + bits + ")"
                         : "__longlong_as_double(" + bits + "ll)";
  if (value.isNaN())
    return cast + " /* nan */";
  return cast + (value.isNegative() ? " /* -inf */" : " /* inf */");
}

template <class Float> static std::string makeDecimal(Float value) {
  char digits[40];
  auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
  std::string text(digits, end);
  if (StringRef(text).find_first_of(".e") == StringRef::npos)
    text += ".0";
  return text;
}

static std::string makeFloat(const APFloat &value) {
  if (!value.isFinite())
    return makeSpecial(value);
  if (APFloat::getSizeInBits(value.getSemantics()) == 32)
    return makeDecimal(value.convertToFloat()) + "f";
  return makeDecimal(value.convertToDouble());
}

std::string cuda::makeLiteral(Attribute attribute) {
  auto typed = dyn_cast<TypedAttr>(attribute);
  if (!typed || getCType(typed.getType()).empty())
    return "";
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    return makeInteger(integer.getValue());
  auto real = dyn_cast<FloatAttr>(attribute);
  if (!real)
    return "";
  if (real.getType().isBF16())
    return "rt::bf16{" + makeHex(real.getValue().bitcastToAPInt()) + "}";
  return makeFloat(real.getValue());
}
