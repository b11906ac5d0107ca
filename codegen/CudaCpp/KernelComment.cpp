//===- KernelComment.cpp - what a kernel is for ---------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/CudaCpp/Kernel.h"
#include "codegen/CudaCpp/Types.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace raytention;
using namespace raytention::cuda;

/// Text that stays within its line of comment: a backslash at the end would
/// join the next to it, with blanks behind it too.
static std::string inOneLine(std::string text) {
  for (char &c : text)
    if (static_cast<unsigned char>(c) < ' ')
      c = ' ';
  return StringRef(text).rtrim().ends_with("\\") ? text + " ." : text;
}

/// Of the kernel, or else of the innermost module that has it.
static Attribute findAttribute(Operation *op, StringRef name) {
  for (; op; op = op->getParentOp())
    if (Attribute attribute = op->getDiscardableAttr(name))
      return attribute;
  return nullptr;
}

static std::string print(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream os(text);
  attribute.print(os);
  return inOneLine(text);
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// 16 x n x f32: sizes by their names.
static std::string describeShape(const Operands &operands, memref::ViewOp op) {
  std::string text;
  for (int64_t i = 0; i < op.getType().getRank(); ++i)
    text += operands.dimension(op, i) + " x ";
  return text + getCType(op.getType().getElementType()).str();
}

/// A number of bytes, or a product where a size is known at run time only.
static std::string describeBytes(const Operands &operands, memref::ViewOp op) {
  MemRefType type = op.getType();
  int64_t bytes = getElementBytes(type.getElementType());
  std::string factors;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    if (type.isDynamicDim(i))
      factors += " * " + operands.dimension(op, i);
    else
      bytes *= type.getDimSize(i);
  }
  return std::to_string(bytes) + factors;
}

static void printMemoryMap(gpu::GPUFuncOp kernel, const Operands &operands,
                           raw_ostream &os) {
  bool isFirst = true;
  kernel.walk([&](memref::ViewOp op) {
    if (isFirst)
      os << "// shared memory:\n"
         << llvm::formatv("// {0,8} {1,12}  what\n", "offset", "bytes");
    isFirst = false;
    os << llvm::formatv("// {0,8} {1,12}  {2}: {3}\n",
                        *getConstantIntValue(op.getByteShift()),
                        describeBytes(operands, op), operands.getNames().of(op),
                        describeShape(operands, op));
  });
}

void cuda::printKernelComment(gpu::GPUFuncOp kernel, const Operands &operands,
                              raw_ostream &os) {
  os << "// @" << inOneLine(kernel.getName().str()) << "\n";
  for (StringRef name : {"rt.problem", "rt.schedule"})
    if (Attribute attribute = findAttribute(kernel, name))
      os << "// " << name << ": " << print(attribute) << "\n";
  printMemoryMap(kernel, operands, os);
}
