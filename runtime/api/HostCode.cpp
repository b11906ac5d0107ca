//===- HostCode.cpp - machine code of this process ------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/api/HostCode.h"
#include "passes/Pipelines/Passes.h"
#include "runtime/api/AttendBuilder.h"
#include "runtime/api/MemRefArgument.h"
#include "runtime/api/StatusError.h"

#include "llvm/Support/MathExtras.h"

#include <chrono>
#include <limits>
#include <new>

using namespace llvm;
using namespace raytention;

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

/// The entries of a function and of what counts bytes for it, where it has
/// them.
static Expected<EntryPoint> lookup(Jit &jit, StringRef function) {
  EntryPoint point;
  auto run = jit.lookup<void(void **)>((function + "_entry").str());
  if (!run)
    return run.takeError();
  point.run = *run;
  for (auto [suffix, count] : {std::pair("_workspace_entry", &point.workspace),
                               {"_scratch_entry", &point.scratch}}) {
    std::string name = (function + suffix).str();
    if (!jit.contains(name))
      continue;
    auto found = jit.lookup<int64_t(void **)>(name);
    if (!found)
      return found.takeError();
    *count = *found;
  }
  return point;
}

Expected<std::unique_ptr<BackEnd>>
HostCode::compile(mlir::ModuleOp module, const CompileOptions &options,
                  OptimizationEffort effort) {
  JitCallback callback{kParallelFor.str(),
                       reinterpret_cast<void *>(&rt_parallel_for)};
  auto jit = Jit::compile(module, callback, effort);
  if (!jit)
    return jit.takeError();
  std::unique_ptr<HostCode> code(
      new HostCode(std::move(*jit), options.workspaceCap));
  Expected<EntryPoint> forward = lookup(*code->jit, kAttendName);
  if (!forward)
    return forward.takeError();
  code->forward = *forward;
  if (options.backward) {
    Expected<EntryPoint> backward = lookup(*code->jit, kBackwardName);
    if (!backward)
      return backward.takeError();
    code->backward = *backward;
  }
  return code;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

int HostCode::chooseThreads(int threads) {
  int wanted = threads ? threads : cpu::getDefaultThreads();
  if (!pool || pool->wanted() != wanted)
    pool = std::make_unique<cpu::WorkerPool>(wanted);
  return pool->threads();
}

namespace {

/// The arguments as compiled code takes them, with memory for the arrays that
/// the caller does not give.
class HostArguments {
public:
  Error add(ArrayRef<CallArgument> arguments);
  /// Bytes for the code itself, as one more argument.
  Error addScratch(int64_t bytes);
  void **pointers() { return addresses.data(); }

  int64_t scratchBytes = 0;

private:
  Error add(const CallArgument &argument);
  /// Memory of the arguments' own, on a cache line.
  Expected<void *> allocate(int64_t bytes);

  std::vector<std::unique_ptr<char[]>> own;
  std::vector<std::unique_ptr<MemRefArgument>> memrefs;
  std::vector<int64_t> indices;
  std::vector<void *> addresses;
};

} // namespace

Error HostArguments::add(ArrayRef<CallArgument> arguments) {
  indices.reserve(arguments.size()); // their addresses stay
  for (const CallArgument &argument : arguments)
    if (Error error = add(argument))
      return error;
  return Error::success();
}

Expected<void *> HostArguments::allocate(int64_t bytes) {
  constexpr int64_t line = 64;
  std::unique_ptr<char[]> memory;
  if (bytes <= std::numeric_limits<int64_t>::max() - line)
    memory.reset(new (std::nothrow) char[bytes + line]);
  if (!memory)
    return createStringError(
        std::make_error_code(std::errc::not_enough_memory),
        "expected " + Twine(bytes) +
            " bytes of memory for an array that was not given, got a refusal "
            "from the system");
  own.push_back(std::move(memory));
  uintptr_t address = reinterpret_cast<uintptr_t>(own.back().get());
  return reinterpret_cast<void *>(alignTo(address, line));
}

Error HostArguments::addScratch(int64_t bytes) {
  Expected<void *> memory = allocate(bytes);
  if (!memory)
    return memory.takeError();
  scratchBytes = bytes;
  memrefs.push_back(std::make_unique<MemRefArgument>(*memory, bytes));
  addresses.push_back(memrefs.back()->address());
  return Error::success();
}

Error HostArguments::add(const CallArgument &argument) {
  if (argument.role == CallArgument::Role::Index) {
    indices.push_back(argument.index);
    addresses.push_back(&indices.back());
    return Error::success();
  }
  void *data = argument.data;
  if (!data && argument.role == CallArgument::Role::Out) {
    Expected<void *> memory = allocate(argument.bytes());
    if (!memory)
      return memory.takeError();
    data = *memory;
  }
  memrefs.push_back(std::make_unique<MemRefArgument>(data, argument.sizes));
  addresses.push_back(memrefs.back()->address());
  return Error::success();
}

Error HostCode::checkWorkspace(const EntryPoint &entry, void **arguments,
                               int64_t numKeys) const {
  int64_t needed = entry.workspace ? entry.workspace(arguments) : 0;
  if (needed <= workspaceCap)
    return Error::success();
  return makeError(StatusCode::ResourceLimit,
                   "expected at most " + Twine(workspaceCap) +
                       " bytes of workspace per worker, got a need of " +
                       Twine(needed) + " for T = " + Twine(numKeys) +
                       "; give a schedule of recomputed scores or of a smaller "
                       "query tile, or raise the cap");
}

Expected<RunReport> HostCode::call(Function function,
                                   ArrayRef<CallArgument> arguments,
                                   int64_t numKeys) {
  HostArguments given;
  if (Error error = given.add(arguments))
    return error;
  const EntryPoint &point = entry(function);
  if (point.scratch)
    if (Error error = given.addScratch(point.scratch(given.pointers())))
      return error;
  if (Error error = checkWorkspace(point, given.pointers(), numKeys))
    return error;
  using Clock = std::chrono::steady_clock;
  RunReport report;
  cpu::RunContext context(*pool);
  auto start = Clock::now();
  point.run(given.pointers());
  std::chrono::duration<double, std::milli> elapsed = Clock::now() - start;
  report.runMs = elapsed.count();
  if (Error error = context.takeError())
    return error;
  report.threads = pool->threads(); // known only now
  report.workspaceBytes = context.bytesInTotal() + given.scratchBytes;
  report.workspaceBytesPerThread = context.bytesPerWorker();
  return report;
}
