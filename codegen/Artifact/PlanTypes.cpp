//===- PlanTypes.cpp - types of IR as a plan knows them -------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Artifact/PlanTypes.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace raytention;
using plan::ElementType;

static std::optional<ElementType> getElementType(Type type) {
  if (type.isIndex())
    return ElementType::Index;
  if (type.isF32())
    return ElementType::F32;
  if (type.isF64())
    return ElementType::F64;
  if (type.isBF16())
    return ElementType::BF16;
  if (!type.isSignlessInteger())
    return std::nullopt;
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return ElementType::I1;
  case 8:
    return ElementType::I8;
  case 32:
    return ElementType::I32;
  case 64:
    return ElementType::I64;
  default:
    return std::nullopt;
  }
}

std::optional<plan::Type> raytention::getPlanType(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  auto element = getElementType(memref ? memref.getElementType() : type);
  if (!element)
    return std::nullopt;
  plan::Type result;
  result.element = *element;
  if (!memref)
    return result;
  if (!memref.getLayout().isIdentity() || memref.getMemorySpace() ||
      *element == ElementType::I1)
    return std::nullopt;
  result.isBuffer = true;
  for (int64_t size : memref.getShape())
    result.shape.push_back(ShapedType::isDynamic(size) ? plan::kDynamic : size);
  return result;
}

bool raytention::isParameterType(const plan::Type &type) {
  return type.isBuffer ||
         (type.element != ElementType::I1 && type.element != ElementType::I8 &&
          type.element != ElementType::BF16);
}

bool raytention::isIntegerType(const plan::Type &type) {
  return !type.isBuffer && type.element <= ElementType::Index;
}
