//===- Support.cpp - what the tests of rt share ---------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/unit/Support.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <algorithm>

#include <sys/mman.h>
#include <unistd.h>

using namespace raytention;
using namespace raytention::test;

TempFolder::TempFolder() {
  llvm::SmallString<128> name;
  if (llvm::sys::fs::createUniqueDirectory("rt-test", name))
    std::abort();
  path = name.str().str();
}

TempFolder::~TempFolder() { llvm::sys::fs::remove_directories(path); }

std::vector<std::string> TempFolder::entries() const {
  std::vector<std::string> names;
  std::error_code code;
  for (llvm::sys::fs::directory_iterator it(path, code), end;
       it != end && !code; it.increment(code))
    names.push_back(llvm::sys::path::filename(it->path()).str());
  std::sort(names.begin(), names.end());
  return names;
}

void test::writeFile(const std::string &path, llvm::StringRef bytes) {
  std::error_code code;
  llvm::raw_fd_ostream os(path, code);
  os << bytes;
}

std::string test::readFile(const std::string &path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  return file ? (*file)->getBuffer().str() : "";
}

llvm::Expected<tool::NpyArray> test::parse(llvm::StringRef bytes) {
  int memory = memfd_create("f.npy", MFD_CLOEXEC);
  std::string path = "/proc/self/fd/" + std::to_string(memory);
  writeFile(path, bytes);
  auto file = tool::InputFile::open(path, "f.npy");
  close(memory);
  if (!file)
    return file.takeError();
  return tool::parseNpy(*file, "f.npy");
}

ToolOutput test::runRt(const std::vector<std::string> &args,
                       const tool::CompileFunction &compile) {
  std::vector<const char *> pointers;
  for (const std::string &arg : args)
    pointers.push_back(arg.c_str());
  ToolOutput output;
  llvm::raw_string_ostream out(output.out), err(output.err);
  output.code = tool::runTool(pointers, out, err, compile);
  return output;
}
