//===- SimtProduct.cpp - a bf16 product on the PTX machine ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 256 x 256 x 256, tiled with cp.async and ldmatrix, on two threads; with all
// checks and the profile, and without.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/Simt.h"

#include "benchmark/benchmark.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstring>

using namespace raytention::simt;

static void product(benchmark::State &state) {
  constexpr uint64_t kElements = 256 * 256;
  auto text = llvm::MemoryBuffer::getFile(RAYTENTION_SIMT_DATA "/matmul.ptx");
  if (!text)
    return state.SkipWithError("expected tests/simt/data/matmul.ptx");
  Module module = llvm::cantFail(parse((*text)->getBuffer()));
  Memory memory;
  void *buffers[] = {
      llvm::cantFail(memory.allocate(4 * kElements, "c")),
      llvm::cantFail(memory.allocate(2 * kElements, "a")),
      llvm::cantFail(memory.allocate(2 * kElements, "b")),
  };
  for (int i = 1; i < 3; ++i)
    std::memset(buffers[i], 0x3c, 2 * kElements);
  std::vector<uint8_t> arguments(sizeof(buffers));
  std::memcpy(arguments.data(), buffers, sizeof(buffers));
  LaunchOptions options;
  options.threads = 2;
  options.checks = state.range(0);
  for (auto _ : state) {
    auto report = launch(module, "matmul", {4, 4, 1}, {128, 1, 1}, 0, arguments,
                         memory, options);
    if (!report)
      return state.SkipWithError(llvm::toString(report.takeError()).c_str());
  }
}
BENCHMARK(product)->ArgName("checks")->Arg(1)->Arg(0)->UseRealTime()->Unit(
    benchmark::kMillisecond);

BENCHMARK_MAIN();
