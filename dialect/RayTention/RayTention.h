//===- RayTention.h - the rt dialect ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_DIALECT_RAYTENTION_H
#define RAYTENTION_DIALECT_RAYTENTION_H

#include "dialect/RayTention/Channel.h"
#include "dialect/RayTention/MaskedPairs.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "llvm/ADT/StringMap.h"

namespace raytention {
// Upstream's interface declarations name these without a namespace.
using mlir::Attribute;
using mlir::Location;
using mlir::MergeResult;
using mlir::ReductionTilingStrategy;
using mlir::SmallVector;
using mlir::TilingResult;
using mlir::Value;
using mlir::ValueRange;
} // namespace raytention

#include "dialect/RayTention/RayTentionDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/RayTention/RayTentionAttrs.h.inc"

#define GET_OP_CLASSES
#include "dialect/RayTention/RayTentionOps.h.inc"

namespace raytention {
/// The mask that stands on an op; causal where none does.
MaskInterface getMaskOrCausal(mlir::MLIRContext *context, mlir::Attribute mask);
} // namespace raytention

#endif // RAYTENTION_DIALECT_RAYTENTION_H
