//===- Types.cpp - types of the IR in C++ ---------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/CudaCpp/Types.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace raytention;

unsigned cuda::getIntegerBits(Type type) {
  return type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
}

bool cuda::isWide(Type type) { return type.isIndex() || type.isInteger(64); }

StringRef cuda::getCType(Type type) {
  if (type.isIndex())
    return "long long";
  if (type.isBF16())
    return "rt::bf16";
  if (type.isF32())
    return "float";
  if (type.isF64())
    return "double";
  if (!type.isSignlessInteger())
    return "";
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return "bool";
  case 8:
    return "signed char";
  case 32:
    return "int";
  case 64:
    return "long long";
  default:
    return "";
  }
}

StringRef cuda::getUnsignedCType(Type type) {
  if (!type.isSignlessInteger() && !type.isIndex())
    return "";
  switch (getIntegerBits(type)) {
  case 1:
    return "bool";
  case 8:
    return "unsigned char";
  case 32:
    return "unsigned";
  case 64:
    return "unsigned long long";
  default:
    return "";
  }
}

bool cuda::isElementType(Type type) {
  return !type.isInteger(1) && !getCType(type).empty();
}

int64_t cuda::getElementBytes(Type type) {
  return type.isIndex() ? 8 : type.getIntOrFloatBitWidth() / 8;
}

static bool isSupportedSpace(Attribute space) {
  // One in number form is somebody else's convention.
  return !space || isa<gpu::AddressSpaceAttr>(space);
}

LogicalResult cuda::checkMemRef(Operation *op, Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref)
    return op->emitOpError("expected a ranked memref, got ") << type;
  if (!memref.getLayout().isIdentity())
    return op->emitOpError("expected the identity layout, got ") << memref;
  if (!isElementType(memref.getElementType()))
    return op->emitOpError("expected elements of i8, i32, i64, index, bf16, "
                           "f32 or f64, got ")
           << memref;
  if (!isSupportedSpace(memref.getMemorySpace()))
    return op->emitOpError("expected no memory space or one of "
                           "#gpu.address_space, got ")
           << memref;
  return success();
}
