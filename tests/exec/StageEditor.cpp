//===- StageEditor.cpp - changes of a stage on tensors --------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/exec/StageEditor.h"
#include "runtime/api/CompilerContext.h"
#include "tests/support/Results.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace raytention;
using namespace raytention::test;

using Sizes = SmallVector<OpFoldResult>;

scf::ForallOp StageEditor::tilesOf(Operation *op) {
  scf::ForallOp outer;
  while ((op = op->getParentOp()))
    if (auto loop = dyn_cast<scf::ForallOp>(op))
      outer = loop;
  return outer;
}

Operation *StageEditor::nestOf(Operation *op) {
  scf::ForallOp loop = tilesOf(op);
  return loop ? loop.getOperation() : op;
}

Value StageEditor::swapHalves(Value whole) {
  Sizes first, second, sizes;
  auto type = cast<RankedTensorType>(whole.getType());
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    first.push_back(b.getIndexAttr(0));
    second.push_back(b.getIndexAttr(axis == 0));
    sizes.push_back(axis == 0 ? b.getIndexAttr(1)
                              : tensor::getMixedSize(b, loc, whole, axis));
  }
  Sizes strides(sizes.size(), b.getIndexAttr(1));
  auto read = [&](const Sizes &from) -> Value {
    return tensor::ExtractSliceOp::create(b, loc, whole, from, sizes, strides);
  };
  auto write = [&](Value half, Value into, const Sizes &to) -> Value {
    return tensor::InsertSliceOp::create(b, loc, half, into, to, sizes,
                                         strides);
  };
  return write(read(first), write(read(second), whole, first), second);
}

void StageEditor::swapArgument(Value argument) {
  toStart();
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : argument.getUses())
    uses.push_back(&use);
  Value swapped = swapHalves(argument);
  for (OpOperand *use : uses)
    use->set(swapped);
}

void StageEditor::swapResult(unsigned number) {
  Operation *end = func.getBody().front().getTerminator();
  b.setInsertionPoint(end);
  end->setOperand(number, swapHalves(end->getOperand(number)));
}

void StageEditor::moveResult(OpResult result, int64_t axis,
                             llvm::function_ref<Value(Value)> change) {
  scf::ForallOp loop = tilesOf(result.getOwner());
  for (Operation &op :
       llvm::make_early_inc_range(*loop.getTerminator().getBody())) {
    auto insert = cast<tensor::ParallelInsertSliceOp>(op);
    if (insert.getSource() != result)
      continue;
    b.setInsertionPoint(loop.getTerminator());
    Sizes offsets = insert.getMixedOffsets();
    offsets[axis] = change(cast<Value>(offsets[axis]));
    b.setInsertionPoint(insert);
    tensor::ParallelInsertSliceOp::create(
        b, loc, insert.getSource(), insert.getDest(), offsets,
        insert.getMixedSizes(), insert.getMixedStrides());
    insert.erase();
  }
}

Value StageEditor::isZero(Value value) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, value,
                               index(0));
}

scf::IfOp StageEditor::branch(Value condition, ValueRange values,
                              ValueRange others) {
  auto yield = [](ValueRange given) {
    return [given](OpBuilder &b, Location loc) {
      scf::YieldOp::create(b, loc, given);
    };
  };
  return scf::IfOp::create(b, loc, condition, yield(values), yield(others));
}

void StageEditor::reverse(Value counter, Value end, Value step, Block *body) {
  b.setInsertionPointToStart(body);
  Value count = arith::CeilDivSIOp::create(b, loc, end, step);
  Value last = arith::SubIOp::create(b, loc, count, index(1));
  Value begin = arith::MulIOp::create(b, loc, last, step);
  auto other = arith::SubIOp::create(b, loc, begin, counter);
  counter.replaceAllUsesExcept(other, other);
}

void StageEditor::computeTheOffset() {
  auto load = [&](int64_t at) -> Value {
    Value element = tensor::ExtractOp::create(b, loc, argument(Lengths),
                                              ValueRange{index(at)});
    return arith::IndexCastOp::create(b, loc, b.getIndexType(), element);
  };
  Value first = load(0), second = load(1);
  Value shift = arith::SubIOp::create(b, loc, first, second);
  argument(Offset).replaceAllUsesWith(shift);
}

static std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

std::string test::makeEditedText(const AttentionSpec &spec,
                                 const CompileOptions &options,
                                 const char *stage, void (*change)(ModuleOp)) {
  std::string text = test::cantFail(printStage(spec, options, stage));
  CompilerContext compiler;
  auto module =
      parseSourceString<ModuleOp>(text, ParserConfig(&compiler.context));
  std::string before = print(*module);
  change(*module);
  std::string edited = print(*module);
  EXPECT_NE(before, edited);
  return edited;
}
