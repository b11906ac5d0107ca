//===- Mnemonic.cpp - the parts of a mnemonic, taken one by one -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/Forms.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace raytention::simt;

static constexpr StringRef kTypeNames[] = {
    "none", "pred", "b8",    "b16",    "b32",  "b64",   "u8",   "u16",
    "u32",  "u64",  "s8",    "s16",    "s32",  "s64",   "f16",  "bf16",
    "f32",  "f64",  "f16x2", "bf16x2", "tf32", "u16x2", "s16x2"};

Type raytention::simt::parseType(StringRef text) {
  for (unsigned i = 1; i < std::size(kTypeNames); ++i)
    if (text == kTypeNames[i])
      return static_cast<Type>(i);
  return Type::None;
}

StringRef raytention::simt::nameOf(Type type) {
  return kTypeNames[static_cast<unsigned>(type)];
}

unsigned raytention::simt::bitsOf(Type type) {
  switch (type) {
  case Type::None:
    return 0;
  case Type::Pred:
    return 1;
  case Type::B8:
  case Type::U8:
  case Type::S8:
    return 8;
  case Type::B16:
  case Type::U16:
  case Type::S16:
  case Type::F16:
  case Type::BF16:
    return 16;
  case Type::B64:
  case Type::U64:
  case Type::S64:
  case Type::F64:
    return 64;
  default:
    return 32;
  }
}

Form::Form(KernelAssembler &kernel, const Statement &statement,
           FormChooser *chooser)
    : kernel(kernel), statement(statement), chooser(chooser) {
  statement.name.split(parts, '.');
  taken.resize(parts.size());
}

StringRef Form::peekPart() const {
  for (size_t i = 1; i < parts.size(); ++i)
    if (!taken[i])
      return parts[i];
  return "";
}

/// The first of the parts that is a choice; else the number of choices.
unsigned Form::takeFirst(ArrayRef<StringRef> choices) {
  for (size_t i = 1; i < parts.size(); ++i) {
    unsigned index = find(choices, parts[i]) - choices.begin();
    if (taken[i] || index == choices.size())
      continue;
    taken[i] = true;
    return index;
  }
  return choices.size();
}

unsigned Form::maybe(ArrayRef<StringRef> choices, unsigned otherwise) {
  unsigned count = choices.size();
  // Where forms are listed, none is the first choice.
  unsigned index = chooser ? (among(count + 1, 0) + count) % (count + 1)
                           : takeFirst(choices);
  if (index == count)
    return otherwise;
  if (chooser)
    chooser->addPart(choices[index]);
  return index;
}

unsigned Form::oneOf(ArrayRef<StringRef> choices, StringRef inWords) {
  unsigned index = chooser ? among(choices.size(), 0) : takeFirst(choices);
  if (chooser)
    chooser->addPart(choices[index]);
  if (index < choices.size())
    return index;
  std::string all = choices.size() > 1 ? "one of ." : ".";
  all += join(choices, ", .");
  fail("expected " + (inWords.empty() ? all : inWords.str()) + ", got '." +
       peekPart() + "'");
  return 0;
}

static SmallVector<StringRef, 16> namesOf(Types types) {
  SmallVector<StringRef, 16> names;
  for (Type type : types)
    names.push_back(nameOf(type));
  return names;
}

Type Form::type(Types types) { return types[oneOf(namesOf(types))]; }

Type Form::lastType(Types types) {
  Type last = types[among(types.size(), 0)];
  if (chooser)
    return last;
  for (StringRef part : reverse(parts))
    if (const Type *found = find(types, parseType(part)); found != types.end())
      return *found;
  fail("expected one of the types ." + join(namesOf(types), ", .") +
       ", got '." + parts.back() + "'");
  return last;
}

Rounding Form::rounding() {
  return static_cast<Rounding>(oneOf({"rn", "rz", "rm", "rp"}));
}

Rounding Form::maybeRounding(Rounding otherwise) {
  return static_cast<Rounding>(maybe({"rn", "rz", "rm", "rp"}, otherwise));
}

/// Where forms are listed the first stands for all; each of the others is then
/// offered once.
StringRef Form::ignoresAny(ArrayRef<StringRef> choices, bool required) {
  if (!chooser) {
    unsigned none = choices.size();
    unsigned index = required ? oneOf(choices) : maybe(choices, none);
    return index == none ? "" : choices[index];
  }
  if (!failed())
    chooser->ignored(choices, required);
  return "";
}

StringRef Form::ignores(ArrayRef<StringRef> choices) {
  return ignoresAny(choices, false);
}

StringRef Form::ignoresOne(ArrayRef<StringRef> choices) {
  return ignoresAny(choices, true);
}
