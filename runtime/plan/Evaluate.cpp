//===- Evaluate.cpp - what a plan does for given sizes --------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/Evaluate.h"
#include "runtime/plan/Arithmetic.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <optional>

using namespace llvm;
using namespace raytention;
using namespace raytention::plan;

namespace {

/// A buffer as the program sees it.
struct View {
  MemoryId memory = 0;
  std::vector<int64_t> sizes;
};

struct Memory {
  bool isOwn = false; ///< not an argument's
  bool isFreed = false;
};

class Evaluator {
public:
  explicit Evaluator(const Plan &plan)
      : plan(plan), scalars(plan.numValues), views(plan.numValues) {}

  Error run(ArrayRef<ArgumentSize> arguments) {
    if (Error error = bind(arguments))
      return error;
    return execute(plan.program);
  }

  Commands commands;

private:
  Error bind(ArrayRef<ArgumentSize> arguments);
  Error execute(const Block &block);
  Error executeOne(const Instruction &instruction);
  Error executeDim(const Instruction &instruction);
  Error executeAlloc(const Instruction &instruction);
  Error executeFree(const Instruction &instruction);
  Error executeReshape(const Instruction &instruction);
  Error executeLaunch(const Instruction &instruction);
  Error executeIf(const Instruction &instruction);
  Error executeFor(const Instruction &instruction);
  Error addArguments(const Instruction &instruction, Command &command);

  void assign(const Instruction &instruction, int64_t value) {
    scalars[instruction.results.front()] = value;
  }
  int64_t scalar(const Instruction &instruction, unsigned operand) const {
    return scalars[instruction.operands[operand]];
  }
  /// `sizes` have been checked.
  MemoryId addMemory(const Type &type, ArrayRef<int64_t> sizes);
  Expected<View *> findView(const Instruction &instruction, unsigned operand);
  /// What the last yield handed on becomes the results of `instruction`.
  void takeYielded(ArrayRef<ValueId> to) {
    for (auto [id, value] : zip_equal(to, yielded))
      scalars[id] = value;
    yielded.clear();
  }

  const Plan &plan;
  std::vector<int64_t> scalars;
  std::vector<View> views;
  std::vector<Memory> memories;
  std::vector<int64_t> yielded;
  int64_t live = 0, steps = 0;
};

} // namespace

static std::string shapeText(ArrayRef<int64_t> sizes) {
  return "[" +
         join(map_range(sizes,
                        [](int64_t size) {
                          return size == kDynamic ? "?" : std::to_string(size);
                        }),
              ", ") +
         "]";
}

static bool matches(const Type &type, ArrayRef<int64_t> sizes) {
  return type.shape.size() == sizes.size() &&
         all_of(zip(type.shape, sizes), [](auto pair) {
           auto [wanted, got] = pair;
           return wanted == kDynamic || wanted == got;
         });
}

/// Bytes of a C-order array; nothing where they do not fit 63 bits.
static std::optional<int64_t> countBytes(ElementType element,
                                         ArrayRef<int64_t> sizes) {
  // An array without elements has no bytes, whatever its other sizes.
  if (is_contained(sizes, 0))
    return 0;
  int64_t bytes = getBytes(element);
  for (int64_t size : sizes)
    if (MulOverflow(bytes, size, bytes))
      return std::nullopt;
  return bytes;
}

static Error checkSizes(const Type &type, ArrayRef<int64_t> sizes) {
  for (int64_t size : sizes)
    if (size < 0)
      return createStringError("expected sizes of 0 or more, got " +
                               shapeText(sizes));
  if (countBytes(type.element, sizes))
    return Error::success();
  return createStringError("expected less than 2^63 bytes, got " +
                           shapeText(sizes) + " of " +
                           Twine(getBytes(type.element)) + " bytes each");
}

static Error prefix(const Twine &place, Error error) {
  return error ? createStringError(place + ": " + toString(std::move(error)))
               : Error::success();
}

Error Evaluator::bind(ArrayRef<ArgumentSize> arguments) {
  if (arguments.size() != plan.arguments.size())
    return createStringError("expected " + Twine(plan.arguments.size()) +
                             " arguments, got " + Twine(arguments.size()));
  for (auto [index, type] : enumerate(plan.arguments)) {
    const ArgumentSize &argument = arguments[index];
    scalars[index] = argument.index;
    if (!type.isBuffer)
      continue;
    if (!matches(type, argument.sizes))
      return createStringError(
          "argument " + Twine(index) + ": expected a buffer of shape " +
          shapeText(type.shape) + ", got " + shapeText(argument.sizes));
    if (Error error = checkSizes(type, argument.sizes))
      return prefix("argument " + Twine(index), std::move(error));
    views[index] = {addMemory(type, argument.sizes), argument.sizes};
  }
  return Error::success();
}

Error Evaluator::execute(const Block &block) {
  for (const Instruction &instruction : block.code) {
    if (++steps > kMostSteps)
      return createStringError("expected a host program of at most " +
                               Twine(kMostSteps) + " steps, got more");
    if (Error error = executeOne(instruction))
      return error;
  }
  return Error::success();
}

Error Evaluator::executeOne(const Instruction &in) {
  unsigned bits = getBits(in.type.element);
  switch (in.op) {
  case Opcode::Constant:
    assign(in, in.immediate);
    return Error::success();
  case Opcode::Cmp: {
    bool holds =
        compare(Predicate(in.immediate), bits, scalar(in, 0), scalar(in, 1));
    assign(in, holds ? -1 : 0);
    return Error::success();
  }
  case Opcode::Select:
    assign(in, scalar(in, 0) ? scalar(in, 1) : scalar(in, 2));
    return Error::success();
  case Opcode::CastS:
    assign(in, castSigned(bits, in.immediate, scalar(in, 0)));
    return Error::success();
  case Opcode::CastU:
    assign(in, castUnsigned(bits, in.immediate, scalar(in, 0)));
    return Error::success();
  case Opcode::Dim:
    return executeDim(in);
  case Opcode::Alloc:
    return executeAlloc(in);
  case Opcode::Free:
    return executeFree(in);
  case Opcode::Reshape:
    return executeReshape(in);
  case Opcode::Launch:
    return executeLaunch(in);
  case Opcode::If:
    return executeIf(in);
  case Opcode::For:
    return executeFor(in);
  case Opcode::Yield:
    for (unsigned i = 0; i < in.operands.size(); ++i)
      yielded.push_back(scalar(in, i));
    return Error::success();
  default: {
    Expected<int64_t> value =
        compute(in.op, bits, scalar(in, 0), scalar(in, 1));
    if (!value)
      return value.takeError();
    assign(in, *value);
    return Error::success();
  }
  }
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

MemoryId Evaluator::addMemory(const Type &type, ArrayRef<int64_t> sizes) {
  memories.push_back({});
  commands.memoryBytes.push_back(*countBytes(type.element, sizes));
  return memories.size() - 1;
}

Expected<View *> Evaluator::findView(const Instruction &in, unsigned operand) {
  View &view = views[in.operands[operand]];
  if (!memories[view.memory].isFreed)
    return &view;
  std::string place = plan::getName(in.op).str();
  if (in.op == Opcode::Launch)
    place += " of " + plan.kernels[in.immediate].name;
  return createStringError(place +
                           ": expected a buffer that is still allocated, got "
                           "a freed one");
}

Error Evaluator::executeDim(const Instruction &in) {
  // The sizes of a freed buffer are still known.
  const View &view = views[in.operands[0]];
  int64_t dim = scalar(in, 1);
  if (dim < 0 || dim >= int64_t(view.sizes.size()))
    return createStringError("dim: expected a dimension below " +
                             Twine(view.sizes.size()) + ", got " + Twine(dim));
  assign(in, view.sizes[dim]);
  return Error::success();
}

Error Evaluator::executeAlloc(const Instruction &in) {
  View view{0, in.type.shape};
  unsigned operand = 0;
  for (int64_t &size : view.sizes)
    if (size == kDynamic)
      size = scalar(in, operand++);
  if (Error error = checkSizes(in.type, view.sizes))
    return prefix("alloc", std::move(error));
  view.memory = addMemory(in.type, view.sizes);
  memories[view.memory].isOwn = true;
  int64_t bytes = commands.memoryBytes[view.memory];
  if (AddOverflow(live, bytes, live))
    return createStringError("alloc: expected less than 2^63 bytes in total, "
                             "got more");
  commands.workspaceBytes = std::max(commands.workspaceBytes, live);
  Command command;
  command.kind = Command::Kind::Allocate;
  command.memory = view.memory;
  commands.list.push_back(std::move(command));
  views[in.results.front()] = std::move(view);
  return Error::success();
}

Error Evaluator::executeFree(const Instruction &in) {
  Expected<View *> view = findView(in, 0);
  if (!view)
    return view.takeError();
  Memory &memory = memories[(*view)->memory];
  if (!memory.isOwn)
    return createStringError("free: expected a buffer that the plan allocated, "
                             "got one of its arguments");
  memory.isFreed = true;
  live -= commands.memoryBytes[(*view)->memory];
  Command command;
  command.kind = Command::Kind::Free;
  command.memory = (*view)->memory;
  commands.list.push_back(std::move(command));
  return Error::success();
}

Error Evaluator::executeReshape(const Instruction &in) {
  Expected<View *> view = findView(in, 0);
  if (!view)
    return view.takeError();
  if (!matches(in.type, (*view)->sizes))
    return createStringError("cast: expected a buffer of shape " +
                             shapeText(in.type.shape) + ", got " +
                             shapeText((*view)->sizes));
  views[in.results.front()] = View(**view);
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// Grid, block and shared memory stand before the kernel's own arguments.
static constexpr unsigned kLaunchSizes = 7;

Error Evaluator::addArguments(const Instruction &in, Command &command) {
  const Kernel &kernel = plan.kernels[command.kernel];
  for (auto [index, type] : enumerate(kernel.parameters)) {
    unsigned operand = kLaunchSizes + index;
    if (!type.isBuffer) {
      command.arguments.push_back(
          {false, 0, scalar(in, operand), getBytes(type.element)});
      continue;
    }
    Expected<View *> view = findView(in, operand);
    if (!view)
      return view.takeError();
    command.arguments.push_back({true, (*view)->memory});
    for (auto [size, wanted] : zip_equal((*view)->sizes, type.shape))
      if (wanted == kDynamic)
        command.arguments.push_back({false, 0, size});
  }
  return Error::success();
}

Error Evaluator::executeLaunch(const Instruction &in) {
  Command command;
  command.kind = Command::Kind::Launch;
  command.kernel = in.immediate;
  const Kernel &kernel = plan.kernels[command.kernel];
  auto wrong = [&](const Twine &message) {
    return createStringError("launch of " + kernel.name + ": expected " +
                             message);
  };
  for (unsigned axis = 0; axis < 3; ++axis) {
    command.grid[axis] = scalar(in, axis);
    if (command.grid[axis] < 0)
      return wrong("a grid of 0 or more along " + Twine("xyz"[axis]) +
                   ", got " + Twine(command.grid[axis]));
    if (scalar(in, 3 + axis) != kernel.block[axis])
      return wrong("a block of " + Twine(kernel.block[axis]) + " along " +
                   Twine("xyz"[axis]) + ", got " + Twine(scalar(in, 3 + axis)));
  }
  command.sharedBytes = scalar(in, 6);
  if (command.sharedBytes < 0)
    return wrong("0 bytes of shared memory or more, got " +
                 Twine(command.sharedBytes));
  if (Error error = addArguments(in, command))
    return error;
  if (!is_contained(command.grid, 0))
    commands.list.push_back(std::move(command));
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

Error Evaluator::executeIf(const Instruction &in) {
  if (Error error = execute(in.blocks[scalar(in, 0) ? 0 : 1]))
    return error;
  takeYielded(in.results);
  return Error::success();
}

Error Evaluator::executeFor(const Instruction &in) {
  unsigned bits = getBits(in.type.element);
  int64_t from = scalar(in, 0), to = scalar(in, 1), step = scalar(in, 2);
  if (step <= 0)
    return createStringError("for: expected a step above 0, got " +
                             Twine(step));
  const Block &body = in.blocks.front();
  for (unsigned i = 3; i < in.operands.size(); ++i)
    yielded.push_back(scalar(in, i));
  for (int64_t i = from; i < to;) {
    scalars[body.arguments.front()] = i;
    takeYielded(ArrayRef(body.arguments).drop_front());
    if (++steps > kMostSteps)
      return createStringError("expected a host program of at most " +
                               Twine(kMostSteps) + " steps, got more");
    if (Error error = execute(body))
      return error;
    // A counter that would leave its type has passed `to`.
    if (AddOverflow(i, step, i) || !isIntN(bits, i))
      break;
  }
  takeYielded(in.results);
  return Error::success();
}

Expected<Commands> plan::evaluate(const Plan &plan,
                                  ArrayRef<ArgumentSize> arguments) {
  Evaluator evaluator(plan);
  if (Error error = evaluator.run(arguments))
    return prefix("plan " + plan.name, std::move(error));
  return std::move(evaluator.commands);
}
