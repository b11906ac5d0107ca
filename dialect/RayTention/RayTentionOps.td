//===- RayTentionOps.td - all ops of the rt dialect ------*- tablegen -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_OPS_TD
#define RAYTENTION_OPS_TD

include "AttendOp.td"
include "ReferenceOps.td"
include "SweepOps.td"
include "GradientOps.td"
include "FoldOps.td"

#endif // RAYTENTION_OPS_TD
