//===- Plan.cpp - the text of a plan --------------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/Plan.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace raytention;
using namespace raytention::plan;

int64_t plan::getBytes(ElementType type) {
  switch (type) {
  case ElementType::I1:
  case ElementType::I8:
    return 1;
  case ElementType::BF16:
    return 2;
  case ElementType::I32:
  case ElementType::F32:
    return 4;
  case ElementType::I64:
  case ElementType::Index:
  case ElementType::F64:
    return 8;
  }
  llvm_unreachable("every type is listed");
}

unsigned plan::getBits(ElementType type) {
  return type == ElementType::I1 ? 1 : 8 * getBytes(type);
}

StringRef plan::getName(ElementType type) {
  switch (type) {
  case ElementType::I1:
    return "i1";
  case ElementType::I8:
    return "i8";
  case ElementType::I32:
    return "i32";
  case ElementType::I64:
    return "i64";
  case ElementType::Index:
    return "index";
  case ElementType::BF16:
    return "bf16";
  case ElementType::F32:
    return "f32";
  case ElementType::F64:
    return "f64";
  }
  llvm_unreachable("every type is listed");
}

StringRef plan::getName(Opcode op) {
  static constexpr StringLiteral kNames[] = {
#define RT_PLAN_OP(NAME, SPELLING) SPELLING,
#include "runtime/plan/Ops.def"
  };
  return kNames[size_t(op)];
}

static StringRef getName(Predicate predicate) {
  static constexpr StringLiteral kNames[] = {"eq",  "ne",  "slt", "sle", "sgt",
                                             "sge", "ult", "ule", "ugt", "uge"};
  return kNames[size_t(predicate)];
}

std::string plan::toString(const Type &type) {
  std::string name = plan::getName(type.element).str();
  if (!type.isBuffer)
    return name;
  std::string text = "buffer<";
  for (int64_t size : type.shape)
    text += (size == kDynamic ? "?" : std::to_string(size)) + "x";
  return text + name + ">";
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

namespace {

class Printer {
public:
  Printer(const Plan &plan, raw_ostream &os) : plan(plan), os(os) {}

  void print() {
    os << "plan " << plan.name << "(";
    ValueId next = 0;
    for (const Type &type : plan.arguments) {
      os << (next ? ", " : "") << "%" << next << ": " << toString(type);
      ++next;
    }
    os << ")\n";
    for (const Kernel &kernel : plan.kernels)
      printKernel(kernel);
    printBlock(plan.program, 0);
    os << "\n";
  }

private:
  void printKernel(const Kernel &kernel) {
    os << "kernel " << kernel.name << "("
       << join(map_range(kernel.parameters,
                         [](const Type &type) { return toString(type); }),
               ", ")
       << ") block " << kernel.block[0] << ", " << kernel.block[1] << ", "
       << kernel.block[2] << "\n";
  }

  void printValues(ArrayRef<ValueId> values) {
    interleaveComma(values, os, [&](ValueId value) { os << "%" << value; });
  }

  void printBlock(const Block &block, unsigned depth) {
    os << "{";
    if (!block.arguments.empty()) {
      os << " (";
      printValues(block.arguments);
      os << ")";
    }
    os << "\n";
    for (const Instruction &instruction : block.code)
      printInstruction(instruction, depth + 1);
    os.indent(2 * depth) << "}";
  }

  void printDetail(const Instruction &instruction) {
    switch (instruction.op) {
    case Opcode::Constant:
      os << " " << instruction.immediate;
      break;
    case Opcode::Cmp:
      os << " " << ::getName(Predicate(instruction.immediate));
      break;
    case Opcode::CastS:
    case Opcode::CastU:
      os << " to " << instruction.immediate << " bits of";
      break;
    case Opcode::Launch:
      os << " " << plan.kernels[instruction.immediate].name;
      break;
    default:
      break;
    }
  }

  static bool hasType(Opcode op) {
    return op < Opcode::Dim || op == Opcode::Alloc || op == Opcode::Reshape;
  }

  void printInstruction(const Instruction &instruction, unsigned depth) {
    os.indent(2 * depth);
    if (!instruction.results.empty()) {
      printValues(instruction.results);
      os << " = ";
    }
    os << plan::getName(instruction.op);
    printDetail(instruction);
    if (!instruction.operands.empty())
      os << " ";
    printValues(instruction.operands);
    if (hasType(instruction.op))
      os << " : " << toString(instruction.type);
    for (const Block &block : instruction.blocks) {
      os << " ";
      printBlock(block, depth);
    }
    os << "\n";
  }

  const Plan &plan;
  raw_ostream &os;
};

} // namespace

void Plan::print(raw_ostream &os) const { Printer(*this, os).print(); }
