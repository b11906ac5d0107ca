//===- TestPlan.h - writes plans by hand ------------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TESTS_PLAN_TESTPLAN_H
#define RAYTENTION_TESTS_PLAN_TESTPLAN_H

#include "runtime/plan/Evaluate.h"

#include <functional>

namespace raytention::test {

/// A plan and the place where its next instruction goes.
class TestPlan {
public:
  using Id = plan::ValueId;
  using Op = plan::Opcode;

  static plan::Type scalar(plan::ElementType element) {
    return {element, false, {}};
  }
  static plan::Type buffer(std::vector<int64_t> shape,
                           plan::ElementType element = plan::ElementType::I32) {
    return {element, true, std::move(shape)};
  }

  TestPlan() { plan.name = "test"; }

  /// Before any instruction.
  Id argument(plan::Type type) {
    plan.arguments.push_back(std::move(type));
    return plan.numValues++;
  }
  /// A kernel of blocks of one thread.
  uint32_t kernel(std::string name, std::vector<plan::Type> parameters) {
    plan.kernels.push_back({std::move(name), 0, {1, 1, 1}, parameters});
    return plan.kernels.size() - 1;
  }

  Id constant(int64_t value,
              plan::ElementType element = plan::ElementType::Index) {
    return add(Op::Constant, {}, value, scalar(element));
  }
  /// An instruction of one result.
  Id add(Op op, std::vector<Id> operands, int64_t immediate = 0,
         plan::Type type = {}) {
    plan::Instruction &in = append(op, std::move(operands), immediate);
    in.type = std::move(type);
    in.results = {plan.numValues++};
    return in.results.front();
  }
  Id dim(Id buffer, int64_t index) {
    Id number = constant(index);
    return add(Op::Dim, {buffer, number});
  }
  Id alloc(plan::Type type, std::vector<Id> sizes = {}) {
    return add(Op::Alloc, std::move(sizes), 0, std::move(type));
  }
  void free(Id buffer) { append(Op::Free, {buffer}); }
  /// On a grid (x, 1, 1) without shared memory.
  void launch(uint32_t kernel, Id x, std::vector<Id> arguments) {
    Id one = constant(1), zero = constant(0);
    std::vector<Id> operands = {x, one, one, one, one, one, zero};
    operands.insert(operands.end(), arguments.begin(), arguments.end());
    append(Op::Launch, std::move(operands), kernel);
  }
  void yield(std::vector<Id> values) { append(Op::Yield, std::move(values)); }

  std::vector<Id> addIf(Id condition, const std::function<void()> &then,
                        const std::function<void()> &otherwise,
                        size_t numResults = 0) {
    plan::Instruction in;
    in.op = Op::If;
    in.operands = {condition};
    in.blocks.push_back(inBlock({}, then));
    in.blocks.push_back(inBlock({}, otherwise));
    return finish(std::move(in), numResults);
  }
  /// `body` gets the counter and what is carried.
  std::vector<Id>
  addFor(Id from, Id to, Id step, std::vector<Id> carried,
         const std::function<void(const std::vector<Id> &)> &body) {
    plan::Instruction in;
    in.op = Op::For;
    in.operands = {from, to, step};
    in.operands.insert(in.operands.end(), carried.begin(), carried.end());
    std::vector<Id> arguments;
    for (size_t i = 0; i <= carried.size(); ++i)
      arguments.push_back(plan.numValues++);
    in.blocks.push_back(inBlock(arguments, [&] { body(arguments); }));
    return finish(std::move(in), carried.size());
  }

  plan::Instruction &append(Op op, std::vector<Id> operands,
                            int64_t immediate = 0) {
    plan::Instruction in;
    in.op = op;
    in.operands = std::move(operands);
    in.immediate = immediate;
    block().code.push_back(std::move(in));
    return block().code.back();
  }

  plan::Plan plan;

private:
  plan::Block &block() { return inner ? *inner : plan.program; }
  plan::Block inBlock(std::vector<Id> arguments,
                      const std::function<void()> &body) {
    plan::Block made;
    made.arguments = std::move(arguments);
    plan::Block *outer = inner;
    inner = &made;
    body();
    inner = outer;
    return made;
  }
  std::vector<Id> finish(plan::Instruction in, size_t numResults) {
    for (size_t i = 0; i < numResults; ++i)
      in.results.push_back(plan.numValues++);
    block().code.push_back(std::move(in));
    return block().code.back().results;
  }

  plan::Block *inner = nullptr; ///< null: the program
};

} // namespace raytention::test

#endif // RAYTENTION_TESTS_PLAN_TESTPLAN_H
