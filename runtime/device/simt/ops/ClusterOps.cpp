//===- ClusterOps.cpp - addresses and barriers of a cluster -----*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every block is a cluster of its own: its rank is 0, and what it has in shared
// memory is all the cluster has.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/ops/Ops.h"

using namespace llvm;
using namespace raytention::simt;

template <class T>
static void mapAddress(Warp &warp, const Instruction &at, Mask lanes) {
  T *d = warp.reg<T>(at.op[0]);
  const T *a = warp.reg<T>(at.op[1]);
  const uint32_t *rank = warp.reg<uint32_t>(at.op[2]);
  forEachLane(lanes, [&](unsigned lane) {
    d[lane] = a[lane];
    if (rank[lane])
      warp.block->worker->report(
          FindingKind::OutOfBounds, warp, warp.pc, lane, 0, [&] {
            return "expected rank 0 of a cluster of one block, got " +
                   std::to_string(rank[lane]);
          });
  });
}

static void rankOf(Warp &warp, const Instruction &at, Mask lanes) {
  uint32_t *d = warp.reg<uint32_t>(at.op[0]);
  forEachLane(lanes, [&](unsigned lane) { d[lane] = 0; });
}

static void buildMapAddress(Form &form) {
  form.ignores({"shared::cluster"});
  Type type = form.type({Type::U32, Type::U64});
  form.dest(type);
  form.source(type);
  form.source(Type::U32);
  form.code.run =
      type == Type::U32 ? &mapAddress<uint32_t> : &mapAddress<uint64_t>;
}

static void buildRank(Form &form) {
  form.ignores({"shared::cluster"});
  Type type = form.type({Type::U32, Type::U64});
  form.dest(Type::U32);
  form.source(type);
  form.code.run = &rankOf;
}

void raytention::simt::buildClusterBarrier(Form &form) {
  if (form.oneOf({"arrive", "wait"}) == 0) {
    form.code.flow = Flow::Barrier;
    form.code.form = static_cast<uint8_t>(BarrierForm::ClusterArrive);
    form.code.releases = form.maybe({"release", "relaxed"}, 0) == 0;
  } else {
    form.code.flow = Flow::ClusterWait;
    form.ignores({"acquire"});
  }
  form.code.aligned = form.has("aligned");
}

void raytention::simt::addClusterOps(BuilderTable &table) {
  table["mapa"] = &buildMapAddress;
  table["getctarank"] = &buildRank;
}
