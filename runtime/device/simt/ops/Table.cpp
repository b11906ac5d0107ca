//===- Table.cpp - families of opcodes --------------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/ops/Ops.h"

using namespace llvm;
using namespace raytention::simt;

static BuilderTable makeTable() {
  BuilderTable table;
  addIntegerOps(table);
  addCarryOps(table);
  addBitOps(table);
  addFloatOps(table);
  addFunctionOps(table);
  addCompareOps(table);
  addConvertOps(table);
  addMoveOps(table);
  addMemoryOps(table);
  addAtomicOps(table);
  addAsyncOps(table);
  addCollectiveOps(table);
  addMatrixOps(table);
  addWarpgroupOps(table);
  addControlOps(table);
  addFenceOps(table);
  addMbarrierOps(table);
  addHintOps(table);
  addClusterOps(table);
  return table;
}

const BuilderTable &raytention::simt::allBuilders() {
  static const BuilderTable table = makeTable();
  return table;
}
