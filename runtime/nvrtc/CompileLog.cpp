//===- CompileLog.cpp - what the assembler's log says ---------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/nvrtc/CompileLog.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace raytention;
using namespace raytention::nvrtc;

/// The number before `unit` in a list such as "Used 10 registers, used 1
/// barriers, 1024 bytes smem"; 0 where it is not there.
static int64_t numberBefore(StringRef line, StringRef unit) {
  size_t end = line.find(unit);
  if (end == StringRef::npos)
    return 0;
  StringRef before = line.take_front(end).rtrim();
  size_t digits = before.find_last_not_of("0123456789");
  int64_t value = 0;
  before.drop_front(digits == StringRef::npos ? 0 : digits + 1)
      .getAsInteger(10, value);
  return value;
}

/// The text between the quotes that follow `words`.
static StringRef quotedAfter(StringRef line, StringRef words) {
  size_t start = line.find(words);
  if (start == StringRef::npos)
    return {};
  return line.drop_front(start + words.size()).split('\'').first;
}

static void readProperties(StringRef line, KernelResources &kernel) {
  kernel.stackBytes = numberBefore(line, " bytes stack frame");
  kernel.spillStoreBytes = numberBefore(line, " bytes spill stores");
  kernel.spillLoadBytes = numberBefore(line, " bytes spill loads");
}

static void readUse(StringRef line, KernelResources &kernel) {
  kernel.registers = numberBefore(line, " registers");
  kernel.barriers = numberBefore(line, " barriers");
  kernel.sharedBytes = numberBefore(line, " bytes smem");
}

Expected<std::vector<KernelResources>> nvrtc::parseResources(StringRef log) {
  std::vector<KernelResources> kernels;
  // Properties of device functions stand between those of kernels.
  bool ofKernel = false;
  SmallVector<StringRef> lines;
  log.split(lines, '\n');
  for (StringRef line : lines) {
    if (StringRef name = quotedAfter(line, "Compiling entry function '");
        !name.empty()) {
      kernels.emplace_back().name = name.str();
      continue;
    }
    if (size_t at = line.find("Function properties for ");
        at != StringRef::npos) {
      StringRef name = line.drop_front(at + 24).trim();
      ofKernel = !kernels.empty() && kernels.back().name == name;
      continue;
    }
    if (kernels.empty())
      continue;
    if (line.contains(" bytes stack frame") && ofKernel)
      readProperties(line, kernels.back());
    else if (line.contains("Used ") && line.contains(" registers"))
      readUse(line, kernels.back());
  }
  for (const KernelResources &kernel : kernels)
    if (kernel.registers == 0)
      return createStringError("log of the assembler: expected 'Used N "
                               "registers' for the kernel " +
                               kernel.name + ", got none");
  return kernels;
}

std::vector<std::string> nvrtc::parseHazards(StringRef log) {
  std::vector<std::string> hazards;
  SmallVector<StringRef> lines;
  log.split(lines, '\n');
  for (StringRef line : lines) {
    size_t at = line.find("(C75");
    if (at != StringRef::npos && line.size() > at + 6 &&
        isDigit(line[at + 4]) && isDigit(line[at + 5]))
      hazards.push_back(line.trim().str());
  }
  return hazards;
}
