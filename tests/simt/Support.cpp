//===- Support.cpp - compiling and running kernels in tests -----*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/simt/Support.h"

#include "runtime/nvrtc/Compiler.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace raytention;
using namespace raytention::simt;
using namespace raytention::simt::test;

/// NVRTC, or null where it was not found.
static const nvrtc::Compiler *getCompiler() {
  static std::shared_ptr<nvrtc::Compiler> compiler = [] {
    auto opened = nvrtc::Compiler::open();
    if (opened)
      return *opened;
    consumeError(opened.takeError());
    return std::shared_ptr<nvrtc::Compiler>();
  }();
  return compiler.get();
}

bool raytention::simt::test::hasNvrtc() { return getCompiler(); }

std::string raytention::simt::test::readData(const std::string &name) {
  auto file = MemoryBuffer::getFile(RAYTENTION_SIMT_DATA "/" + name);
  return file ? (*file)->getBuffer().str() : "";
}

std::string
raytention::simt::test::compileCuda(const std::string &source,
                                    const std::vector<std::string> &options,
                                    const std::string &arch) {
  nvrtc::Source text;
  text.name = "k.cu";
  text.text = source;
  text.options = options;
  text.lineInfo = true;
  for (const char *header : {"hopper.h", "wgmma.h"})
    text.headers.push_back({header, readData(header)});
  auto compiled = getCompiler()->compile(text, arch);
  if (compiled)
    return compiled->ptx;
  ADD_FAILURE() << toString(compiled.takeError());
  return "";
}

Machine::Machine(const std::string &ptx) {
  Expected<Module> parsed = parse(ptx);
  if (parsed)
    module.emplace(std::move(*parsed));
  else
    ADD_FAILURE() << toString(parsed.takeError());
}

void *Machine::allocate(uint64_t bytes, const char *name) {
  Expected<void *> base = memory.allocate(bytes, name);
  if (base)
    return *base;
  ADD_FAILURE() << toString(base.takeError());
  return nullptr;
}

Report Machine::run(const char *entry, Dim3 grid, Dim3 block, uint32_t shared,
                    const std::vector<uint8_t> &arguments,
                    const LaunchOptions &options) {
  if (!module)
    return {};
  Expected<Report> report =
      launch(*module, entry, grid, block, shared, arguments, memory, options);
  if (report)
    return std::move(*report);
  ADD_FAILURE() << toString(report.takeError());
  return {};
}

std::string raytention::simt::test::describe(const Report &report) {
  std::string text;
  for (const Finding &finding : report.findings)
    text += finding.text() + "\n";
  return text;
}

device::EncodedTensorMap raytention::simt::test::encoded(const TensorMap &map) {
  device::EncodedTensorMap result;
  if (Error error = encode(map, result.bytes.data()))
    ADD_FAILURE() << toString(std::move(error));
  return result;
}

std::vector<uint16_t> raytention::simt::test::drawBFloats(size_t count,
                                                          unsigned seed) {
  std::vector<uint16_t> values(count);
  for (uint16_t &value : values) {
    seed = seed * 1664525 + 1013904223;
    float number = float(int(seed >> 24) - 128) / 64;
    uint32_t bits;
    std::memcpy(&bits, &number, 4);
    value = bits >> 16;
  }
  return values;
}

float raytention::simt::test::widenBFloat(uint16_t bits) {
  uint32_t wide = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &wide, 4);
  return value;
}
