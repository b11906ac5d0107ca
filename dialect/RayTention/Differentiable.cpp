//===- Differentiable.cpp - ops with a derivative rule ----------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/Differentiable.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace raytention;

#include "dialect/RayTention/RayTentionOpInterfaces.cpp.inc"

Type raytention::getAdjointType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto element = dyn_cast<FloatType>(tensor ? tensor.getElementType() : type);
  if (!element)
    return {};
  if (element.getWidth() < 32)
    element = Float32Type::get(type.getContext());
  return tensor ? Type(tensor.clone(element)) : element;
}
