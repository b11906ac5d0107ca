//===- Assembler.cpp - statements to instructions ---------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/Assembler.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace raytention::simt;

static constexpr uint64_t kMaxCode = 1 << 20;
static constexpr uint64_t kMaxRegisterFile = 64 << 20;
static constexpr uint64_t kMaxShared = 227 * 1024;
static constexpr uint64_t kMaxLocal = 512 * 1024;
static constexpr unsigned kMaxCallDepth = 32;

KernelAssembler::KernelAssembler(Program &program, const SyntaxTree &tree)
    : program(program), tree(tree) {
  for (const Function &function : tree.functions)
    if (function.hasBody || !functions.count(function.name))
      functions[function.name] = &function;
}

Expected<Kernel> KernelAssembler::run(const Function &entry) {
  kernel.entry.name = entry.name.str();
  kernel.entry.maxThreads = entry.maxThreads;
  fileBytes = kRegisterHeader;
  Scope global;
  for (const Statement &variable : tree.variables) {
    Declared &declared = global.names[variable.name];
    declared.statement = &variable;
  }
  for (const std::unique_ptr<Variable> &variable : program.variables)
    global.names[variable->name].place = {
        Space::Global, reinterpret_cast<uint64_t>(variable->base), false};
  scopes.push_back(std::move(global));
  Scope scope;
  scope.isFunction = true;
  declareParameters(entry, scope);
  collectLabels(entry.body, scope);
  scopes.push_back(std::move(scope));
  active.push_back(&entry);
  if (Error error = body(entry.body))
    return error;
  if (Error error = finish())
    return error;
  return std::move(kernel);
}

void KernelAssembler::declareParameters(const Function &entry, Scope &scope) {
  uint64_t offset = 0;
  for (const Statement &s : entry.parameters) {
    uint64_t size = bitsOf(parseType(s.type.drop_front())) / 8 * s.count;
    uint32_t natural = bitsOf(parseType(s.type.drop_front())) / 8;
    uint32_t alignment = s.alignment ? s.alignment : std::max(1u, natural);
    offset = alignTo(offset, alignment);
    Declared &declared = scope.names[s.name];
    declared.statement = &s;
    declared.place = {Space::Param, offset, false};
    kernel.entry.parameters.push_back(
        {s.name.str(), uint32_t(offset), uint32_t(size), alignment});
    offset = std::min<uint64_t>(offset + size, UINT32_MAX / 2);
  }
  kernel.entry.parameterBytes = offset;
}

void KernelAssembler::collectLabels(ArrayRef<Statement> rest, Scope &scope) {
  unsigned depth = 0;
  for (const Statement &s : rest) {
    if (s.kind == Statement::Open)
      ++depth;
    else if (s.kind == Statement::Close && depth-- == 0)
      return;
    else if (s.kind == Statement::Label && depth == 0)
      scope.labels[s.name] = newLabel();
  }
}

uint32_t KernelAssembler::newLabel() {
  labelPcs.push_back(kNoLabel);
  return labelPcs.size() - 1;
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

Error KernelAssembler::body(ArrayRef<Statement> statements) {
  // Jump tables may follow the branch that uses them.
  for (size_t i = 0; i < statements.size(); ++i)
    if (statements[i].kind == Statement::Targets)
      if (Error error = targetList(statements[i]))
        return error;
  for (size_t i = 0; i < statements.size(); ++i) {
    const Statement &s = statements[i];
    if (s.kind == Statement::Open) {
      Scope scope;
      collectLabels(statements.drop_front(i + 1), scope);
      scopes.push_back(std::move(scope));
    } else if (s.kind == Statement::Close) {
      scopes.pop_back();
    } else if (Error error = statement(s)) {
      return error;
    }
  }
  return Error::success();
}

Error KernelAssembler::statement(const Statement &s) {
  switch (s.kind) {
  case Statement::Register:
    return declareRegister(s);
  case Statement::Variable:
    return declareVariable(s);
  case Statement::Label:
    labelPcs[scopes.back().labels[s.name]] = kernel.code.size();
    return Error::success();
  case Statement::Location:
    location(s);
    return Error::success();
  case Statement::Instruction:
    return instruction(s);
  default:
    return Error::success();
  }
}

/// Call sites name places of earlier locations, which may be inlined as well.
void KernelAssembler::location(const Statement &s) {
  file = s.place.file;
  sourceLine = s.place.line ? s.place.line : sourceLine;
  caller = 0;
  if (s.caller.line) {
    program.callSites.push_back(
        {s.caller.file, s.caller.line, callers[s.caller]});
    caller = program.callSites.size();
  }
  callers[s.place] = caller;
}

Error KernelAssembler::declareRegister(const Statement &s) {
  Type type = parseType(s.type.drop_front());
  if (!s.type.starts_with(".") || type == Type::None || bitsOf(type) == 8)
    return errorAt(s.line, "expected a register type, got '" + s.type + "'");
  Declared declared;
  declared.statement = &s;
  declared.isRegister = true;
  scopes.back().names[s.name] = std::move(declared);
  return Error::success();
}

Error KernelAssembler::declareVariable(const Statement &s) {
  uint64_t element = bitsOf(parseType(s.type.drop_front())) / 8;
  if (!element)
    return errorAt(s.line, "expected a type, got '" + s.type + "'");
  Declared declared;
  declared.statement = &s;
  if (s.space == ".local" || s.space == ".param") {
    localBytes = alignTo(localBytes, std::max<uint64_t>(8, s.alignment));
    declared.place = {Space::Local, localBytes, false};
    localBytes += element * s.count;
    if (localBytes > kMaxLocal)
      return errorAt(s.line, "expected at most " + Twine(kMaxLocal) +
                                 " bytes of local memory");
  } else if (s.space == ".shared") {
    if (!sharedVariable(s, declared.place))
      return errorAt(s.line, "expected at most " + Twine(kMaxShared) +
                                 " bytes of shared memory");
  } else {
    return errorAt(s.line, "expected a local, shared or param variable, got '" +
                               s.space + "'");
  }
  scopes.back().names[s.name] = std::move(declared);
  return Error::success();
}

/// A shared variable of a function exists once, however often it is called.
bool KernelAssembler::sharedVariable(const Statement &s, Place &place) {
  auto [known, isNew] = sharedPlaces.try_emplace(&s);
  if (isNew) {
    uint64_t element = bitsOf(parseType(s.type.drop_front())) / 8;
    uint64_t alignment = std::max<uint64_t>(s.alignment, element);
    if (s.isExtern || (s.isArray && s.count == 0)) {
      dynamicAlignment = std::max<uint32_t>(dynamicAlignment, alignment);
      known->second = {Space::Shared, 0, true};
    } else {
      sharedBytes = alignTo(sharedBytes, std::max<uint64_t>(1, alignment));
      known->second = {Space::Shared, sharedBytes, false};
      sharedBytes += element * s.count;
    }
  }
  place = known->second;
  return sharedBytes <= kMaxShared;
}

Error KernelAssembler::targetList(const Statement &s) {
  // Resolved when the branch is met: labels are known by scope then.
  std::vector<uint32_t> list;
  for (const Operand &operand : s.operands) {
    uint32_t label = 0;
    if (operand.kind != Operand::Name || !findLabel(operand.name, label))
      return errorAt(s.line, "expected a label, got '" + operand.name + "'");
    list.push_back(label);
  }
  scopes.back().targets[s.name] = kernel.targets.size();
  kernel.targets.push_back(std::move(list));
  return Error::success();
}

Error KernelAssembler::instruction(const Statement &s) {
  StringRef family = s.name.split('.').first;
  if (family == "call")
    return call(s);
  Form form(*this, s);
  if (family == "ret" && !returns.empty()) {
    form.code.flow = Flow::Branch;
    form.code.target = returns.back();
    form.ignores({"uni"});
  } else {
    auto builder = allBuilders().find(family);
    if (builder == allBuilders().end())
      return errorAt(s.line,
                     "expected a known instruction, got '" + s.name + "'");
    builder->second(form);
  }
  if (Error error = form.finish())
    return error;
  if (Error error = guard(s, form.code))
    return error;
  form.code.computes = form.code.flow == Flow::Plain && !form.code.accesses &&
                       form.code.destinations;
  return addInstruction(s, form.code);
}

Error KernelAssembler::addInstruction(const Statement &s, Instruction &code) {
  stamp(code, s);
  if (kernel.code.size() >= kMaxCode)
    return errorAt(s.line, "expected at most " + Twine(kMaxCode) +
                               " instructions with all calls in place");
  kernel.code.push_back(code);
  return Error::success();
}

Error KernelAssembler::guard(const Statement &s, Instruction &code) {
  if (!s.guarded)
    return Error::success();
  Register found;
  if (!findRegister(s.guard, found) || found.type != Type::Pred)
    return errorAt(s.line, "expected a predicate, got '" + s.guard + "'");
  code.guarded = true;
  code.guardNegated = s.guardNegated;
  code.guard = found.offset;
  return Error::success();
}

void KernelAssembler::stamp(Instruction &code, const Statement &s) {
  code.line = s.line;
  code.file = file;
  code.sourceLine = sourceLine;
  code.caller = caller;
  code.mnemonic = mnemonic(s.name);
}

/// Parts that say what is done and where, not on what type.
static bool isKept(StringRef part) {
  return StringSwitch<bool>(part)
      .Cases({"global", "shared", "local", "param", "const"}, true)
      .Cases({"sync", "async", "warp", "v2", "v4", "x1", "x2", "x4"}, true)
      .Cases({"trans", "wide", "approx", "shfl", "ballot", "red"}, true)
      .Cases({"commit_group", "wait_group", "wait_all"}, true)
      .Cases({"m16n8k8", "m16n8k16"}, true)
      .Cases({"bulk", "tensor", "proxy", "mbarrier", "mbarrier_init"}, true)
      .Cases({"init", "inval", "arrive", "arrive_drop", "expect_tx"}, true)
      .Cases({"complete_tx", "test_wait", "try_wait", "pending_count"}, true)
      .Cases({"mma_async", "fence"}, true)
      .Default(false);
}

uint32_t KernelAssembler::mnemonic(StringRef name) {
  auto [family, rest] = name.split('.');
  std::string text = family.str();
  while (!rest.empty()) {
    StringRef part;
    std::tie(part, rest) = rest.split('.');
    if (isKept(part))
      text += "." + part.str();
  }
  auto [entry, isNew] = mnemonics.try_emplace(text, 0);
  if (!isNew)
    return entry->second;
  for (size_t i = 0; i < program.mnemonics.size(); ++i)
    if (program.mnemonics[i] == text)
      return entry->second = i;
  program.mnemonics.push_back(text);
  return entry->second = program.mnemonics.size() - 1;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static ArrayRef<Operand> elementsOf(const Operand &operand) {
  return operand.kind == Operand::Vector ? ArrayRef<Operand>(operand.elements)
                                         : ArrayRef<Operand>();
}

Error KernelAssembler::call(const Statement &s) {
  ArrayRef<Operand> operands = s.operands;
  ArrayRef<Operand> results, arguments;
  if (!operands.empty() && operands[0].kind == Operand::Vector) {
    results = elementsOf(operands[0]);
    operands = operands.drop_front();
  }
  if (operands.empty() || operands[0].kind != Operand::Name)
    return errorAt(s.line, "expected the name of a function");
  StringRef name = operands[0].name;
  if (operands.size() > 1)
    arguments = elementsOf(operands[1]);
  auto found = functions.find(name);
  if (operands.size() > 2 || found == functions.end())
    return errorAt(s.line, "expected a call of a function of this text, got '" +
                               name + "'");
  if (s.guarded)
    return errorAt(s.line, "expected a call without a guard");
  if (!found->second->hasBody)
    return systemCall(s, *found->second, results, arguments);
  if (is_contained(active, found->second) || active.size() > kMaxCallDepth)
    return errorAt(s.line, "expected calls without recursion, got '" + name +
                               "' within itself");
  return inlineCall(s, *found->second, results, arguments);
}

Error KernelAssembler::checkCount(const Statement &s, const Function &callee,
                                  size_t results, size_t arguments) const {
  if (results == callee.results.size() && arguments == callee.parameters.size())
    return Error::success();
  return errorAt(s.line, "expected " + Twine(callee.parameters.size()) +
                             " arguments and " + Twine(callee.results.size()) +
                             " results of '" + callee.name + "'");
}

static uint64_t bytesOf(const Statement &variable) {
  return bitsOf(parseType(variable.type.drop_front())) / 8 * variable.count;
}

static bool haveBytes(ArrayRef<Statement> variables, ArrayRef<unsigned> bytes) {
  return variables.size() == bytes.size() &&
         std::equal(variables.begin(), variables.end(), bytes.begin(),
                    [](const Statement &variable, unsigned size) {
                      return bytesOf(variable) == size;
                    });
}

Error KernelAssembler::systemCall(const Statement &s, const Function &callee,
                                  ArrayRef<Operand> results,
                                  ArrayRef<Operand> arguments) {
  std::optional<SystemFunction> known = findSystemFunction(callee.name);
  if (!known || !haveBytes(callee.parameters, known->parameterBytes) ||
      !haveBytes(callee.results, known->resultBytes))
    return errorAt(s.line, "expected a function with a body, or vprintf or "
                           "__assertfail, got '" +
                               callee.name + "'");
  if (Error error = checkCount(s, callee, results.size(), arguments.size()))
    return error;
  Instruction code;
  code.run = known->run;
  code.flow = known->flow;
  code.accesses = true;
  for (ArrayRef<Operand> operands : {arguments, results})
    for (const Operand &operand : operands) {
      Place place;
      unsigned bytes = code.sources < arguments.size()
                           ? known->parameterBytes[code.sources]
                           : known->resultBytes[0];
      if (!findLocal(operand, bytes, place))
        return errorAt(s.line, "expected a .param variable of " + Twine(bytes) +
                                   " bytes, got '" + operand.name + "'");
      code.op[code.sources++] = constant(Type::B64, place.value);
    }
  return addInstruction(s, code);
}

Error KernelAssembler::inlineCall(const Statement &s, const Function &callee,
                                  ArrayRef<Operand> results,
                                  ArrayRef<Operand> arguments) {
  if (Error error = checkCount(s, callee, results.size(), arguments.size()))
    return error;
  Scope scope;
  scope.isFunction = true;
  for (size_t i = 0; i < results.size(); ++i)
    if (Error error = bind(callee.results[i], results[i], scope, s.line))
      return error;
  for (size_t i = 0; i < arguments.size(); ++i)
    if (Error error = bind(callee.parameters[i], arguments[i], scope, s.line))
      return error;
  collectLabels(callee.body, scope);
  scopes.push_back(std::move(scope));
  active.push_back(&callee);
  returns.push_back(newLabel());
  uint32_t callFile = file, callLine = sourceLine, callCaller = caller;
  if (Error error = body(callee.body))
    return error;
  labelPcs[returns.back()] = kernel.code.size();
  file = callFile;
  sourceLine = callLine;
  caller = callCaller;
  returns.pop_back();
  active.pop_back();
  scopes.pop_back();
  return Error::success();
}

bool KernelAssembler::findLocal(const Operand &operand, uint64_t bytes,
                                Place &place) {
  return operand.kind == Operand::Name && findPlace(operand.name, place) &&
         place.space == Space::Local && place.value + bytes <= localBytes;
}

/// The callee's parameter is the caller's variable: nothing is copied.
Error KernelAssembler::bind(const Statement &formal, const Operand &actual,
                            Scope &scope, unsigned line) {
  Place place;
  if (formal.space != ".param" || actual.kind != Operand::Name ||
      !findPlace(actual.name, place) || place.space != Space::Local)
    return errorAt(line, "expected a .param variable for '" + formal.name +
                             "', got '" + actual.name + "'");
  Declared &declared = scope.names[formal.name];
  declared.statement = &formal;
  declared.place = place;
  return Error::success();
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

Error KernelAssembler::finish() {
  Instruction exit;
  exit.flow = Flow::Exit;
  exit.line = kernel.code.empty() ? active[0]->line : kernel.code.back().line;
  exit.file = file;
  exit.sourceLine = sourceLine;
  exit.mnemonic = mnemonic("ret");
  kernel.code.push_back(exit);
  for (std::vector<uint32_t> &list : kernel.targets)
    for (uint32_t &target : list)
      target = labelPcs[target] == kNoLabel ? kernel.code.size() - 1
                                            : labelPcs[target];
  for (Instruction &code : kernel.code)
    if (code.flow == Flow::Branch)
      code.target = labelPcs[code.target] == kNoLabel ? kernel.code.size() - 1
                                                      : labelPcs[code.target];
  kernel.dynamicBase = alignTo(sharedBytes, dynamicAlignment);
  if (kernel.dynamicBase > kMaxShared)
    kernel.dynamicBase = sharedBytes;
  for (Constant &constant : kernel.constants)
    if (constant.addDynamicBase)
      constant.bits += kernel.dynamicBase;
  if (fileBytes >= kMaxRegisterFile || sharedBytes > kMaxShared)
    return errorAt(active[0]->line,
                   "expected fewer registers and at most " + Twine(kMaxShared) +
                       " bytes of shared memory in '" + active[0]->name + "'");
  kernel.fileBytes = fileBytes;
  kernel.entry.localBytes = alignTo(localBytes, 16);
  kernel.entry.staticSharedBytes = sharedBytes;
  return Error::success();
}
