//===- Form.cpp - one instruction being built -------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/Assembler.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <cstring>

using namespace llvm;
using namespace raytention::simt;

Type raytention::simt::parseType(StringRef text) {
  return StringSwitch<Type>(text)
      .Case("pred", Type::Pred)
      .Case("b8", Type::B8)
      .Case("b16", Type::B16)
      .Case("b32", Type::B32)
      .Case("b64", Type::B64)
      .Case("u8", Type::U8)
      .Case("u16", Type::U16)
      .Case("u32", Type::U32)
      .Case("u64", Type::U64)
      .Case("s8", Type::S8)
      .Case("s16", Type::S16)
      .Case("s32", Type::S32)
      .Case("s64", Type::S64)
      .Case("f16", Type::F16)
      .Case("bf16", Type::BF16)
      .Case("f32", Type::F32)
      .Case("f64", Type::F64)
      .Case("f16x2", Type::F16x2)
      .Case("bf16x2", Type::BF16x2)
      .Case("tf32", Type::TF32)
      .Case("u16x2", Type::U16x2)
      .Case("s16x2", Type::S16x2)
      .Default(Type::None);
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

Form::Form(KernelAssembler &kernel, const Statement &statement)
    : kernel(kernel), statement(statement) {
  statement.name.split(parts, '.');
  taken.resize(parts.size());
  taken[0] = true;
}

//===----------------------------------------------------------------------===//
// The mnemonic
//===----------------------------------------------------------------------===//

bool Form::has(StringRef part) {
  for (size_t i = 1; i < parts.size(); ++i)
    if (!taken[i] && parts[i] == part)
      return taken[i] = true;
  return false;
}

StringRef Form::peekPart() const {
  for (size_t i = 1; i < parts.size(); ++i)
    if (!taken[i])
      return parts[i];
  return "";
}

unsigned Form::maybe(ArrayRef<StringRef> choices, unsigned otherwise) {
  for (unsigned i = 0; i < choices.size(); ++i)
    if (has(choices[i]))
      return i;
  return otherwise;
}

unsigned Form::oneOf(ArrayRef<StringRef> choices) {
  StringRef next = peekPart();
  for (unsigned i = 0; i < choices.size(); ++i)
    if (next == choices[i]) {
      has(next);
      return i;
    }
  fail("expected one of ." + join(choices, ", .") + ", got '." + next + "'");
  return 0;
}

Type Form::type() {
  StringRef next = peekPart();
  Type result = parseType(next);
  if (result == Type::None)
    fail("expected a type, got '." + next + "'");
  else
    has(next);
  return result;
}

Rounding Form::rounding() {
  return static_cast<Rounding>(maybe({"rn", "rz", "rm", "rp"}, RoundNearest));
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

size_t Form::operandsLeft() const {
  return statement.operands.size() - nextOperand;
}

const Operand *Form::peekOperand() const {
  return operandsLeft() ? &statement.operands[nextOperand] : nullptr;
}

const Operand *Form::takeOperand() {
  if (!operandsLeft()) {
    fail("expected another operand, got " + Twine(statement.operands.size()));
    return nullptr;
  }
  return &statement.operands[nextOperand++];
}

void Form::addDest(uint32_t reg) {
  if (code.sources || code.destinations == kMaxOperands)
    return fail("expected fewer operands");
  code.op[code.destinations++] = reg;
}

void Form::addSource(uint32_t reg) {
  if (code.destinations + code.sources == kMaxOperands)
    return fail("expected fewer operands");
  code.op[code.destinations + code.sources++] = reg;
}

uint32_t Form::constant(Type type, uint64_t bits) {
  return kernel.constant(type, bits);
}

static StringRef describe(Type type) {
  static const StringRef names[] = {
      "none", "pred", "b8",    "b16",    "b32",  "b64",   "u8",   "u16",
      "u32",  "u64",  "s8",    "s16",    "s32",  "s64",   "f16",  "bf16",
      "f32",  "f64",  "f16x2", "bf16x2", "tf32", "u16x2", "s16x2"};
  return names[static_cast<unsigned>(type)];
}

static bool fits(Type wanted, Type got, bool wide) {
  if ((wanted == Type::Pred) != (got == Type::Pred))
    return false;
  return wide ? bitsOf(got) >= bitsOf(wanted) : bitsOf(got) == bitsOf(wanted);
}

/// A number as the bits of a type; false where its kind does not fit.
static bool numberBits(const Operand &operand, Type type, uint64_t &bits) {
  bits = operand.bits;
  if (operand.kind == Operand::Integer)
    return type != Type::F32 && type != Type::F64 && type != Type::F16 &&
           type != Type::BF16;
  if (operand.kind == Operand::Float32)
    return bitsOf(type) == 32;
  if (bitsOf(type) == 64)
    return true;
  if (type != Type::F32)
    return false;
  double wide;
  std::memcpy(&wide, &operand.bits, sizeof(wide));
  float narrow = static_cast<float>(wide);
  uint32_t narrowBits;
  std::memcpy(&narrowBits, &narrow, sizeof(narrow));
  bits = narrowBits;
  return true;
}

uint32_t Form::readRegister(const Operand &operand, Type type, bool wide,
                            unsigned *bits) {
  if (bits)
    *bits = std::max(16u, bitsOf(type));
  if (operand.kind == Operand::Integer || operand.kind == Operand::Float32 ||
      operand.kind == Operand::Float64) {
    uint64_t value = 0;
    if (!numberBits(operand, type, value))
      fail("expected an operand of type ." + describe(type) +
           ", got a number of another kind");
    return constant(type, value);
  }
  if (operand.kind != Operand::Name || operand.negated) {
    fail("expected a register or a number");
    return 0;
  }
  KernelAssembler::Register found;
  if (kernel.findRegister(operand.name, found) ||
      kernel.findSpecial(operand.name, found)) {
    if (!fits(type, found.type, wide) || operand.offset)
      fail("expected a register of type ." + describe(type) + ", got " +
           operand.name + " of type ." + describe(found.type));
    if (bits)
      *bits = bitsOf(found.type);
    return found.offset;
  }
  KernelAssembler::Place place;
  if (isInteger(type) && bitsOf(type) >= 32 &&
      kernel.findPlace(operand.name, place))
    return kernel.constant(type, place.value + operand.offset, place.dynamic);
  fail("expected a register, a number or a variable, got '" + operand.name +
       "'");
  return 0;
}

uint32_t Form::writtenRegister(const Operand &operand, Type type, bool wide,
                               unsigned *bits) {
  if (bits)
    *bits = std::max(16u, bitsOf(type));
  if (operand.kind == Operand::Name && operand.name == "_")
    return kernel.scratch(8, "_");
  KernelAssembler::Register found;
  if (operand.kind != Operand::Name || operand.negated ||
      !kernel.findRegister(operand.name, found)) {
    fail("expected a register to write, got '" + operand.name + "'");
    return 0;
  }
  if (!fits(type, found.type, wide))
    fail("expected a register of type ." + describe(type) + ", got " +
         operand.name + " of type ." + describe(found.type));
  if (bits)
    *bits = bitsOf(found.type);
  return found.offset;
}

void Form::dest(Type type) {
  if (const Operand *operand = takeOperand())
    addDest(writtenRegister(*operand, type));
}

void Form::source(Type type) {
  if (const Operand *operand = takeOperand())
    addSource(readRegister(*operand, type));
}

unsigned Form::wideDest(Type type) {
  unsigned bits = 0;
  if (const Operand *operand = takeOperand())
    addDest(writtenRegister(*operand, type, true, &bits));
  return bits;
}

unsigned Form::wideSource(Type type) {
  unsigned bits = 0;
  if (const Operand *operand = takeOperand())
    addSource(readRegister(*operand, type, true, &bits));
  return bits;
}

unsigned Form::destVector(Type type, unsigned least, unsigned most, bool wide) {
  const Operand *operand = takeOperand();
  if (!operand)
    return least;
  ArrayRef<Operand> all = operand->kind == Operand::Vector
                              ? ArrayRef<Operand>(operand->elements)
                              : ArrayRef<Operand>(*operand);
  if (all.size() < least || all.size() > most)
    fail("expected " + Twine(least) + " registers, got " + Twine(all.size()));
  unsigned bits = 0, first = 0;
  for (const Operand &element : all) {
    if (failed())
      break;
    addDest(writtenRegister(element, type, wide, &bits));
    if (!first && element.name != "_")
      first = bits;
    if (first && bits != first && element.name != "_")
      fail("expected registers of one width");
  }
  code.form2 = first ? first : bits;
  return all.size();
}

unsigned Form::sourceVector(Type type, unsigned least, unsigned most,
                            bool wide) {
  const Operand *operand = takeOperand();
  if (!operand)
    return least;
  ArrayRef<Operand> all = operand->kind == Operand::Vector
                              ? ArrayRef<Operand>(operand->elements)
                              : ArrayRef<Operand>(*operand);
  if (all.size() < least || all.size() > most)
    fail("expected " + Twine(least) + " registers, got " + Twine(all.size()));
  unsigned bits = 0, widest = 0;
  for (const Operand &element : all)
    if (element.kind == Operand::Name && !failed()) {
      readRegister(element, type, wide, &bits);
      if (widest && bits != widest)
        fail("expected registers of one width");
      widest = bits;
    }
  // Numbers take the width of the registers beside them.
  if (!widest)
    widest = std::max(16u, bitsOf(type));
  Type width = widest == 64 ? Type::B64 : widest == 32 ? Type::B32 : Type::B16;
  for (const Operand &element : all) {
    if (failed())
      break;
    bool number = element.kind == Operand::Integer;
    addSource(readRegister(element, number && wide ? width : type, wide));
  }
  code.form2 = widest;
  return all.size();
}

/// The register of an address without its offset.
uint32_t Form::base(const Operand &operand, unsigned place) {
  KernelAssembler::Register found;
  KernelAssembler::Place variable;
  uint8_t *bits[] = {&code.addressBits, &code.addressBits2, &code.addressBits3};
  if (operand.name.empty())
    return constant(Type::B64, 0);
  if (kernel.findRegister(operand.name, found)) {
    *bits[place] = bitsOf(found.type);
    if (*bits[place] != 32 && *bits[place] != 64)
      fail("expected an address of 32 or 64 bits, got " + operand.name);
    return found.offset;
  }
  if (!kernel.findPlace(operand.name, variable)) {
    fail("expected a register or a variable, got '" + operand.name + "'");
    return 0;
  }
  // Parameters of a call in place live in local memory.
  if (code.space == Space::Param ||
      (code.space == Space::Generic && variable.space != Space::Param))
    code.space = variable.space;
  return kernel.constant(Type::B64, variable.value, variable.dynamic);
}

void Form::address(unsigned place) {
  const Operand *operand = takeOperand();
  if (!operand)
    return;
  if (operand->kind != Operand::Address || !operand->elements.empty())
    return fail("expected an address [register + offset]");
  int64_t *offsets[] = {&code.offset, &code.offset2, &code.offset3};
  *offsets[place] = operand->offset;
  uint32_t reg = base(*operand, place);
  if (!failed())
    addSource(reg);
}

void Form::tensorAddress(unsigned place, unsigned rank) {
  const Operand *operand = takeOperand();
  if (!operand)
    return;
  if (operand->kind != Operand::Address || operand->offset ||
      operand->elements.size() != 1 ||
      operand->elements[0].elements.size() != rank)
    return fail("expected [map, {" + Twine(rank) + " coordinates}]");
  uint32_t reg = base(*operand, place);
  if (failed())
    return;
  addSource(reg);
  for (const Operand &coordinate : operand->elements[0].elements)
    if (!failed())
      addSource(readRegister(coordinate, Type::S32));
}

uint64_t Form::immediate(uint64_t least, uint64_t most) {
  const Operand *operand = takeOperand();
  if (!operand)
    return least;
  if (operand->kind == Operand::Integer && operand->bits >= least &&
      operand->bits <= most)
    return operand->bits;
  fail("expected a number from " + Twine(least) + " to " + Twine(most));
  return least;
}

void Form::label() {
  const Operand *operand = takeOperand();
  if (operand && (operand->kind != Operand::Name ||
                  !kernel.findLabel(operand->name, code.target)))
    fail("expected a label, got '" + operand->name + "'");
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

void Form::fail(const Twine &text) {
  if (message.empty())
    message = text.str();
}

Error Form::finish() {
  if (!failed() && !peekPart().empty())
    fail("expected a known form of " + family() + ", got '." + peekPart() +
         "'");
  if (!failed() && operandsLeft())
    fail("expected " + Twine(nextOperand) + " operands, got " +
         Twine(statement.operands.size()));
  if (!failed() && !code.run && code.flow == Flow::Plain)
    fail("expected another type");
  if (failed())
    return errorAt(statement.line, message + " in '" + statement.name + "'");
  return Error::success();
}
