//===- ControlOps.cpp - branches and ends -----------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/ops/Ops.h"

using namespace llvm;
using namespace raytention::simt;

static void buildBranch(Form &form) {
  form.ignores({"uni"});
  form.code.flow = Flow::Branch;
  form.label();
}

static void buildIndexedBranch(Form &form) {
  form.oneOf({"idx"});
  form.ignores({"uni"});
  form.code.flow = Flow::IndexedBranch;
  form.source(Type::U32);
  form.shape("targets");
  const Operand *list = form.takeOperand();
  if (list && !form.kernel.findTargets(list->name, form.code.target))
    form.fail("expected a list of targets, got '" + list->name + "'");
}

static void buildExit(Form &form) { form.code.flow = Flow::Exit; }

static void buildReturn(Form &form) {
  form.ignores({"uni"});
  buildExit(form);
}

static void buildTrap(Form &form) { form.code.flow = Flow::Trap; }

static void buildSleep(Form &form) {
  form.oneOf({"u32"});
  form.source(Type::U32);
  form.code.flow = Flow::Sleep;
}

void raytention::simt::addControlOps(BuilderTable &table) {
  table["bra"] = &buildBranch;
  table["brx"] = &buildIndexedBranch;
  table["exit"] = &buildExit;
  table["ret"] = &buildReturn;
  table["trap"] = &buildTrap;
  table["brkpt"] = &buildTrap;
  table["nanosleep"] = &buildSleep;
}
