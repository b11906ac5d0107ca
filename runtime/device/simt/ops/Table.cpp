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
  return table;
}

Builder raytention::simt::findBuilder(StringRef family) {
  static const BuilderTable table = makeTable();
  auto found = table.find(family);
  return found == table.end() ? nullptr : found->second;
}

Type raytention::simt::lastType(const Form &form) {
  return parseType(form.statement.name.rsplit('.').second);
}
