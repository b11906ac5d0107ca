//===- RayTile.h - the rt_tile dialect ----------------------------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_DIALECT_RAYTILE_RAYTILE_H
#define RAYTENTION_DIALECT_RAYTILE_RAYTILE_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialect/RayTile/RayTileDialect.h.inc"

#define GET_OP_CLASSES
#include "dialect/RayTile/RayTileOps.h.inc"

#endif // RAYTENTION_DIALECT_RAYTILE_RAYTILE_H
