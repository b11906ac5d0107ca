//===- Module.cpp - from PTX text to kernels --------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/Assembler.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace llvm;
using namespace raytention::simt;

static constexpr uint64_t kMaxVariable = uint64_t(256) << 20;

ArrayRef<Entry> Module::entries() const { return impl->entries; }

const Entry *Module::findEntry(StringRef name) const {
  for (const Entry &entry : impl->entries)
    if (entry.name == name)
      return &entry;
  return nullptr;
}

Expected<Symbol> Module::findSymbol(StringRef name) const {
  std::string known;
  for (const std::unique_ptr<Variable> &variable : impl->variables) {
    if (variable->name == name)
      return Symbol{variable->base, variable->bytes, variable->constant};
    known += (known.empty() ? "" : ", ") + variable->name;
  }
  return createStringError("expected one of the variables " +
                           (known.empty() ? "(none)" : known) + ", got '" +
                           name + "'");
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

static Error initialize(const Statement &s, unsigned element,
                        Variable &variable) {
  if (s.initial.size() > s.count)
    return errorAt(s.line, "expected at most " + Twine(s.count) +
                               " values of '" + s.name + "', got " +
                               Twine(s.initial.size()));
  uint8_t *to = variable.base;
  for (const Operand &value : s.initial) {
    if (value.kind != Operand::Integer &&
        value.kind != (element == 4 ? Operand::Float32 : Operand::Float64))
      return errorAt(s.line, "expected numbers as values of '" + s.name + "'");
    std::memcpy(to, &value.bits, element);
    to += element;
  }
  return Error::success();
}

static Error addVariable(Program &program, const Statement &s) {
  unsigned element = bitsOf(parseType(s.type.drop_front())) / 8;
  uint64_t bytes = element * s.count;
  if (!element || bytes > kMaxVariable)
    return errorAt(s.line, "expected a variable of at most " +
                               Twine(kMaxVariable) + " bytes, got '" + s.type +
                               " " + s.name + "'");
  if (s.isExtern)
    return errorAt(s.line, "expected a definition of '" + s.name +
                               "', got a declaration");
  auto variable = std::make_unique<Variable>();
  variable->name = s.name.str();
  variable->bytes = bytes;
  variable->constant = s.space == ".const";
  variable->alignment = std::max({s.alignment, element, 16u});
  variable->storage.reset(new uint8_t[bytes + variable->alignment]());
  uint64_t start = reinterpret_cast<uint64_t>(variable->storage.get());
  variable->base =
      variable->storage.get() + (alignTo(start, variable->alignment) - start);
  if (Error error = initialize(s, element, *variable))
    return error;
  program.variables.push_back(std::move(variable));
  return Error::success();
}

static Error addVariables(Program &program, const SyntaxTree &tree) {
  for (const Statement &s : tree.variables) {
    if (s.space == ".shared")
      continue;
    if (s.space != ".global" && s.space != ".const")
      return errorAt(s.line, "expected a global, const or shared variable, "
                             "got '" +
                                 s.space + "'");
    if (Error error = addVariable(program, s))
      return error;
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static Error checkParameters(const Function &entry) {
  uint64_t total = 0;
  for (const Statement &s : entry.parameters) {
    uint64_t size = bitsOf(parseType(s.type.drop_front())) / 8 * s.count;
    total += size;
    if (!size || total > 32764)
      return errorAt(s.line, "expected parameters of 1 to 32764 bytes, got '" +
                                 s.name + "'");
  }
  return Error::success();
}

Expected<Module> raytention::simt::parse(StringRef ptx) {
  Expected<SyntaxTree> tree = parseSyntax(ptx);
  if (!tree)
    return tree.takeError();
  auto program = std::make_shared<Program>();
  program->files = tree->files;
  if (Error error = addVariables(*program, *tree))
    return error;
  for (const Function &function : tree->functions) {
    if (!function.isEntry || !function.hasBody)
      continue;
    if (Error error = checkParameters(function))
      return error;
    Expected<Kernel> kernel = KernelAssembler(*program, *tree).run(function);
    if (!kernel)
      return kernel.takeError();
    program->entries.push_back(kernel->entry);
    program->kernels.push_back(std::move(*kernel));
  }
  Module module;
  module.impl = std::move(program);
  return module;
}
