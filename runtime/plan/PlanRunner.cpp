//===- PlanRunner.cpp - runs a plan on a device ---------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/PlanRunner.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <chrono>

using namespace llvm;
using namespace raytention;
using namespace raytention::plan;
using device::Buffer;
using device::Problem;

/// The same problem in one line: findings and compilers write several.
static Error inOneLine(Error error) {
  if (!error)
    return Error::success();
  Problem problem = device::problemOf(error);
  std::string text = toString(std::move(error));
  SmallVector<StringRef> lines;
  StringRef(text).split(lines, '\n', -1, /*KeepEmpty=*/false);
  std::string joined = lines.empty() ? "" : lines.front().str();
  for (StringRef line : drop_begin(lines))
    joined += (joined.back() == ':' ? " " : "; ") + line.trim().str();
  return device::makeError(problem, joined);
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

Expected<PlanRunner>
PlanRunner::create(std::shared_ptr<device::Device> device, Plan plan,
                   ArrayRef<std::unique_ptr<device::Module>> modules) {
  PlanRunner runner(std::move(device), std::move(plan));
  for (const Kernel &kernel : runner.code.kernels) {
    if (kernel.module >= modules.size())
      return createStringError(
          "kernel " + kernel.name + ": expected a module of number " +
          Twine(kernel.module) + ", got " + Twine(modules.size()) + " modules");
    auto loaded = modules[kernel.module]->getKernel(kernel.name);
    if (!loaded)
      return inOneLine(loaded.takeError());
    runner.kernels.push_back(std::move(*loaded));
  }
  return runner;
}

Expected<PlanRunner> PlanRunner::compile(std::shared_ptr<device::Device> device,
                                         Plan plan,
                                         ArrayRef<nvrtc::Source> sources) {
  std::vector<std::unique_ptr<device::Module>> modules;
  for (const nvrtc::Source &source : sources) {
    auto module = device->loadCuda(source);
    if (!module)
      return inOneLine(module.takeError());
    modules.push_back(std::move(*module));
  }
  return create(std::move(device), std::move(plan), modules);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

namespace {

/// One run: the memories of its commands and the stream they go to.
class Run {
public:
  Run(device::Device &device, std::unique_ptr<device::Stream> stream,
      ArrayRef<std::unique_ptr<device::Kernel>> kernels, const Plan &plan,
      const Commands &commands)
      : device(device), stream(std::move(stream)), kernels(kernels), plan(plan),
        commands(commands) {}

  Error bind(ArrayRef<RunArgument> arguments);
  Error execute();
  Error finish() { return stream->synchronize(); }

private:
  Error allocate(const Command &command);
  Error free(MemoryId memory);
  Error launch(const Command &command);
  Error dropRetired();

  device::Device &device;
  std::unique_ptr<device::Stream> stream;
  ArrayRef<std::unique_ptr<device::Kernel>> kernels;
  const Plan &plan;
  const Commands &commands;
  std::vector<const Buffer *> memories;       ///< by number
  std::vector<std::unique_ptr<Buffer>> owned; ///< by number, null: argument's
  /// Freed by the program, but kernels in the stream may still use them.
  std::vector<std::unique_ptr<Buffer>> retired;
  int64_t heldBytes = 0; ///< owned and retired
};

} // namespace

Error Run::bind(ArrayRef<RunArgument> arguments) {
  memories.resize(commands.memoryBytes.size());
  owned.resize(commands.memoryBytes.size());
  MemoryId next = 0;
  for (auto [index, type] : enumerate(plan.arguments)) {
    if (!type.isBuffer)
      continue;
    const RunArgument &argument = arguments[index];
    int64_t wanted = commands.memoryBytes[next];
    int64_t got = argument.buffer ? argument.buffer->size() : 0;
    if (got < wanted)
      return createStringError("plan " + plan.name + ": argument " +
                               Twine(index) + ": expected a buffer of " +
                               Twine(wanted) + " bytes, got " + Twine(got));
    memories[next++] = argument.buffer;
  }
  return Error::success();
}

Error Run::dropRetired() {
  if (Error error = stream->synchronize())
    return error;
  for (const auto &buffer : retired)
    heldBytes -= buffer->size();
  retired.clear();
  return Error::success();
}

/// What was freed is used again only where nobody looks for wrong accesses:
/// there, old contents would pass for values.
Error Run::allocate(const Command &command) {
  int64_t bytes = commands.memoryBytes[command.memory];
  auto known = find_if(
      retired, [&](const auto &buffer) { return buffer->size() == bytes; });
  if (known != retired.end()) {
    owned[command.memory] = std::move(*known);
    retired.erase(known);
  } else {
    if (heldBytes + bytes > commands.workspaceBytes)
      if (Error error = dropRetired())
        return error;
    auto buffer = device.allocate(bytes);
    if (!buffer)
      return buffer.takeError();
    owned[command.memory] = std::move(*buffer);
    heldBytes += bytes;
  }
  memories[command.memory] = owned[command.memory].get();
  return Error::success();
}

Error Run::free(MemoryId memory) {
  retired.push_back(std::move(owned[memory]));
  memories[memory] = nullptr;
  return device.capabilities().findsFaults ? dropRetired() : Error::success();
}

Error Run::launch(const Command &command) {
  device::LaunchShape shape;
  const auto &block = plan.kernels[command.kernel].block;
  shape.grid = {command.grid[0], command.grid[1], command.grid[2]};
  shape.block = {block[0], block[1], block[2]};
  shape.sharedBytes = command.sharedBytes;
  device::Arguments arguments;
  for (const LaunchArgument &argument : command.arguments) {
    if (!argument.isMemory)
      arguments.addBytes(&argument.bits, argument.bytes);
    else if (const Buffer *buffer = memories[argument.memory])
      arguments.add(*buffer);
    else // without bytes
      arguments.add(uint64_t(0));
  }
  return kernels[command.kernel]->launchAsync(*stream, shape, arguments);
}

Error Run::execute() {
  for (const Command &command : commands.list) {
    Error error = command.kind == Command::Kind::Allocate ? allocate(command)
                  : command.kind == Command::Kind::Free   ? free(command.memory)
                                                          : launch(command);
    if (error) {
      // Kernels before it may still use what is about to go.
      consumeError(finish());
      return error;
    }
  }
  return finish();
}

static Error checkCap(const Plan &plan, const Commands &commands, int64_t cap) {
  if (commands.workspaceBytes <= cap)
    return Error::success();
  return createStringError(
      std::make_error_code(std::errc::no_buffer_space),
      "plan " + plan.name + ": expected at most " + Twine(cap) +
          " bytes of workspace, got a need of " +
          Twine(commands.workspaceBytes) +
          "; use a smaller query chunk or tile, or raise the "
          "cap");
}

Expected<PlanReport> PlanRunner::run(ArrayRef<RunArgument> arguments,
                                     int64_t workspaceCap) {
  auto sizes = map_to_vector(
      arguments, [](const RunArgument &argument) { return argument.size; });
  Expected<Commands> commands = evaluate(code, sizes);
  if (!commands)
    return commands.takeError();
  if (Error error = checkCap(code, *commands, workspaceCap))
    return error;
  auto stream = owner->createStream();
  if (!stream)
    return inOneLine(stream.takeError());
  Run run(*owner, std::move(*stream), kernels, code, *commands);
  if (Error error = run.bind(arguments))
    return error;
  using Clock = std::chrono::steady_clock;
  auto start = Clock::now();
  if (Error error = run.execute())
    return inOneLine(std::move(error));
  std::chrono::duration<double, std::milli> elapsed = Clock::now() - start;
  return PlanReport{commands->workspaceBytes, elapsed.count()};
}
