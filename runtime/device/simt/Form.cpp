//===- Form.cpp - the operands of an instruction being built ----*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/Forms.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cstring>

using namespace llvm;
using namespace raytention::simt;

size_t Form::operandsLeft() const {
  return statement.operands.size() - nextOperand;
}

const Operand *Form::peekOperand() const {
  return operandsLeft() ? &statement.operands[nextOperand] : nullptr;
}

const Operand *Form::takeOperand() {
  if (chooser)
    return nullptr;
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
      fail("expected an operand of type ." + nameOf(type) +
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
      fail("expected a register of type ." + nameOf(type) + ", got " +
           operand.name + " of type ." + nameOf(found.type));
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
    fail("expected a register of type ." + nameOf(type) + ", got " +
         operand.name + " of type ." + nameOf(found.type));
  if (bits)
    *bits = bitsOf(found.type);
  return found.offset;
}

unsigned Form::among(unsigned count, unsigned inText) {
  return !chooser ? inText : failed() ? 0 : chooser->choose(count);
}

void Form::shape(const Twine &text) {
  if (chooser)
    chooser->addOperand(text);
}

void Form::dest(Type type) {
  shape("=" + nameOf(type));
  if (const Operand *operand = takeOperand())
    addDest(writtenRegister(*operand, type));
  else
    addDest(0);
}

void Form::source(Type type) {
  shape(nameOf(type));
  if (const Operand *operand = takeOperand())
    addSource(readRegister(*operand, type));
  else
    addSource(0);
}

void Form::destPair(Type first, Type second) {
  const Operand *next = peekOperand();
  either(next && next->kind == Operand::Pair) ? destBoth(first, second)
                                              : dest(first);
}

void Form::destBoth(Type first, Type second) {
  shape("=" + nameOf(first) + "|=" + nameOf(second));
  const Operand *operand = takeOperand();
  if (operand && operand->kind != Operand::Pair)
    return fail("expected two destinations, %a|%b");
  addDest(operand ? writtenRegister(operand->elements[0], first) : 0);
  addDest(operand ? writtenRegister(operand->elements[1], second) : 0);
}

bool Form::sourcePredicate() {
  const Operand *operand = takeOperand();
  bool negated = either(operand && operand->negated);
  shape(negated ? "!pred" : "pred");
  Operand plain = operand ? *operand : Operand();
  plain.negated = false;
  addSource(operand ? readRegister(plain, Type::Pred) : 0);
  return negated;
}

/// Where forms are listed: one of the registers that hold the type.
Type Form::wideRegister(Type type, bool wide) {
  if (!chooser || !wide)
    return type;
  SmallVector<Type, 3> fitting;
  for (Type bits : {Type::B16, Type::B32, Type::B64})
    if (bitsOf(bits) >= bitsOf(type))
      fitting.push_back(bits);
  return fitting[among(fitting.size(), 0)];
}

unsigned Form::wideDest(Type type) {
  Type listed = wideRegister(type, true);
  unsigned bits = bitsOf(listed);
  shape("=" + nameOf(listed));
  const Operand *operand = takeOperand();
  addDest(operand ? writtenRegister(*operand, type, true, &bits) : 0);
  return bits;
}

unsigned Form::wideSource(Type type) {
  Type listed = wideRegister(type, true);
  unsigned bits = bitsOf(listed);
  shape(nameOf(listed));
  const Operand *operand = takeOperand();
  addSource(operand ? readRegister(*operand, type, true, &bits) : 0);
  return bits;
}

/// =b32, =b32
static std::string listOf(const Twine &one, unsigned count) {
  std::string first = one.str(), all = first;
  for (unsigned i = 1; i < count; ++i)
    all += ", " + first;
  return all;
}

/// {=b32, =b32}
void Form::vectorShape(StringRef mark, Type type, unsigned count, bool wide) {
  Type listed = wideRegister(type, wide);
  std::string all = listOf(mark + nameOf(listed), count);
  // ptxas wants a single register in braces but for loads and stores.
  bool bare = count == 1 && code.flow != Flow::Collective;
  shape(bare ? all : "{" + all + "}");
  for (unsigned i = 0; i < count; ++i)
    mark.empty() ? addSource(0) : addDest(0);
  code.form2 = bitsOf(listed);
}

/// `count` registers in braces, or one alone; empty after a complaint.
ArrayRef<Operand> Form::takeElements(unsigned count) {
  const Operand *operand = takeOperand();
  if (!operand)
    return {};
  ArrayRef<Operand> all = *operand;
  if (operand->kind == Operand::Vector)
    all = operand->elements;
  if (all.size() == count)
    return all;
  fail("expected " + Twine(count) + " registers, got " + Twine(all.size()));
  return {};
}

void Form::destVector(Type type, unsigned count, bool wide) {
  if (chooser)
    return vectorShape("=", type, count, wide);
  ArrayRef<Operand> all = takeElements(count);
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
}

void Form::sourceVector(Type type, unsigned count, bool wide) {
  if (chooser)
    return vectorShape("", type, count, wide);
  ArrayRef<Operand> all = takeElements(count);
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
}

std::vector<uint32_t> Form::destList(Type type, unsigned count) {
  shape("{" + listOf("=" + nameOf(type), count) + "}");
  std::vector<uint32_t> registers;
  const Operand *operand = takeOperand();
  if (!operand)
    return registers;
  if (operand->kind != Operand::Vector || operand->elements.size() != count)
    fail("expected " + Twine(count) + " registers, got " +
         Twine(operand->elements.size()));
  else
    for (const Operand &element : operand->elements)
      registers.push_back(writtenRegister(element, type));
  return registers;
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
  code.accesses = true;
  shape("[b64]");
  const Operand *operand = takeOperand();
  if (!operand)
    return addSource(0);
  if (operand->kind != Operand::Address || !operand->elements.empty())
    return fail("expected an address [register + offset]");
  int64_t *offsets[] = {&code.offset, &code.offset2, &code.offset3};
  *offsets[place] = operand->offset;
  uint32_t reg = base(*operand, place);
  if (!failed())
    addSource(reg);
}

void Form::tensorAddress(unsigned place, unsigned rank) {
  shape("[b64, {" + listOf("s32", rank) + "}]");
  const Operand *operand = takeOperand();
  for (unsigned i = 0; chooser && i <= rank; ++i)
    addSource(0);
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
  shape("#" + Twine(least) + ".." + Twine(most));
  const Operand *operand = takeOperand();
  if (!operand)
    return least;
  if (operand->kind == Operand::Integer && operand->bits >= least &&
      operand->bits <= most)
    return operand->bits;
  fail("expected a number from " + Twine(least) + " to " + Twine(most));
  return least;
}

uint64_t Form::immediateOf(ArrayRef<uint64_t> choices) {
  const Operand *operand = takeOperand();
  unsigned index = 0;
  while (operand && index < choices.size() &&
         (operand->kind != Operand::Integer || operand->bits != choices[index]))
    ++index;
  if (index == choices.size()) {
    fail("expected one of the numbers " +
         join(map_range(choices, [](uint64_t n) { return std::to_string(n); }),
              ", "));
    return choices[0];
  }
  uint64_t chosen = choices[among(choices.size(), index)];
  shape("#" + Twine(chosen));
  return chosen;
}

void Form::label() {
  shape("label");
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
