//===- MaskedPairs.h - ops on pairs of rows and keys --------- ---*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_DIALECT_MASKEDPAIRS_H
#define RAYTENTION_DIALECT_MASKEDPAIRS_H

#include "mlir/IR/OpDefinition.h"

#include "dialect/RayTention/RayTentionMaskedPairs.h.inc"

#endif // RAYTENTION_DIALECT_MASKEDPAIRS_H
