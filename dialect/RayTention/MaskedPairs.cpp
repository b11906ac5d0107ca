//===- MaskedPairs.cpp - ops on pairs of rows and keys ------ ---*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/MaskedPairs.h"

#include "dialect/RayTention/RayTentionMaskedPairs.cpp.inc"
