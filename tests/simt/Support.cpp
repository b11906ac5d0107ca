//===- Support.cpp - compiling and running kernels in tests -----*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/simt/Support.h"

#include "llvm/Support/Error.h"

#include <dlfcn.h>

using namespace llvm;
using namespace raytention::simt;
using namespace raytention::simt::test;

namespace {
/// The few calls of libnvrtc that tests need.
struct Compiler {
  using Handle = void *;
  int (*create)(Handle *, const char *, const char *, int, const char *const *,
                const char *const *) = nullptr;
  int (*compile)(Handle, int, const char *const *) = nullptr;
  int (*textSize)(Handle, size_t *) = nullptr;
  int (*text)(Handle, char *) = nullptr;
  int (*logSize)(Handle, size_t *) = nullptr;
  int (*log)(Handle, char *) = nullptr;
  int (*destroy)(Handle *) = nullptr;

  Compiler() {
    const char *hide = std::getenv("RT_HIDE_CUDA");
    if (hide && *hide && std::string(hide) != "0")
      return;
    const char *named = std::getenv("RT_NVRTC");
    void *library = named && *named ? dlopen(named, RTLD_NOW) : nullptr;
    for (const char *name : {"libnvrtc.so.13", "libnvrtc.so", "libnvrtc.so.12",
                             "/usr/local/cuda/lib64/libnvrtc.so",
                             "/usr/local/cuda/lib/libnvrtc.so"})
      if (!library)
        library = dlopen(name, RTLD_NOW);
    if (!library)
      return;
    find(library, "nvrtcCreateProgram", create);
    find(library, "nvrtcCompileProgram", compile);
    find(library, "nvrtcGetPTXSize", textSize);
    find(library, "nvrtcGetPTX", text);
    find(library, "nvrtcGetProgramLogSize", logSize);
    find(library, "nvrtcGetProgramLog", log);
    find(library, "nvrtcDestroyProgram", destroy);
  }

  template <class F> void find(void *library, const char *name, F &symbol) {
    symbol = reinterpret_cast<F>(dlsym(library, name));
  }
  bool found() const {
    return create && compile && textSize && text && logSize && log && destroy;
  }
  static const Compiler &get() {
    static const Compiler compiler;
    return compiler;
  }
};
} // namespace

bool raytention::simt::test::hasNvrtc() { return Compiler::get().found(); }

std::string
raytention::simt::test::compileCuda(const std::string &source,
                                    const std::vector<std::string> &options) {
  const Compiler &compiler = Compiler::get();
  Compiler::Handle program = nullptr;
  if (compiler.create(&program, source.c_str(), "k.cu", 0, nullptr, nullptr))
    return "";
  std::vector<const char *> arguments = {"-lineinfo"};
  if (options.empty() || options[0].rfind("--gpu-architecture", 0) != 0)
    arguments.push_back("--gpu-architecture=compute_80");
  for (const std::string &option : options)
    arguments.push_back(option.c_str());
  int failed = compiler.compile(program, arguments.size(), arguments.data());
  size_t size = 0;
  std::string result;
  if (failed) {
    compiler.logSize(program, &size);
    std::string log(size, 0);
    compiler.log(program, log.data());
    ADD_FAILURE() << log;
  } else {
    compiler.textSize(program, &size);
    result.resize(size);
    compiler.text(program, result.data());
    result.resize(std::strlen(result.c_str()));
  }
  compiler.destroy(&program);
  return result;
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
