//===- Findings.cpp - what went wrong, in words -----------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/Machine.h"

#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace raytention::simt;

StringRef raytention::simt::getName(FindingKind kind) {
  switch (kind) {
  case FindingKind::OutOfBounds:
    return "out-of-bounds";
  case FindingKind::Misaligned:
    return "misaligned";
  case FindingKind::ReadOnlyWrite:
    return "read-only-write";
  case FindingKind::UninitializedShared:
    return "uninitialized-shared";
  case FindingKind::UninitializedRegister:
    return "uninitialized-register";
  case FindingKind::RaceInBlock:
    return "race-in-block";
  case FindingKind::RaceBetweenBlocks:
    return "race-between-blocks";
  case FindingKind::DivergentBarrier:
    return "divergent-barrier";
  case FindingKind::DivergentCollective:
    return "divergent-collective";
  case FindingKind::LaneNotInMask:
    return "lane-not-in-mask";
  case FindingKind::AsyncCopyUnfinished:
    return "async-copy-unfinished";
  case FindingKind::AsyncReadUnfinished:
    return "async-read-unfinished";
  case FindingKind::AsyncCopyAtExit:
    return "async-copy-at-exit";
  case FindingKind::NoProxyFence:
    return "no-proxy-fence";
  case FindingKind::BarrierMisuse:
    return "mbarrier-misuse";
  case FindingKind::BulkCopyMisuse:
    return "bulk-copy-misuse";
  case FindingKind::WgmmaUnfinished:
    return "wgmma-unfinished";
  case FindingKind::WgmmaUnfenced:
    return "wgmma-unfenced";
  case FindingKind::WgmmaAtExit:
    return "wgmma-at-exit";
  case FindingKind::BadDescriptor:
    return "bad-descriptor";
  case FindingKind::Deadlock:
    return "deadlock";
  case FindingKind::StepLimit:
    return "step-limit";
  case FindingKind::Trap:
    return "trap";
  case FindingKind::AssertionFailed:
    return "assertion-failed";
  }
  return "unknown";
}

/// "lib.h:3 called at k.cu:12".
static std::string describe(StringRef file, unsigned line,
                            ArrayRef<SourceLine> callers) {
  std::string text = (file + ":" + Twine(line)).str();
  for (const SourceLine &caller : callers)
    text += " called at " + caller.file + ":" + std::to_string(caller.line);
  return text;
}

std::string Finding::text() const {
  std::string place = line ? describe(file, line, callers)
                           : formatv("ptx line {0}", ptxLine).str();
  std::string times = count > 1 ? formatv(", {0} times", count).str() : "";
  return formatv("{0}: {1}: {2} (block {3},{4},{5} warp {6} lane {7}, ptx line "
                 "{8}{9})",
                 place, getName(kind), message, block.x, block.y, block.z, warp,
                 lane, ptxLine, times)
      .str();
}

std::string raytention::simt::fileName(const Program &program, uint32_t file) {
  auto found = program.files.find(file);
  return found == program.files.end() ? "" : found->second;
}

std::vector<SourceLine> raytention::simt::callersOf(const Program &program,
                                                    const Instruction &at) {
  std::vector<SourceLine> callers;
  for (uint32_t index = at.caller; index;) {
    const CallSite &site = program.callSites[index - 1];
    callers.push_back({fileName(program, site.file), site.line});
    index = site.caller;
  }
  return callers;
}

std::string raytention::simt::describePlace(const Program &program,
                                            const Instruction &at) {
  std::string file = fileName(program, at.file);
  if (!at.sourceLine || file.empty())
    return "ptx line " + std::to_string(at.line);
  return describe(file, at.sourceLine, callersOf(program, at));
}

std::string raytention::simt::describeLanes(Mask lanes) {
  char text[16];
  snprintf(text, sizeof(text), "0x%08x", lanes);
  return text;
}

void raytention::simt::reportApart(Warp &warp, const Instruction &at,
                                   const Fragment &fragment, Mask missing) {
  bool isBarrier = at.flow == Flow::Barrier || at.flow == Flow::ClusterWait;
  FindingKind kind = isBarrier ? FindingKind::DivergentBarrier
                               : FindingKind::DivergentCollective;
  Worker &worker = *warp.block->worker;
  worker.report(kind, warp, fragment.pc, __builtin_ctz(fragment.mask), 0, [&] {
    std::string text = "expected lanes " + describeLanes(missing) +
                       " to come to this instruction with lanes " +
                       describeLanes(fragment.mask);
    for (const Fragment &other : warp.fragments)
      if (other.mask & missing && other.pc != fragment.pc)
        return text + ", got them at " +
               describePlace(worker.launch.program,
                             worker.launch.kernel.code[other.pc]);
    return text + ", got them elsewhere";
  });
}
