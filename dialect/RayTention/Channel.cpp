//===- Channel.cpp - the channel and mask interfaces ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/RayTention.h"

using namespace mlir;

#include "dialect/RayTention/RayTentionEnums.cpp.inc"

#include "dialect/RayTention/RayTentionAttrInterfaces.cpp.inc"
