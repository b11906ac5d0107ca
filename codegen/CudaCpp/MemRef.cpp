//===- MemRef.cpp - memref in C++ -----------------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/CudaCpp/Emitter.h"
#include "codegen/CudaCpp/Types.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace raytention;
using namespace raytention::cuda;

//===----------------------------------------------------------------------===//
// Where an element lies
//===----------------------------------------------------------------------===//

namespace {

/// A sum of products of sizes and positions. What is known is computed here,
/// in 64 bits.
class Offset {
public:
  void multiply(const std::string &factor) {
    std::optional<int64_t> number = parse(factor);
    if (number && known)
      known = int64_t(uint64_t(*known) * uint64_t(*number));
    else if (known == 1)
      set(factor, false);
    else if (number != 1 && known != 0)
      set((isSum ? "(" + text() + ")" : text()) + " * " + factor, false);
  }
  void add(const std::string &term) {
    std::optional<int64_t> number = parse(term);
    if (number && known)
      known = int64_t(uint64_t(*known) + uint64_t(*number));
    else if (known == 0)
      set(term, false);
    else if (number != 0)
      set(text() + " + " + term, true);
  }
  std::string text() const { return known ? std::to_string(*known) : terms; }

private:
  static std::optional<int64_t> parse(StringRef text) {
    int64_t number;
    if (text.getAsInteger(10, number))
      return std::nullopt;
    return number;
  }
  void set(std::string text, bool sum) {
    terms = std::move(text);
    known.reset();
    isSum = sum;
  }
  std::optional<int64_t> known = 0;
  std::string terms;
  bool isSum = false;
};

} // namespace

/// The position of an element in a row-major buffer.
static std::string makeOffset(const Operands &operands, Value memref,
                              ValueRange indices) {
  Offset offset;
  for (auto [i, index] : llvm::enumerate(indices)) {
    std::string size = operands.dimension(memref, i);
    offset.multiply(size);
    // The only element of a dimension is its first.
    offset.add(size == "1" ? "0" : operands.atom(index));
  }
  return offset.text();
}

static std::string makeElement(const Operands &operands, Value memref,
                               ValueRange indices) {
  return operands.pointer(memref) + "[" +
         makeOffset(operands, memref, indices) + "]";
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static LogicalResult emitLoad(Emitter &emitter, memref::LoadOp op) {
  emitter.define(
      op, makeElement(emitter.operands, op.getMemRef(), op.getIndices()));
  return success();
}

static LogicalResult emitStore(Emitter &emitter, memref::StoreOp op) {
  emitter.os << makeElement(emitter.operands, op.getMemRef(), op.getIndices())
             << " = " << emitter.operands.whole(op.getValue()) << ";\n";
  return success();
}

/// Sizes are read where they are used.
static LogicalResult checkDim(memref::DimOp op) {
  auto type = cast<MemRefType>(op.getSource().getType());
  std::optional<int64_t> index = op.getConstantIndex();
  if (!index)
    return op.emitOpError("expected a constant dimension");
  if (*index < 0 || *index >= type.getRank())
    return op.emitOpError("expected a dimension below ")
           << type.getRank() << ", got " << *index;
  return success();
}

static LogicalResult emitView(Emitter &emitter, memref::ViewOp op) {
  if (!op.getSource().getDefiningOp<gpu::DynamicSharedMemoryOp>())
    return op.emitOpError("expected a view of gpu.dynamic_shared_memory");
  std::optional<int64_t> offset = getConstantIntValue(op.getByteShift());
  if (!offset)
    return op.emitOpError("expected a constant offset in bytes");
  Type element = op.getType().getElementType();
  if (*offset < 0 || *offset % getElementBytes(element) != 0)
    return op.emitOpError("expected an offset that is a multiple of ")
           << getElementBytes(element) << " bytes, got " << *offset;
  StringRef type = getCType(element);
  emitter.os << type << " *" << emitter.operands.getNames().of(op) << " = ("
             << type << " *)";
  if (*offset == 0)
    emitter.os << "shared;\n";
  else
    emitter.os << "(shared + " << *offset << ");\n";
  return success();
}

/// An array of the thread's own.
static LogicalResult emitAlloca(Emitter &emitter, memref::AllocaOp op) {
  MemRefType type = op.getType();
  if (!type.hasStaticShape())
    return op.emitOpError("expected a static shape, got ") << type;
  auto space =
      dyn_cast_if_present<gpu::AddressSpaceAttr>(type.getMemorySpace());
  if (space && space.getValue() != gpu::AddressSpace::Private)
    return op.emitOpError("expected memory of the thread's own, got ") << type;
  if (std::optional<uint64_t> alignment = op.getAlignment())
    emitter.os << "__align__(" << *alignment << ") ";
  // C++ has no arrays of nothing.
  emitter.os << getCType(type.getElementType()) << " "
             << emitter.operands.getNames().of(op) << "["
             << std::max<int64_t>(type.getNumElements(), 1) << "];\n";
  return success();
}

LogicalResult cuda::emitMemRef(Emitter &emitter, Operation *op) {
  if (isa<memref::SubViewOp>(op))
    return refuse(op) << ": expected loads and stores of the whole buffer";
  if (!isa<memref::LoadOp, memref::StoreOp, memref::DimOp, memref::ViewOp,
           memref::AllocaOp, memref::CastOp>(op))
    return refuse(op);
  for (Type type : op->getOperandTypes())
    if (isa<BaseMemRefType>(type) && failed(checkMemRef(op, type)))
      return failure();
  for (Type type : op->getResultTypes())
    if (isa<BaseMemRefType>(type) && failed(checkMemRef(op, type)))
      return failure();
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](memref::LoadOp load) { return emitLoad(emitter, load); })
      .Case([&](memref::StoreOp store) { return emitStore(emitter, store); })
      .Case([&](memref::DimOp dim) { return checkDim(dim); })
      .Case([&](memref::ViewOp view) { return emitView(emitter, view); })
      .Case([&](memref::AllocaOp local) { return emitAlloca(emitter, local); })
      .Default([](Operation *) { return success(); });
}
