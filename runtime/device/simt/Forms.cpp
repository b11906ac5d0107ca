//===- Forms.cpp - all instructions that are accepted -----------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/Forms.h"

using namespace llvm;
using namespace raytention::simt;

unsigned FormChooser::choose(unsigned count) {
  if (at == choices.size())
    choices.push_back({0, count});
  return choices[at++].taken;
}

bool FormChooser::next() {
  while (!choices.empty() && choices.back().taken + 1 == choices.back().count)
    choices.pop_back();
  if (choices.empty())
    return false;
  ++choices.back().taken;
  return true;
}

void FormChooser::restart(StringRef family, StringRef part) {
  at = 0;
  mnemonic = family.str();
  operands.clear();
  offered.clear();
  wanted = part.str();
}

void FormChooser::addOperand(const Twine &text) {
  operands += (operands.empty() ? "" : ", ") + text.str();
}

void FormChooser::ignored(ArrayRef<StringRef> parts, bool required) {
  for (StringRef part : parts)
    if (part == wanted)
      return addPart(part);
  if (required)
    addPart(parts[0]);
  for (StringRef part : parts.drop_front(required))
    offered.push_back(part.str());
}

namespace {

class Lister {
public:
  void addFamily(StringRef family, Builder builder) {
    FormChooser chooser;
    std::map<std::string, FormChooser> ignored;
    do {
      if (!tryForm(chooser, family, builder, ""))
        continue;
      for (const std::string &part : chooser.offered)
        ignored.try_emplace(part, chooser);
    } while (chooser.next());
    for (auto &[part, sequence] : ignored)
      tryForm(sequence, family, builder, part);
  }

  std::vector<FormInfo> forms;

private:
  bool tryForm(FormChooser &chooser, StringRef family, Builder builder,
               StringRef part) {
    Program program;
    SyntaxTree tree;
    KernelAssembler kernel(program, tree);
    Statement statement;
    statement.name = family;
    chooser.restart(family, part);
    Form form(kernel, statement, &chooser);
    builder(form);
    if (Error error = form.finish()) {
      consumeError(std::move(error));
      return false;
    }
    forms.push_back({family.str(), chooser.mnemonic, chooser.operands});
    return true;
  }
};

} // namespace

std::vector<FormInfo> raytention::simt::listForms() {
  Lister lister;
  for (auto [family, builder] : allBuilders())
    lister.addFamily(family, builder);
  return std::move(lister.forms);
}
