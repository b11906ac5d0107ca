//===- Launch.cpp - blocks on all cores -------------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/Machine.h"

#include "runtime/support/CpuCount.h"
#include "runtime/support/Crew.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>
#include <numeric>
#include <random>

using namespace llvm;
using namespace raytention;
using namespace raytention::simt;

static constexpr uint64_t kMaxThreads = 1024;
static constexpr uint64_t kMaxShared = 227 * 1024;
/// Blocks that did not end before the rest is given up.
static constexpr unsigned kMaxAbandoned = 4;
/// An order is only drawn for grids whose list of blocks is small.
static constexpr uint64_t kMaxShuffled = 1 << 24;

//===----------------------------------------------------------------------===//
// Workers
//===----------------------------------------------------------------------===//

Worker::Worker(Launch &launch)
    : launch(launch), checks(launch.options.checks),
      profiling(launch.options.profile),
      followsProducts(checks && !launch.kernel.products.empty()),
      printed(launch.options.maxPrintedBytes),
      issued(profiling ? launch.kernel.code.size() : 0) {
  for (const std::unique_ptr<Variable> &variable : launch.program.variables)
    variables.push_back({reinterpret_cast<uint64_t>(variable->base),
                         variable->bytes, variable->constant, variable->name});
}

const Allocation *Worker::allocation(uint64_t address, uint64_t bytes) {
  const Allocation *found = launch.memory.find(address);
  if (found && found->contains(address, bytes))
    return found;
  for (const Allocation &variable : variables)
    if (variable.contains(address, bytes))
      return &variable;
  return nullptr;
}

GlobalShadow::Page &Worker::shadowPage(uint64_t number) {
  auto &[known, page] = pages[number % pages.size()];
  if (!page || known != number) {
    known = number;
    page = &launch.shadow.page(number);
  }
  return *page;
}

void Worker::report(FindingKind kind, const Warp &warp, uint32_t pc,
                    unsigned lane, uint64_t address,
                    function_ref<std::string()> message) {
  auto [entry, isNew] = findings.try_emplace({pc, kind});
  FoundAt &found = entry->second;
  if (!isNew) {
    ++found.finding.count;
    if (found.block <= block.linear)
      return;
  }
  uint64_t count = isNew ? 1 : found.finding.count;
  const Instruction &at = launch.kernel.code[pc];
  found.block = block.linear;
  found.finding = {kind,          message(),
                   at.line,       fileName(launch.program, at.file),
                   at.sourceLine, callersOf(launch.program, at),
                   block.index,   warp.index,
                   lane,          address,
                   count};
}

//===----------------------------------------------------------------------===//
// Checks before a launch
//===----------------------------------------------------------------------===//

static Error checkShape(const Entry &entry, const Dim3 &grid,
                        const Dim3 &block) {
  uint64_t threads = block.count();
  if (!threads || threads > kMaxThreads || block.x > kMaxThreads ||
      block.y > kMaxThreads || block.z > 64)
    return createStringError("expected 1 to 1024 threads in a block of '" +
                             entry.name + "', got " + Twine(block.x) + "," +
                             Twine(block.y) + "," + Twine(block.z));
  if (entry.maxThreads && threads > entry.maxThreads)
    return createStringError("expected at most " + Twine(entry.maxThreads) +
                             " threads in a block of '" + entry.name +
                             "', got " + Twine(threads));
  if (!grid.x || !grid.y || !grid.z || grid.x > INT32_MAX || grid.y > 65535 ||
      grid.z > 65535)
    return createStringError("expected a grid from 1,1,1 to "
                             "2147483647,65535,65535, got " +
                             Twine(grid.x) + "," + Twine(grid.y) + "," +
                             Twine(grid.z));
  if (grid.count() >= UINT32_MAX)
    return createStringError("expected fewer than 2^32 blocks, got " +
                             Twine(grid.count()));
  return Error::success();
}

static const Kernel *findKernel(const Program &program, StringRef name) {
  for (const Kernel &kernel : program.kernels)
    if (kernel.entry.name == name)
      return &kernel;
  return nullptr;
}

static Error unknownEntry(const Program &program, StringRef name) {
  std::string known;
  for (const Entry &entry : program.entries)
    known += (known.empty() ? "" : ", ") + entry.name;
  return createStringError("expected one of the entries " + known + ", got '" +
                           name + "'");
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

static std::vector<uint64_t> drawOrder(uint64_t blocks, uint64_t seed) {
  std::vector<uint64_t> order;
  if (!seed || blocks > kMaxShuffled)
    return order;
  order.resize(blocks);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 draw(seed);
  for (uint64_t i = blocks; i > 1; --i)
    std::swap(order[i - 1], order[draw() % i]);
  return order;
}

static void runWorkers(Launch &launch,
                       std::vector<std::unique_ptr<Worker>> &workers) {
  uint64_t blocks = launch.grid.count();
  std::vector<uint64_t> order = drawOrder(blocks, launch.options.shuffleSeed);
  std::atomic<uint64_t> next{0};
  std::atomic<unsigned> abandoned{0};
  runTogether(int(workers.size()), [&](int number) {
    Worker &worker = *workers[number];
    for (;;) {
      uint64_t i = next.fetch_add(1, std::memory_order_relaxed);
      if (i >= blocks ||
          abandoned.load(std::memory_order_relaxed) >= kMaxAbandoned)
        return;
      worker.runBlock(order.empty() ? i : order[i]);
      abandoned += worker.block.abandoned;
    }
  });
}

static void collectProfile(const Launch &launch, const Worker &worker,
                           Profile &profile) {
  profile.merge(worker.profile);
  for (size_t pc = 0; pc < worker.issued.size(); ++pc) {
    const IssueCount &count = worker.issued[pc];
    const Instruction &at = launch.kernel.code[pc];
    if (!count.warps)
      continue;
    profile.warpInstructions += count.warps;
    profile.threadInstructions += count.lanes;
    profile.scalarFlops += count.lanes * at.flops;
    profile.mix[launch.program.mnemonics[at.mnemonic]] += count.warps;
  }
}

static void collectFindings(const std::vector<std::unique_ptr<Worker>> &workers,
                            Report &report, unsigned most) {
  std::map<std::pair<uint32_t, FindingKind>, FoundAt> all;
  for (const std::unique_ptr<Worker> &worker : workers)
    for (const auto &[key, found] : worker->findings) {
      report.findingsInAll += found.finding.count;
      auto [entry, isNew] = all.try_emplace(key, found);
      if (isNew)
        continue;
      uint64_t count = entry->second.finding.count + found.finding.count;
      if (found.block < entry->second.block)
        entry->second = found;
      entry->second.finding.count = count;
    }
  std::vector<const FoundAt *> sorted;
  for (const auto &entry : all)
    sorted.push_back(&entry.second);
  std::stable_sort(
      sorted.begin(), sorted.end(),
      [](const FoundAt *a, const FoundAt *b) { return a->block < b->block; });
  for (const FoundAt *found : sorted)
    if (report.findings.size() < most)
      report.findings.push_back(found->finding);
}

static unsigned countWorkers(const Launch &launch) {
  unsigned wanted = launch.options.threads ? launch.options.threads
                                           : unsigned(countCpus().workers());
  return std::min<uint64_t>(std::min(wanted, 256u), launch.grid.count());
}

static Report runLaunch(Launch &launch) {
  uint64_t blocks = launch.grid.count();
  std::vector<std::unique_ptr<Worker>> workers;
  for (unsigned i = 0, n = countWorkers(launch); i < n; ++i)
    workers.push_back(std::make_unique<Worker>(launch));
  runWorkers(launch, workers);
  Report report;
  collectFindings(workers, report, launch.options.maxFindings);
  PrintBuffer printed(launch.options.maxPrintedBytes);
  for (const std::unique_ptr<Worker> &worker : workers)
    printed.append(worker->printed);
  report.messagesLeftOut = printed.collect(report.printed);
  if (!launch.options.profile)
    return report;
  for (const std::unique_ptr<Worker> &worker : workers)
    collectProfile(launch, *worker, report.profile);
  report.profile.blocks = blocks;
  report.profile.warps =
      blocks * ((launch.blockShape.count() + kLanes - 1) / kLanes);
  return report;
}

Expected<Report> raytention::simt::launch(const Module &module, StringRef entry,
                                          Dim3 grid, Dim3 block,
                                          uint32_t dynamicSharedBytes,
                                          ArrayRef<uint8_t> arguments,
                                          Memory &memory,
                                          const LaunchOptions &options) {
  const Program &program = module.program();
  const Kernel *kernel = findKernel(program, entry);
  if (!kernel)
    return unknownEntry(program, entry);
  if (Error error = checkShape(kernel->entry, grid, block))
    return error;
  if (arguments.size() != kernel->entry.parameterBytes)
    return createStringError("expected " + Twine(kernel->entry.parameterBytes) +
                             " bytes of arguments of '" + entry + "', got " +
                             Twine(arguments.size()));
  uint64_t shared =
      uint64_t(dynamicSharedBytes ? kernel->dynamicBase
                                  : kernel->entry.staticSharedBytes) +
      dynamicSharedBytes;
  if (shared > kMaxShared)
    return createStringError("expected at most " + Twine(kMaxShared) +
                             " bytes of shared memory in a block of '" + entry +
                             "', got " + Twine(shared));
  Launch launch{program,
                *kernel,
                grid,
                block,
                dynamicSharedBytes,
                uint32_t(shared),
                arguments,
                memory,
                options,
                {},
                {},
                {}};
  return runLaunch(launch);
}
