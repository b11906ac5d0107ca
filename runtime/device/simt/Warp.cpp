//===- Warp.cpp - fragments of a warp, one instruction at a time --*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/Machine.h"

#include <algorithm>

using namespace raytention::simt;

void raytention::simt::tickWarp(Warp &warp) {
  Block &block = *warp.block;
  block.clocks[warp.index].seen.warps[warp.index] = {block.now++, 0, 0};
}

bool raytention::simt::hasReady(const Warp &warp) {
  return std::any_of(
      warp.fragments.begin(), warp.fragments.end(),
      [](const Fragment &f) { return f.state == Fragment::Ready; });
}

//===----------------------------------------------------------------------===//
// Registers that were never written
//===----------------------------------------------------------------------===//

std::string raytention::simt::registerName(const Warp &warp, uint32_t reg) {
  const auto &names = warp.block->worker->launch.kernel.registerNames;
  auto name = names.find(reg);
  return name == names.end() ? "a register" : name->second;
}

static void reportRegister(Warp &warp, uint32_t reg, Mask missing) {
  warp.block->worker->report(
      FindingKind::UninitializedRegister, warp, warp.pc, __builtin_ctz(missing),
      0, [&] {
        return "expected a value in " + registerName(warp, reg) +
               ", got one that was never written, or was computed from such "
               "a one";
      });
  warp.written(reg) |= missing;
}

void raytention::simt::checkWritten(Warp &warp, uint32_t reg, Mask lanes) {
  if (Mask missing = lanes & ~warp.written(reg))
    reportRegister(warp, reg, missing);
}

/// Of what is computed the use is reported: at an address, in memory, as a
/// predicate, by several lanes.
static void checkSources(Warp &warp, const Instruction &at, Mask active) {
  for (unsigned i = at.gathers; i < at.sources; ++i)
    checkWritten(warp, at.op[at.destinations + i], active);
}

static void noteWritten(Warp &warp, const Instruction &at, Mask active) {
  Mask defined = active & ~warp.undefined;
  warp.undefined = 0;
  if (at.selects) {
    Mask chosen = warp.predicate(at.op[3]);
    defined &= warp.written(at.op[3]) & ((warp.written(at.op[1]) & chosen) |
                                         (warp.written(at.op[2]) & ~chosen));
  } else if (at.computes)
    for (unsigned i = 0; i < at.sources; ++i)
      defined &= warp.written(at.op[at.destinations + i]);
  for (unsigned i = 0; i < at.destinations; ++i) {
    Mask &written = warp.written(at.op[i]);
    written = (written & ~active) | defined;
  }
}

static void execute(Warp &warp, const Instruction &at, Mask active) {
  const Worker &worker = *warp.block->worker;
  bool checks = worker.checks;
  if (checks && !at.computes)
    checkSources(warp, at, active);
  if (worker.followsProducts && !at.isProduct)
    noteRegisterUse(warp, at);
  if (at.run)
    at.run(warp, at, active);
  if (checks)
    noteWritten(warp, at, active);
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

/// Lanes that met are one fragment again.
static void mergeFragments(Warp &warp) {
  std::vector<Fragment> &all = warp.fragments;
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t j = all.size(); --j > i;)
      if (all[i].pc == all[j].pc && all[i].state == all[j].state &&
          all[i].state != Fragment::AtBarrier &&
          all[i].state != Fragment::AtPhase) {
        all[i].mask |= all[j].mask;
        all[i].forced |= all[j].forced;
        all.erase(all.begin() + j);
      }
}

/// Lowest pc first; now and then another, so that none starves.
static Fragment *pick(Warp &warp) {
  std::vector<Fragment *> ready;
  for (Fragment &fragment : warp.fragments)
    if (fragment.state == Fragment::Ready)
      ready.push_back(&fragment);
  if (ready.empty())
    return nullptr;
  if (warp.turns % 4 == 3)
    return ready[warp.turns / 4 % ready.size()];
  return *std::min_element(
      ready.begin(), ready.end(),
      [](Fragment *a, Fragment *b) { return a->pc < b->pc; });
}

/// Lanes that exited are waited for no longer.
static bool wakeApart(Warp &warp) {
  bool woke = false;
  for (Fragment &fragment : warp.fragments)
    if (fragment.state == Fragment::Apart && warp.alive == fragment.mask) {
      fragment.state = Fragment::Ready;
      woke = true;
    }
  return woke;
}

bool raytention::simt::forceOneApart(Warp &warp) {
  Fragment *first = nullptr;
  for (Fragment &fragment : warp.fragments)
    if (fragment.state == Fragment::Apart &&
        (!first || fragment.pc < first->pc))
      first = &fragment;
  if (!first)
    return false;
  first->state = Fragment::Ready;
  first->forced = true;
  return true;
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

namespace {
/// Runs one fragment until it must give way.
class Runner {
public:
  Runner(Warp &warp, Fragment &fragment, uint32_t limit, uint64_t &quantum)
      : warp(warp), worker(*warp.block->worker), pc(fragment.pc),
        mask(fragment.mask), limit(limit), quantum(quantum), fragment(fragment),
        forced(fragment.forced) {}

  void run() {
    const Instruction *code = worker.launch.kernel.code.data();
    while (goesOn && quantum && pc < limit && mask) {
      --quantum;
      step(code[pc]);
    }
    fragment.pc = pc;
    fragment.mask = mask;
    fragment.forced = false;
    if (!mask)
      warp.fragments.erase(warp.fragments.begin() +
                           (&fragment - warp.fragments.data()));
    warp.fragments.insert(warp.fragments.end(), split.begin(), split.end());
  }

private:
  void step(const Instruction &at) {
    Mask active = mask;
    warp.pc = pc;
    if (at.guarded)
      active &= guard(at);
    if (worker.profiling) {
      ++worker.issued[pc].warps;
      worker.issued[pc].lanes += __builtin_popcount(active);
    }
    if (at.flow == Flow::Plain) {
      if (active)
        execute(warp, at, active);
      ++pc;
      return;
    }
    control(at, active);
  }

  Mask guard(const Instruction &at) {
    Mask held = warp.predicate(at.guard);
    if (worker.checks)
      if (Mask missing = mask & ~warp.written(at.guard))
        reportRegister(warp, at.guard, missing);
    return at.guardNegated ? ~held : held;
  }

  void control(const Instruction &at, Mask active) {
    if (!active) {
      ++pc;
      return;
    }
    switch (at.flow) {
    case Flow::Branch:
      return branch(at.target, active);
    case Flow::IndexedBranch:
      return indexedBranch(at, active);
    case Flow::Exit:
      return exit(active);
    case Flow::Trap:
      return trap(at, active);
    case Flow::Phase:
    case Flow::Products:
    case Flow::ClusterWait:
      return waitFor(at, active);
    case Flow::Sleep:
      ++pc;
      quantum = 0;
      return;
    default:
      return meet(at, active);
    }
  }

  void branch(uint32_t target, Mask taken) {
    Mask rest = mask & ~taken;
    if (!rest) {
      pc = target;
      return;
    }
    leave(target, taken);
    ++pc;
  }

  /// Some lanes go another way.
  void leave(uint32_t target, Mask lanes) {
    Fragment other;
    other.pc = target;
    other.mask = lanes;
    split.push_back(other);
    mask &= ~lanes;
    goesOn = false;
  }

  void indexedBranch(const Instruction &at, Mask active) {
    if (worker.checks)
      checkSources(warp, at, active);
    const std::vector<uint32_t> &targets =
        worker.launch.kernel.targets[at.target];
    const uint32_t *index = warp.reg<uint32_t>(at.op[0]);
    for (Mask rest = active; rest;) {
      uint32_t value = index[__builtin_ctz(rest)];
      Mask same = 0;
      forEachLane(rest, [&](unsigned lane) {
        same |= Mask(index[lane] == value) << lane;
      });
      rest &= ~same;
      if (value >= targets.size())
        return trap(at, same);
      leave(targets[value], same);
    }
    ++pc;
  }

  void exit(Mask active) {
    forEachLane(active, [&](unsigned lane) { reportCopiesAtExit(warp, lane); });
    warp.alive &= ~active;
    mask &= ~active;
    if (worker.followsProducts)
      leaveProducts(warp);
    ++pc;
  }

  /// Of an instruction that says itself why, or with none.
  void trap(const Instruction &at, Mask active) {
    if (at.run)
      at.run(warp, at, active);
    else
      worker.report(FindingKind::Trap, warp, pc, __builtin_ctz(active), 0,
                    [] { return "expected to go on, got a trap"; });
    warp.block->abandoned = true;
    goesOn = false;
    quantum = 0;
  }

  /// The guard lets the others pass.
  void letPass(Mask active) {
    if (active == mask)
      return;
    leave(pc + 1, mask & ~active);
    mask = active;
  }

  bool passesWait(const Instruction &at) {
    if (at.flow == Flow::Phase)
      return passPhase(warp, at, mask, forced, fragment.object);
    fragment.object = at.flow == Flow::Products ? kNoObject : kClusterObject;
    return at.flow == Flow::Products ? waitForProducts(warp, at.offset, forced)
                                     : passCluster(warp, mask);
  }

  /// A wait is issued once, however often it was looked at.
  void waitFor(const Instruction &at, Mask active) {
    letPass(active);
    absorb();
    if (at.aligned && !areAllHere(at))
      return;
    if (worker.checks)
      checkSources(warp, at, mask);
    bool passes = passesWait(at);
    forced = false;
    if (passes) {
      if (worker.checks)
        noteWritten(warp, at, mask);
      ++pc;
      return;
    }
    if (worker.profiling) {
      --worker.issued[pc].warps;
      worker.issued[pc].lanes -= __builtin_popcount(mask);
    }
    wait(Fragment::AtPhase);
  }

  //===--------------------------------------------------------------------===//
  // Where lanes meet
  //===--------------------------------------------------------------------===//

  void meet(const Instruction &at, Mask active) {
    letPass(active);
    absorb();
    if (worker.checks && at.flow == Flow::Barrier)
      checkSources(warp, at, mask);
    if (at.flow == Flow::Barrier)
      return barrier(at);
    collective(at);
  }

  /// Lanes that wait here for us come along.
  void absorb() {
    for (Fragment &other : warp.fragments)
      if (&other != &fragment && other.pc == pc &&
          other.state == Fragment::Apart) {
        mask |= other.mask;
        forced |= other.forced;
        other.mask = 0;
      }
  }

  void wait(Fragment::State state) {
    fragment.state = state;
    goesOn = false;
  }

  /// False where the fragment has to wait for other lanes of the warp.
  bool areAllHere(const Instruction &at) {
    Mask missing = at.aligned ? warp.alive & ~mask : 0;
    if (missing && !forced) {
      wait(Fragment::Apart);
      return false;
    }
    fragment.mask = mask;
    fragment.pc = pc;
    if (missing && worker.checks)
      reportApart(warp, at, fragment, missing);
    return true;
  }

  void barrier(const Instruction &at) {
    if (!areAllHere(at))
      return;
    if (arriveAtBarrier(warp, at, fragment))
      ++pc;
    else
      wait(Fragment::AtBarrier);
    forced = false;
  }

  /// Lanes with the same mask run together once all of them are here.
  void collective(const Instruction &at) {
    Mask done = 0;
    for (Mask rest = mask; rest;) {
      Mask named = kAllLanes, group = rest;
      if (!at.aligned)
        group = sameMask(at, rest, named);
      rest &= ~group;
      Mask missing = named & warp.alive & ~group;
      if (missing && !forced)
        continue;
      if (missing && worker.checks) {
        fragment.mask = mask;
        fragment.pc = pc;
        reportApart(warp, at, fragment, missing);
      }
      if (worker.checks && group & ~named)
        reportUnnamed(group & ~named, named);
      execute(warp, at, group);
      done |= group;
    }
    forced = false;
    if (done == mask) {
      ++pc;
      return;
    }
    if (done)
      leave(pc + 1, done);
    wait(Fragment::Apart);
  }

  Mask sameMask(const Instruction &at, Mask lanes, Mask &named) {
    const uint32_t *masks =
        warp.reg<uint32_t>(at.op[at.destinations + at.form]);
    named = masks[__builtin_ctz(lanes)];
    Mask group = 0;
    forEachLane(lanes, [&](unsigned lane) {
      group |= Mask(masks[lane] == named) << lane;
    });
    return group;
  }

  void reportUnnamed(Mask lanes, Mask named) {
    worker.report(FindingKind::LaneNotInMask, warp, pc, __builtin_ctz(lanes), 0,
                  [&] {
                    return "expected a mask with every lane that comes here, "
                           "got " +
                           describeLanes(named) + " without lanes " +
                           describeLanes(lanes);
                  });
  }

  Warp &warp;
  Worker &worker;
  uint32_t pc;
  Mask mask;
  uint32_t limit;
  uint64_t &quantum;
  Fragment &fragment;
  bool forced, goesOn = true;
  std::vector<Fragment> split;
};
} // namespace

RunResult raytention::simt::runWarp(Warp &warp, uint64_t quantum) {
  Block &block = *warp.block;
  while (!block.abandoned) {
    warp.fragments.erase(
        std::remove_if(warp.fragments.begin(), warp.fragments.end(),
                       [](const Fragment &f) { return !f.mask; }),
        warp.fragments.end());
    mergeFragments(warp);
    Fragment *next = pick(warp);
    if (!next) {
      if (warp.fragments.empty())
        return RunResult::Exited;
      if (wakeApart(warp))
        continue;
      return RunResult::Waits;
    }
    uint32_t limit = ~0u;
    for (const Fragment &other : warp.fragments)
      if (&other != next && other.state == Fragment::Ready &&
          other.pc > next->pc)
        limit = std::min(limit, other.pc);
    uint64_t before = quantum;
    Runner(warp, *next, limit, quantum).run();
    block.steps += before - quantum;
    if (!quantum) {
      ++warp.turns;
      return RunResult::Quantum;
    }
  }
  return RunResult::Exited;
}
