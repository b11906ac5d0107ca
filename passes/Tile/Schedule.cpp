//===- Schedule.cpp - what the tiling passes read -------------*- C++ -*-===//
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Schedule.h"

using namespace mlir;
using namespace raytention;

FailureOr<ScheduleAttr> raytention::getSchedule(func::FuncOp func) {
  Attribute attr = func->getAttr("rt.schedule");
  if (!attr)
    return ScheduleAttr::get(func.getContext(), /*queryTile=*/32,
                             /*keyChunk=*/192, /*splitKeys=*/1,
                             ScorePlan::Keep);
  if (auto schedule = dyn_cast<ScheduleAttr>(attr))
    return schedule;
  return func.emitOpError()
         << "expected rt.schedule to be #rt.schedule, got " << attr;
}

bool raytention::isFused(func::FuncOp func) {
  auto schedule = func->getAttrOfType<ScheduleAttr>("rt.schedule");
  return !schedule || schedule.getFamily() == Family::Fused;
}

FailureOr<int64_t> raytention::chooseSize(func::FuncOp func, StringRef option,
                                          int64_t given,
                                          int64_t (ScheduleAttr::*scheduled)()
                                              const) {
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  if (given < 0)
    return func.emitOpError()
           << "expected a positive " << option << ", got " << given;
  if (given > most)
    return func.emitOpError() << "expected a " << option << " of at most "
                              << most << ", got " << given;
  if (given > 0)
    return given;
  FailureOr<ScheduleAttr> schedule = getSchedule(func);
  if (failed(schedule))
    return failure();
  return ((*schedule).*scheduled)();
}
