//===- Compiler.cpp - CUDA C++ to PTX or machine code ---------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/nvrtc/Compiler.h"

#include "runtime/nvrtc/Program.h"
#include "runtime/support/CpuCount.h"
#include "runtime/support/Crew.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>

using namespace llvm;
using namespace raytention;
using namespace raytention::nvrtc;

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

Compiler::Compiler() : api(std::make_unique<Api>()) {}
Compiler::~Compiler() = default;

Error Api::failure(const char *function, int result) const {
  const char *text = nvrtcGetErrorString ? nvrtcGetErrorString(result) : "";
  return createStringError(Twine(function) + ": expected NVRTC_SUCCESS, got " +
                           text + " (" + Twine(result) + ")");
}

static LibrarySearch searchForNvrtc() {
  LibrarySearch search;
  search.title = "NVRTC";
  search.pathVariable = "RT_NVRTC";
  search.candidates = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
  for (std::string &path : findToolkitFiles(
           search.candidates, {"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"}))
    search.candidates.push_back(std::move(path));
  search.where = "on the loader's path, in a CUDA toolkit or a Python package";
  search.howToGet = "install a CUDA toolkit of version 12 or 13, or the Python "
                    "package nvidia-cuda-nvrtc, or set RT_NVRTC to its file";
  return search;
}

Error Compiler::readVersion() {
  if (Error error = api->call(api->nvrtcVersion, &number.major, &number.minor))
    return error;
  int count = 0;
  if (Error error = api->call(api->nvrtcGetNumSupportedArchs, &count))
    return error;
  archs.resize(std::max(count, 0));
  if (Error error = api->call(api->nvrtcGetSupportedArchs, archs.data()))
    return error;
  llvm::sort(archs);
  return Error::success();
}

Expected<std::shared_ptr<Compiler>> Compiler::open() {
  Expected<SharedLibrary> library = SharedLibrary::open(searchForNvrtc());
  if (!library)
    return library.takeError();
  std::shared_ptr<Compiler> compiler(new Compiler());
  compiler->file = library->path();
  if (Error error = compiler->api->bind(*library))
    return error;
  if (Error error = compiler->readVersion())
    return createStringError("NVRTC in " + library->path() + ": " +
                             toString(std::move(error)));
  return compiler;
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

/// NVRTC takes an unknown number for an invalid option and names no other.
Error Compiler::checkArchitecture(StringRef arch) const {
  StringRef digits = arch;
  int number = 0;
  bool known = digits.consume_front("compute_") || digits.consume_front("sm_");
  known = known && !digits.consumeInteger(10, number) &&
          llvm::is_contained(archs, number) &&
          (digits.empty() || digits == "a" || digits == "f");
  if (known)
    return Error::success();
  return createStringError(
      "architecture: expected compute_N or sm_N with N one of " +
      llvm::join(
          llvm::map_range(archs, [](int n) { return std::to_string(n); }),
          ", ") +
      " (NVRTC " + Twine(this->number.major) + "." + Twine(this->number.minor) +
      "), 'a' or 'f' after it where it has such features, got '" + arch + "'");
}

static Error checkSpills(const Source &source, const Compiled &compiled) {
  for (const KernelResources &kernel : compiled.kernels)
    if (kernel.spills())
      return createStringError(
          source.name + " for " + compiled.arch + ": kernel " + kernel.name +
          ": expected no spilled registers, got " +
          Twine(kernel.spillStoreBytes) + " bytes stored and " +
          Twine(kernel.spillLoadBytes) + " loaded with " +
          Twine(kernel.registers) +
          " registers; use a smaller tile or more threads per block");
  return Error::success();
}

static Error checkHazards(const Source &source, const Compiled &compiled) {
  if (compiled.hazards.empty())
    return Error::success();
  return createStringError(source.name + " for " + compiled.arch +
                           ": expected no hazard from the assembler, got: " +
                           llvm::join(compiled.hazards, "; "));
}

/// What only the assembler knows.
static Error readAssembled(const Source &source, const Program &program,
                           Compiled &compiled) {
  Expected<std::vector<char>> cubin = program.cubin();
  if (!cubin)
    return cubin.takeError();
  compiled.cubin = std::move(*cubin);
  Expected<std::vector<KernelResources>> kernels = parseResources(compiled.log);
  if (!kernels)
    return kernels.takeError();
  compiled.kernels = std::move(*kernels);
  compiled.hazards = parseHazards(compiled.log);
  if (source.failOnHazards)
    if (Error error = checkHazards(source, compiled))
      return error;
  return source.failOnSpills ? checkSpills(source, compiled) : Error::success();
}

static Error readCompiled(const Source &source, const Program &program,
                          Compiled &compiled) {
  Expected<std::string> log = program.log();
  if (!log)
    return log.takeError();
  compiled.log = std::move(*log);
  Expected<std::string> ptx = program.ptx();
  if (!ptx)
    return ptx.takeError();
  compiled.ptx = std::move(*ptx);
  for (const std::string &expression : source.nameExpressions) {
    Expected<std::string> name = program.loweredName(expression);
    if (!name)
      return name.takeError();
    compiled.loweredNames[expression] = std::move(*name);
  }
  return StringRef(compiled.arch).starts_with("sm_")
             ? readAssembled(source, program, compiled)
             : Error::success();
}

static Error checkRequest(const Source &source, StringRef arch) {
  if ((source.failOnHazards || source.failOnSpills) && !arch.starts_with("sm_"))
    return createStringError("hazards and spills: expected an sm_N "
                             "architecture, got '" +
                             arch + "', which is not assembled");
  if (source.text.find('\0') != std::string::npos)
    return createStringError(source.name +
                             ": expected CUDA C++, got a text with a zero "
                             "byte");
  return Error::success();
}

Expected<Compiled> Compiler::compile(const Source &source,
                                     StringRef arch) const {
  if (Error error = checkArchitecture(arch))
    return error;
  if (Error error = checkRequest(source, arch))
    return error;
  auto start = std::chrono::steady_clock::now();
  Expected<Program> program = Program::create(*api, source);
  if (!program)
    return program.takeError();
  if (Error error = program->compile(arch))
    return error;
  Compiled compiled;
  compiled.arch = arch.str();
  if (Error error = readCompiled(source, *program, compiled))
    return error;
  compiled.milliseconds = std::chrono::duration<double, std::milli>(
                              std::chrono::steady_clock::now() - start)
                              .count();
  return compiled;
}

Expected<std::vector<Compiled>>
Compiler::compileAll(const Source &source, ArrayRef<std::string> wanted,
                     int threads) const {
  std::vector<Compiled> results(wanted.size());
  Error errors = Error::success();
  std::mutex mutex;
  std::atomic<size_t> next{0};
  int most = threads > 0 ? threads : countCpus().workers();
  runTogether(std::min<size_t>(most, wanted.size()), [&](int) {
    for (size_t i = next++; i < wanted.size(); i = next++) {
      Expected<Compiled> compiled = compile(source, wanted[i]);
      std::lock_guard<std::mutex> lock(mutex);
      if (compiled)
        results[i] = std::move(*compiled);
      else
        errors = joinErrors(std::move(errors), compiled.takeError());
    }
  });
  if (errors)
    return errors;
  return results;
}
