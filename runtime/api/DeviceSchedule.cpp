//===- DeviceSchedule.cpp - the schedule of kernels -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/api/DeviceSchedule.h"
#include "codegen/Target/DeviceSchedule.h"

#include <limits>

using namespace mlir;
using namespace raytention;

static llvm::Error checkWanted(const Schedule &wanted, Family family) {
  if (wanted.splitKeys > 1)
    return llvm::createStringError(
        "expected one key range on a device, got split keys " +
        llvm::Twine(wanted.splitKeys));
  if (family == Family::Fused && wanted.scores == Schedule::Scores::Keep)
    return llvm::createStringError("expected scores auto or recompute in "
                                   "family fused on a device, got keep");
  if (family == Family::Stored && wanted.scores == Schedule::Scores::Recompute)
    return llvm::createStringError(
        "expected scores auto or keep in family stored, got recompute");
  if (family == Family::Fused && wanted.queryChunk)
    return llvm::createStringError(
        "expected no query chunk in family fused, got " +
        llvm::Twine(wanted.queryChunk));
  if (wanted.queryChunk < 0 ||
      wanted.queryChunk > std::numeric_limits<int32_t>::max())
    return llvm::createStringError("expected a query chunk in [0, 2147483647], "
                                   "got " +
                                   llvm::Twine(wanted.queryChunk));
  for (int64_t size : {wanted.queryTile, wanted.keyChunk})
    if (size < 0 || size > 1024)
      return llvm::createStringError("expected a query tile and a key chunk in "
                                     "[0, 1024] on a device, got " +
                                     llvm::Twine(size));
  return llvm::Error::success();
}

static Family getFamily(const DeviceProblem &problem, const Schedule &wanted) {
  if (wanted.family == Schedule::Family::Auto)
    return getDefaultFamily(problem);
  return wanted.family == Schedule::Family::Fused ? Family::Fused
                                                  : Family::Stored;
}

llvm::Expected<ScheduleAttr>
raytention::chooseDeviceSchedule(ArrayAttr channels, const AttentionSpec &spec,
                                 const CompileOptions &options,
                                 int64_t numKeys) {
  const Schedule &wanted = options.schedule;
  DeviceProblem problem{channels, spec.dModel, spec.dtype == DType::F64 ? 8 : 4,
                        numKeys, options.workspaceCap};
  Family family = getFamily(problem, wanted);
  if (llvm::Error error = checkWanted(wanted, family))
    return error;
  ScheduleAttr chosen = getDefaultSchedule(problem, family);
  return ScheduleAttr::get(
      channels.getContext(),
      wanted.queryTile ? wanted.queryTile : chosen.getQueryTile(),
      wanted.keyChunk ? wanted.keyChunk : chosen.getKeyChunk(),
      chosen.getSplitKeys(), chosen.getScores(), family, chosen.getThreads(),
      wanted.queryChunk ? wanted.queryChunk : chosen.getQueryChunk());
}
