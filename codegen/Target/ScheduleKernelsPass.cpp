//===- ScheduleKernelsPass.cpp - a device's schedule where there is none -*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Target/DeviceSchedule.h"
#include "codegen/Target/Passes.h"

#include "mlir/IR/TypeUtilities.h"

namespace raytention {
#define GEN_PASS_DEF_SCHEDULEKERNELSPASS
#include "codegen/Target/Passes.h.inc"
} // namespace raytention

using namespace mlir;
using namespace raytention;

static DeviceProblem getProblem(AttendOp op) {
  auto queries = cast<RankedTensorType>(op.getQueries().getType());
  bool isDouble = getElementTypeOrSelf(op.getSignals().getType()).isF64();
  return {op.getChannels(), queries.getDimSize(2), isDouble ? 8 : 4};
}

namespace {

struct ScheduleKernelsPass
    : public raytention::impl::ScheduleKernelsPassBase<ScheduleKernelsPass> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func->hasAttr("rt.schedule"))
      return;
    AttendOp first;
    func.walk([&](AttendOp op) {
      first = op;
      return WalkResult::interrupt();
    });
    if (!first)
      return;
    DeviceProblem problem = getProblem(first);
    func->setAttr("rt.schedule",
                  getDefaultSchedule(problem, getDefaultFamily(problem)));
    ++numScheduled;
  }
};

} // namespace
