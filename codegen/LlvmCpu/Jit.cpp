//===- Jit.cpp - LLVM dialect to machine code in this process ---*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LlvmCpu/Jit.h"
#include "runtime/support/CpuCount.h"

#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

using namespace llvm;
using namespace raytention;

Jit::~Jit() = default;

static Error defineCallbacks(orc::LLJIT &lljit,
                             ArrayRef<JitCallback> callbacks) {
  orc::SymbolMap symbols;
  for (const JitCallback &callback : callbacks)
    symbols[lljit.mangleAndIntern(callback.name)] = {
        orc::ExecutorAddr::fromPtr(callback.address),
        JITSymbolFlags::Exported | JITSymbolFlags::Callable};
  return lljit.getMainJITDylib().define(
      orc::absoluteSymbols(std::move(symbols)));
}

Expected<std::unique_ptr<Jit>> Jit::load(Objects objects,
                                         ArrayRef<JitCallback> callbacks) {
  std::unique_ptr<Jit> jit(new Jit());
  auto symbols = findSymbols(objects);
  if (!symbols)
    return symbols.takeError();
  jit->symbols = std::move(*symbols);
  auto builder = detectHost();
  if (!builder)
    return builder.takeError();
  auto lljit =
      orc::LLJITBuilder().setJITTargetMachineBuilder(*builder).create();
  if (!lljit)
    return lljit.takeError();
  // The cause of a failed lookup is reported, not returned; LLVM would print.
  (*lljit)->getExecutionSession().setErrorReporter(
      [&reported = jit->reported](Error error) {
        reported += toString(std::move(error)) + "; ";
      });
  if (Error error = defineCallbacks(**lljit, callbacks))
    return error;
  for (std::unique_ptr<MemoryBuffer> &object : objects)
    if (Error error = (*lljit)->addObjectFile(std::move(object)))
      return error;
  jit->lljit = std::move(*lljit);
  return jit;
}

Expected<std::unique_ptr<Jit>> Jit::compile(mlir::ModuleOp module,
                                            ArrayRef<JitCallback> callbacks,
                                            OptimizationEffort effort) {
  auto objects = compileToObjects(module, effort, countCpus().workers());
  if (!objects)
    return objects.takeError();
  return load(std::move(*objects), callbacks);
}

bool Jit::contains(StringRef symbol) const {
  return symbols.defined.count(symbol.str());
}

Expected<void *> Jit::lookupAddress(StringRef symbol) {
  if (!contains(symbol))
    return createStringError("expected a function '" + symbol +
                             "' in the compiled code, got none");
  auto address = lljit->lookup(symbol);
  if (!address)
    return createStringError(reported + toString(address.takeError()));
  return address->toPtr<void *>();
}
