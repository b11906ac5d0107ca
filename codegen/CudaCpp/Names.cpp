//===- Names.cpp - names of values in the text ----------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/CudaCpp/Names.h"
#include "codegen/CudaCpp/Identifiers.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace raytention;
using namespace raytention::cuda;

static StringRef nameIn(const llvm::DenseMap<Value, std::string> &names,
                        Value value) {
  auto it = names.find(value);
  return it == names.end() ? StringRef() : StringRef(it->second);
}

StringRef Names::of(Value value) const { return nameIn(values, value); }

StringRef Names::ofNext(BlockArgument variable) const {
  return nameIn(next, variable);
}

StringRef Names::ofDimension(Value memref, unsigned dim) const {
  auto it = dimensions.find({memref, dim});
  return it == dimensions.end() ? StringRef() : StringRef(it->second);
}

//===----------------------------------------------------------------------===//
// Hints
//===----------------------------------------------------------------------===//

/// The first name in a location, or "".
static std::string hintOf(Location location) {
  auto name = location->findInstanceOf<NameLoc>();
  return name ? makeIdentifier(name.getName().getValue().take_front(48)) : "";
}

/// What a value is called that nobody named.
static StringRef describe(Operation *op) {
  return llvm::StringSwitch<StringRef>(op->getName().getStringRef())
      .Cases({"arith.addi", "arith.addf"}, "sum")
      .Cases({"arith.subi", "arith.subf"}, "difference")
      .Cases({"arith.muli", "arith.mulf"}, "product")
      .Cases({"arith.divsi", "arith.divui", "arith.divf"}, "quotient")
      .Cases({"arith.ceildivsi", "arith.ceildivui"}, "count")
      .Case("arith.floordivsi", "quotient")
      .Cases({"arith.remsi", "arith.remui"}, "rest")
      .Cases({"arith.cmpi", "arith.cmpf"}, "holds")
      .Cases({"arith.minsi", "arith.minui", "arith.minimumf", "arith.minnumf"},
             "least")
      .Cases({"arith.maxsi", "arith.maxui", "arith.maximumf", "arith.maxnumf"},
             "most")
      .Case("arith.negf", "negated")
      .Case("arith.select", "chosen")
      .Case("math.fma", "sum")
      .Case("math.sqrt", "root")
      .Cases({"math.exp", "math.exp2"}, "power")
      .Cases({"math.log", "math.log2"}, "logarithm")
      .Case("gpu.thread_id", "thread")
      .Case("gpu.block_id", "block")
      .Case("gpu.block_dim", "threads")
      .Case("gpu.grid_dim", "blocks")
      .Case("memref.load", "x")
      .Case("memref.view", "tile")
      .Case("memref.alloca", "local")
      .Case("scf.if", "either")
      .Default("value");
}

//===----------------------------------------------------------------------===//
// NameChooser
//===----------------------------------------------------------------------===//

namespace raytention::cuda {

/// Walks a kernel as C++ scopes: a name is free again behind its scope.
class NameChooser {
public:
  explicit NameChooser(Names &names) : names(names) {}

  void nameParameters(gpu::GPUFuncOp kernel);
  void nameBlock(Block &block, unsigned depth = 0);

private:
  std::string declare(StringRef wanted);
  void nameValue(Value value, StringRef fallback);
  void nameDimensions(BlockArgument memref);
  void nameOp(Operation &op, unsigned depth);
  void nameLoop(scf::ForOp loop, unsigned depth);

  Names &names;
  llvm::StringSet<> visible;
  SmallVector<std::string> declared;
};

} // namespace raytention::cuda

std::string NameChooser::declare(StringRef wanted) {
  std::string base = ((isReservedName(wanted) ? "v_" : "") + wanted).str();
  std::string name = base;
  for (unsigned i = 1; visible.contains(name); ++i)
    name = base + "_" + std::to_string(i);
  visible.insert(name);
  declared.push_back(name);
  return name;
}

void NameChooser::nameValue(Value value, StringRef fallback) {
  std::string hint = hintOf(value.getLoc());
  names.values[value] = declare(hint.empty() ? fallback : StringRef(hint));
}

/// The first name of a memref.dim that reads each size, or "".
static SmallVector<std::string> dimensionHints(BlockArgument memref) {
  int64_t rank = cast<MemRefType>(memref.getType()).getRank();
  SmallVector<std::string> hints(rank);
  memref.getOwner()->walk([&](memref::DimOp dim) {
    std::optional<int64_t> index = dim.getConstantIndex();
    bool isOfMemref =
        dim.getSource() == memref && index && *index >= 0 && *index < rank;
    if (isOfMemref && hints[*index].empty())
      hints[*index] = hintOf(dim.getLoc());
  });
  return hints;
}

/// Called `q_rows` where a memref.dim of it is called `rows`, else `q_dim1`.
void NameChooser::nameDimensions(BlockArgument memref) {
  auto type = cast<MemRefType>(memref.getType());
  for (auto [i, hint] : llvm::enumerate(dimensionHints(memref))) {
    if (!type.isDynamicDim(i))
      continue;
    std::string suffix = hint.empty() ? "dim" + std::to_string(i) : hint;
    names.dimensions[{memref, i}] =
        declare((names.of(memref) + "_" + suffix).str());
  }
}

void NameChooser::nameParameters(gpu::GPUFuncOp kernel) {
  for (BlockArgument argument : kernel.getArguments()) {
    nameValue(argument,
              isa<MemRefType>(argument.getType()) ? "buffer" : "argument");
    if (isa<MemRefType>(argument.getType()))
      nameDimensions(argument);
  }
}

void NameChooser::nameBlock(Block &block, unsigned depth) {
  size_t mark = declared.size();
  if (auto loop = dyn_cast<scf::ForOp>(block.getParentOp())) {
    static constexpr StringRef variables[] = {"i", "j", "k", "l", "m", "n"};
    nameValue(loop.getInductionVar(), variables[depth % std::size(variables)]);
    ++depth;
  }
  for (Operation &op : block)
    nameOp(op, depth);
  for (; declared.size() > mark; declared.pop_back())
    visible.erase(declared.back());
}

/// Whether the text of what a loop yields reads one of its variables: a
/// variable itself, or a size that may be one.
static bool readsVariable(scf::ForOp loop, Value yielded) {
  auto argument = dyn_cast<BlockArgument>(yielded);
  return (argument && argument.getOwner() == loop.getBody()) ||
         yielded.getDefiningOp<memref::DimOp>();
}

/// A result and its iteration variable are one variable of the text.
void NameChooser::nameLoop(scf::ForOp loop, unsigned depth) {
  bool isOne = loop.getNumResults() == 1;
  for (auto [result, variable, yielded] :
       llvm::zip_equal(loop.getResults(), loop.getRegionIterArgs(),
                       loop.getYieldedValues())) {
    std::string hint = isOne ? hintOf(result.getLoc()) : "";
    if (hint.empty())
      hint = hintOf(variable.getLoc());
    if (hint.empty())
      hint = hintOf(result.getLoc());
    std::string name = declare(hint.empty() ? "state" : hint);
    // Two statements: an insertion moves what a reference names.
    names.values[variable] = name;
    names.values[result] = name;
    if (yielded != variable && readsVariable(loop, yielded))
      names.next[variable] = declare(name + "_next");
  }
}

void NameChooser::nameOp(Operation &op, unsigned depth) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    nameLoop(loop, depth);
  } else if (!op.hasTrait<OpTrait::ConstantLike>() &&
             !isa<memref::DimOp, memref::CastOp, gpu::DynamicSharedMemoryOp>(
                 op)) {
    for (Value result : op.getResults())
      nameValue(result, describe(&op));
  }
  for (Region &region : op.getRegions())
    for (Block &block : region)
      nameBlock(block, depth);
}

Names Names::choose(gpu::GPUFuncOp kernel) {
  Names names;
  NameChooser chooser(names);
  chooser.nameParameters(kernel);
  chooser.nameBlock(kernel.getBody().front());
  return names;
}
