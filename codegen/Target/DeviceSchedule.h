//===- DeviceSchedule.h - how a device runs an attention by default -*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_CODEGEN_TARGET_DEVICESCHEDULE_H
#define RAYTENTION_CODEGEN_TARGET_DEVICESCHEDULE_H

#include "dialect/RayTention/RayTention.h"

namespace raytention {

/// What the schedule of an attention on a device depends on.
struct DeviceProblem {
  mlir::ArrayAttr channels;
  int64_t dModel;
  int64_t elementBytes; ///< of the accumulators
  /// Keys of a sequence, and the bytes that a plan may allocate; 0: not known.
  int64_t numKeys = 0, workspaceCap = 0;
};

/// The family `fused` up to D = 128, `stored` above.
Family getDefaultFamily(const DeviceProblem &problem);

/// Tiles of a family that fit the shared memory of a block on every device;
/// the smallest ones where none fit. In `stored` as many rows at a time as the
/// workspace cap lets one sequence of `numKeys` have, at least a tile.
ScheduleAttr getDefaultSchedule(const DeviceProblem &problem, Family family);

} // namespace raytention

#endif // RAYTENTION_CODEGEN_TARGET_DEVICESCHEDULE_H
