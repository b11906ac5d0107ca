//===- Operands.cpp - values where the text reads them --------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/CudaCpp/Operands.h"
#include "codegen/CudaCpp/Literals.h"
#include "codegen/CudaCpp/Types.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace raytention;
using namespace raytention::cuda;

/// A literal, or "" where `value` is not constant.
static std::string literalOf(Value value) {
  Attribute attribute;
  if (matchPattern(value, m_Constant(&attribute)))
    return makeLiteral(attribute);
  return "";
}

bool Operands::isLiteral(Value value) const {
  // A name starts with a letter; so does a literal made of bits.
  std::string text = whole(value);
  return llvm::isDigit(text.front()) || text.front() == '-';
}

std::string Operands::whole(Value value) const {
  std::string literal = literalOf(value);
  if (!literal.empty())
    return literal;
  if (auto dim = value.getDefiningOp<memref::DimOp>())
    return dimension(dim.getSource(), *dim.getConstantIndex());
  return names.of(value).str();
}

std::string Operands::atom(Value value) const {
  std::string text = whole(value);
  return text.front() == '-' ? "(" + text + ")" : text;
}

std::string Operands::typed(Value value) const {
  std::string text = whole(value);
  if (!isLiteral(value))
    return text;
  if (value.getType().isInteger(8))
    return "(signed char)" + atom(value);
  // The least value has its suffix already.
  bool lacksSuffix = isWide(value.getType()) && text.find("ll") == text.npos;
  return lacksSuffix ? text + "ll" : text;
}

std::string Operands::asUnsigned(Value value) const {
  return "(" + getUnsignedCType(value.getType()).str() + ")" + atom(value);
}

std::string Operands::pointer(Value memref) const {
  while (auto cast = memref.getDefiningOp<memref::CastOp>())
    memref = cast.getSource();
  return names.of(memref).str();
}

std::string Operands::dimension(Value memref, unsigned dim) const {
  auto type = cast<MemRefType>(memref.getType());
  if (!type.isDynamicDim(dim))
    return std::to_string(type.getDimSize(dim));
  if (auto cast = memref.getDefiningOp<memref::CastOp>())
    return dimension(cast.getSource(), dim);
  if (auto view = memref.getDefiningOp<memref::ViewOp>())
    return atom(view.getSizes()[type.getDynamicDimIndex(dim)]);
  return names.ofDimension(memref, dim).str();
}
