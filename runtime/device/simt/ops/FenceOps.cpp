//===- FenceOps.cpp - fences between blocks and between proxies -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/ops/Ops.h"

using namespace llvm;
using namespace raytention::simt;

static void fence(Warp &warp, const Instruction &at, Mask lanes) {
  if (warp.block->worker->checks)
    fenceWarp(warp, lanes, !at.isNarrow);
}

/// What the warp has seen and what these lanes did may be relied on by async
/// operations that come later.
static void fenceProxy(Warp &warp, const Instruction &, Mask lanes) {
  Block &block = *warp.block;
  Clock &clock = block.clocks[warp.index];
  WarpTime own;
  own.joinLanes(block.now, lanes);
  clock.proxied.join(clock.seen, block.warps.size());
  clock.proxied.warps[warp.index].join(own);
  ++block.now;
}

static void fenceInit(Warp &warp, const Instruction &, Mask lanes) {
  for (auto &[address, object] : warp.block->mbarriers.live)
    if (object.initThread / kLanes == warp.index &&
        (lanes >> object.initThread % kLanes & 1))
      object.initFenced = true;
}

void raytention::simt::takeScope(Form &form, bool required) {
  static const StringRef scopes[] = {"gpu", "sys", "cta", "cluster"};
  StringRef scope = required ? form.ignoresOne(scopes) : form.ignores(scopes);
  form.code.isNarrow = scope == "cta" || scope == "cluster";
}

static void buildMemoryBarrier(Form &form) {
  form.code.isNarrow = form.oneOf({"cta", "gl", "sys"}) == 0;
  form.code.run = &fence;
}

static void buildFence(Form &form) {
  if (form.has("proxy")) {
    form.oneOf({"async"});
    form.ignores({"global", "shared::cta", "shared::cluster"});
    form.code.run = &fenceProxy;
    return;
  }
  if (form.has("mbarrier_init")) {
    form.oneOf({"release"});
    form.oneOf({"cluster"});
    form.code.run = &fenceInit;
    return;
  }
  form.ignores({"acq_rel", "sc", "acquire", "release"});
  form.code.isNarrow = form.oneOf({"gpu", "sys", "cta", "cluster"}) >= 2;
  form.code.run = &fence;
}

void raytention::simt::addFenceOps(BuilderTable &table) {
  table["membar"] = &buildMemoryBarrier;
  table["fence"] = &buildFence;
}
