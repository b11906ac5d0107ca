//===- Plan.h - kernels and the host program that runs them -----*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A plan says as plain data what a device does for one entry: the kernels, and
// a program on 64-bit values that allocates buffers and launches kernels on
// them. The program depends on the sizes of its arguments and on its index
// arguments alone: no value of a buffer ever reaches the host.
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_PLAN_PLAN_H
#define RAYTENTION_RUNTIME_PLAN_PLAN_H

#include "llvm/Support/raw_ostream.h"

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace raytention::plan {

/// Of scalars and of the elements of buffers.
enum class ElementType : uint8_t { I1, I8, I32, I64, Index, BF16, F32, F64 };

/// Bytes of one element in memory, and as a kernel's parameter.
int64_t getBytes(ElementType type);
/// Bits that count in integer operations.
unsigned getBits(ElementType type);
/// "i32", "index", "bf16", ...
llvm::StringRef getName(ElementType type);

/// A size that is known at run time only.
constexpr int64_t kDynamic = std::numeric_limits<int64_t>::min();

/// What an argument or a value is: a scalar, or a C-order buffer.
struct Type {
  ElementType element = ElementType::Index;
  bool isBuffer = false;
  std::vector<int64_t> shape; ///< of a buffer; kDynamic where not fixed

  bool operator==(const Type &other) const {
    return element == other.element && isBuffer == other.isBuffer &&
           shape == other.shape;
  }
};

/// "index", "buffer<?x64xf32>".
std::string toString(const Type &type);

struct Kernel {
  std::string name;    ///< as the loaded code calls it
  uint32_t module = 0; ///< number of the code that holds it
  std::array<int64_t, 3> block{1, 1, 1};
  std::vector<Type> parameters;
};

/// Operations of the host program. Integers have the width of the
/// instruction's type and wrap; their meaning is that of the MLIR operation of
/// the same name, and what is undefined there is an error here.
enum class Opcode : uint8_t {
#define RT_PLAN_OP(NAME, SPELLING) NAME,
#include "runtime/plan/Ops.def"
};

/// "addi", "launch", ...
llvm::StringRef getName(Opcode op);

enum class Predicate : uint8_t {
  EQ,
  NE,
  SLT,
  SLE,
  SGT,
  SGE,
  ULT,
  ULE,
  UGT,
  UGE
};

/// A value of the program: scalars and buffers are numbered together.
using ValueId = uint32_t;

struct Block;

struct Instruction {
  Opcode op = Opcode::Constant;
  /// The operands' type for arithmetic and casts; the result's for constants,
  /// alloc, reshape.
  Type type;
  std::vector<ValueId> operands;
  std::vector<ValueId> results;
  /// Constant: the bits. Cmp: the predicate. Casts: the bits of the result.
  /// Launch: the kernel.
  int64_t immediate = 0;
  std::vector<Block> blocks; ///< If: then, else. For: the body.
};

/// Ends with a Yield where its instruction has results.
struct Block {
  std::vector<ValueId> arguments; ///< For: the counter, what is carried
  std::vector<Instruction> code;
};

/// Operands: Select: condition, true, false. Dim: buffer, dimension. Alloc: the
/// dynamic sizes. Reshape: a buffer that has to have the type's sizes. Launch:
/// grid x, y, z, block x, y, z, bytes of shared memory, the kernel's arguments.
/// For: from, to, step, what is carried.
struct Plan {
  std::string name;            ///< of the entry
  std::vector<Type> arguments; ///< their values are 0, 1, ...
  std::vector<Kernel> kernels;
  Block program;
  uint32_t numValues = 0;

  void print(llvm::raw_ostream &os) const;
};

} // namespace raytention::plan

#endif // RAYTENTION_RUNTIME_PLAN_PLAN_H
