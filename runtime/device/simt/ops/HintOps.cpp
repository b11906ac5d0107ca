//===- HintOps.cpp - what a GPU takes as advice -----------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Caches are not modelled, and no grid runs beside another.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/ops/Ops.h"

using namespace llvm;
using namespace raytention::simt;

static void nothing(Warp &, const Instruction &, Mask) {}

static void buildPrefetch(Form &form) {
  unsigned space = form.maybe({"global", "local", "param", "const"}, 4);
  if (space == 0)
    form.ignoresOne({"L1", "L2", "L2::evict_last", "L2::evict_normal"});
  else if (space == 1)
    form.ignoresOne({"L1", "L2"});
  else if (space < 4)
    form.oneOf({"tensormap"});
  else
    form.ignoresOne({"L1", "L2", "tensormap"});
  form.address();
  form.code.run = &nothing;
}

/// A policy is opaque, and only handed on.
static void makePolicy(Warp &warp, const Instruction &at, Mask lanes) {
  uint64_t *d = warp.reg<uint64_t>(at.op[0]);
  forEachLane(lanes, [&](unsigned lane) { d[lane] = 0; });
}

static void buildPolicy(Form &form) {
  form.oneOf({"fractional"});
  form.ignoresOne({"L2::evict_last", "L2::evict_normal", "L2::evict_first",
                   "L2::evict_unchanged"});
  form.oneOf({"b64"});
  form.dest(Type::B64);
  if (form.either(form.operandsLeft()))
    form.source(Type::F32);
  form.code.run = &makePolicy;
}

static void buildGridControl(Form &form) {
  form.ignoresOne({"launch_dependents", "wait"});
  form.code.run = &nothing;
}

void raytention::simt::addHintOps(BuilderTable &table) {
  table["prefetch"] = &buildPrefetch;
  table["createpolicy"] = &buildPolicy;
  table["griddepcontrol"] = &buildGridControl;
}
