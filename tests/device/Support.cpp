//===- Support.cpp - what the tests of devices share ----------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/device/Support.h"

#include "runtime/support/SharedLibrary.h"

#include <cstdlib>

using namespace raytention;
using namespace raytention::test;

static void set(const std::string &name, const char *value) {
  value ? setenv(name.c_str(), value, 1) : unsetenv(name.c_str());
}

ScopedVariable::ScopedVariable(const char *name, const char *value)
    : name(name), before(environment(name)), wasSet(std::getenv(name)) {
  set(name, value);
}

ScopedVariable::~ScopedVariable() {
  set(name, wasSet ? before.c_str() : nullptr);
}

std::shared_ptr<nvrtc::Compiler> test::nvrtcOrReason(std::string &reason,
                                                     bool &required) {
  required = environment("RT_REQUIRE_NVRTC") == "1";
  auto compiler = nvrtc::Compiler::open();
  if (compiler)
    return *compiler;
  reason = llvm::toString(compiler.takeError());
  return nullptr;
}
