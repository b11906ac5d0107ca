//===- Variants.cpp - the code of an attention by schedule ----------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/api/Variants.h"
#include "runtime/support/Crew.h"

#include <chrono>

using namespace llvm;
using namespace raytention;

namespace {

class Stopwatch {
public:
  double milliseconds() const {
    return std::chrono::duration<double, std::milli>(Clock::now() - start)
        .count();
  }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
};

} // namespace

Error Variants::add(const Schedules &schedules,
                    Expected<CompiledModule> module) {
  if (!module)
    return module.takeError();
  // One of them runs at a time: workers and their memory go along.
  if (!all.empty())
    module->code->takeWorkers(*current().code);
  active = all.size();
  all.push_back({schedules, std::move(*module)});
  return Error::success();
}

Expected<Variants> Variants::compile(const AttentionSpec &spec,
                                     const CompileOptions &options) {
  Stopwatch watch;
  auto compiler = AttentionCompiler::create(spec, options);
  if (!compiler)
    return compiler.takeError();
  auto schedules = (*compiler)->chooseSchedules();
  if (!schedules)
    return schedules.takeError();
  Variants variants;
  if (Error error = variants.add(*schedules, (*compiler)->compile(*schedules)))
    return error;
  variants.compiler = std::move(*compiler);
  variants.milliseconds = watch.milliseconds();
  return variants;
}

Expected<Variants> Variants::compile(StringRef text, const AttentionSpec &spec,
                                     const CompileOptions &options) {
  Stopwatch watch;
  auto compiler = AttentionCompiler::create(spec, options);
  if (!compiler)
    return compiler.takeError();
  Variants variants;
  if (Error error = variants.add({}, (*compiler)->compile(text)))
    return error;
  variants.milliseconds = watch.milliseconds();
  return variants;
}

Expected<double> Variants::select(int64_t numKeys) {
  if (!compiler)
    return 0;
  ForkGuard guard;
  auto schedules = compiler->chooseSchedules(numKeys);
  if (!schedules)
    return schedules.takeError();
  for (auto [index, variant] : enumerate(all))
    if (variant.schedules == *schedules) {
      if (index != active)
        variant.module.code->takeWorkers(*current().code);
      active = index;
      return 0;
    }
  Stopwatch watch;
  if (Error error = add(*schedules, compiler->compile(*schedules)))
    return error;
  double taken = watch.milliseconds();
  milliseconds += taken;
  return taken;
}
