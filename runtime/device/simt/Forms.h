//===- Forms.h - all instructions that are accepted -------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_DEVICE_SIMT_FORMS_H
#define RAYTENTION_RUNTIME_DEVICE_SIMT_FORMS_H

#include "runtime/device/simt/Assembler.h"

namespace raytention::simt {

/// An instruction that parse() accepts. Its operands are written by type, with
/// a `=` before those that are written to: "=u64, u32, u32", "{=b32, =b32},
/// [b64]", "=b32|=pred, !pred, #4". A number stands for itself or for a range.
struct FormInfo {
  std::string family, mnemonic, operands;
  std::string text() const { return mnemonic + " " + operands; }
};

/// All of them, by family: the builders run once per sequence of choices. Parts
/// that change nothing of what is executed appear in one form of a family each.
std::vector<FormInfo> listForms();

/// Registers that a kernel finds filled, in the order of Special.
llvm::ArrayRef<llvm::StringRef> specialNames();

/// What a builder is told in place of a text. Choices are replayed: next()
/// changes the last of them that has not seen all its values.
class FormChooser {
public:
  unsigned choose(unsigned count);
  bool next();
  void restart(llvm::StringRef family, llvm::StringRef wanted);
  void addPart(llvm::StringRef part) { mnemonic += "." + part.str(); }
  void addOperand(const llvm::Twine &text);
  void ignored(llvm::ArrayRef<llvm::StringRef> choices, bool required);

  std::string mnemonic, operands;
  std::vector<std::string> offered; ///< parts that were left out

private:
  struct Choice {
    unsigned taken, count;
  };
  std::vector<Choice> choices;
  size_t at = 0;
  std::string wanted; ///< the ignored part that is put in
};

} // namespace raytention::simt

#endif // RAYTENTION_RUNTIME_DEVICE_SIMT_FORMS_H
