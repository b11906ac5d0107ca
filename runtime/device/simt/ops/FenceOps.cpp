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

/// Of the block's scope it orders warps only.
static void fence(Warp &warp, const Instruction &at, Mask lanes) {
  if (!warp.block->worker->checks)
    return;
  fenceWarp(warp, lanes);
  if (at.form)
    publish(*warp.block);
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

static void buildMemoryBarrier(Form &form) {
  form.code.form = form.oneOf({"cta", "gl", "sys"});
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
  form.code.form = form.oneOf({"cta", "gpu", "sys", "cluster"});
  form.code.run = &fence;
}

void raytention::simt::addFenceOps(BuilderTable &table) {
  table["membar"] = &buildMemoryBarrier;
  table["fence"] = &buildFence;
}
