//===- SymbolsTest.cpp - names of a module that others use too --*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/exec/GradientProblem.h"
#include "tests/support/Results.h"

#include "gtest/gtest.h"

using namespace raytention;
using namespace raytention::test;

namespace {

/// Names that compiled code calls without the module's mentioning them, that
/// passes make, and that begin like neither.
const char *const kNames[] = {"attend_entry",
                              "attend_workspace",
                              "attend_workspace_entry",
                              "attend_scratch",
                              "attend_scratch_entry",
                              "attend_backward_scratch",
                              "attend_backward_scratch_entry",
                              "attend_backward_entry",
                              "attend_backward_workspace",
                              "attend_backward_workspace_entry",
                              "attend_task0",
                              "attend_backward_task0",
                              "rt_parallel_for",
                              "memcpy",
                              "memset",
                              "memmove",
                              "malloc",
                              "free",
                              "aligned_alloc",
                              "exp",
                              "expf",
                              "log",
                              "logf",
                              "log1pf",
                              "powf",
                              "pow",
                              "fmaf",
                              "fma",
                              "sqrtf",
                              "roundevenf",
                              "fmaxf",
                              "memrefCopy",
                              "_mlir_ciface_attend",
                              "llvm.exp.f32",
                              "llvm.memcpy.p0.p0.i64",
                              "__constant_4xf32",
                              "own.expf",
                              "own.memcpy",
                              "helper"};

std::vector<float> runForward(const GradientProblem &problem,
                              const CompileOptions &options,
                              llvm::StringRef module) {
  auto attention =
      test::cantFail(Attention::compileModule(module, problem.spec, options));
  std::vector<float> queries(problem.queries.begin(), problem.queries.end());
  std::vector<float> table(problem.table.begin(), problem.table.end());
  std::vector<float> signals(problem.batch * problem.numQueries *
                             attention->signalWidth());
  Inputs inputs;
  inputs.batch = problem.batch;
  inputs.numQueries = problem.numQueries;
  inputs.numKeys = problem.numKeys;
  inputs.vocab = problem.vocab;
  inputs.queries = queries.data();
  inputs.table = table.data();
  inputs.ids = problem.ids.data();
  inputs.tau = problem.tau[0];
  Outputs outputs;
  outputs.signals = signals.data();
  test::cantFail(attention->run(inputs, outputs, 1));
  return signals;
}

class Symbols : public testing::TestWithParam<TargetKind> {
protected:
  Symbols() {
    problem = GradientProblem(3, {"decay:backward:0"}, 9, 0);
    problem.spec.numGammas = 1;
    problem.gammas.resize(1);
    options.target = GetParam();
    options.backward = true;
    text = test::cantFail(printStage(problem.spec, options, "attention"));
  }

  /// The module with `symbols` behind its function.
  std::string addSymbols(llvm::StringRef symbols,
                         llvm::StringRef module) const {
    size_t end = module.rfind('}');
    return (module.take_front(end) + symbols + module.substr(end)).str();
  }
  std::string addSymbols(llvm::StringRef symbols) const {
    return addSymbols(symbols, text);
  }
  std::string errorOf(llvm::StringRef symbols) const {
    return test::messageOf(
        Attention::compileModule(addSymbols(symbols), problem.spec, options));
  }
  GradientValues compute(llvm::StringRef module) const {
    auto attention =
        test::cantFail(Attention::compileModule(module, problem.spec, options));
    return problem.computeGradients(*attention, problem.spec.dtype, 1);
  }
  void expectSame(llvm::StringRef module) const {
    static std::map<TargetKind, GradientValues> plains;
    auto [place, isNew] = plains.try_emplace(GetParam());
    if (isNew)
      place->second = compute(text);
    const GradientValues &plain = place->second;
    GradientValues other = compute(module);
    EXPECT_EQ(plain.queries, other.queries);
    EXPECT_EQ(plain.table, other.table);
    EXPECT_EQ(plain.tau, other.tau);
    EXPECT_EQ(plain.gammas, other.gammas);
  }

  GradientProblem problem;
  CompileOptions options;
  std::string text;
};

/// A definition that would do harm in place of anything else.
std::string define(llvm::StringRef visibility, llvm::StringRef name) {
  return ("func.func " + visibility + " @" + name +
          "(%x: f32, %p: !llvm.ptr) -> f32 {\n"
          "  %seven = arith.constant 7.0 : f32\n"
          "  llvm.store %seven, %p : f32, !llvm.ptr\n"
          "  return %seven : f32\n}\n")
      .str();
}

TEST_P(Symbols, PrivateFunctionsOfAnyNameChangeNothing) {
  std::string symbols;
  for (const char *name : kNames)
    symbols += define("private", name);
  expectSame(addSymbols(symbols));
}

TEST_P(Symbols, PrivateEntriesOfTheirOwnTypeChangeNothing) {
  std::string symbols;
  for (const char *name : {"attend_entry", "attend_backward_entry"})
    symbols += std::string("func.func private @") + name +
               "(%p: !llvm.ptr) { return }\n";
  expectSame(addSymbols(symbols));
}

TEST_P(Symbols, DataOfAnyNameChangesNothing) {
  std::string symbols;
  for (const char *name : kNames)
    symbols += std::string("memref.global \"private\" @") + name +
               " : memref<4xf32> = dense<1.0>\n";
  expectSame(addSymbols(symbols));
}

TEST_P(Symbols, PublicFunctionsThatNobodyCallsChangeNothing) {
  std::string symbols;
  for (const char *name : kNames)
    if (!llvm::StringRef(name).ends_with("_entry") &&
        !llvm::StringRef(name).ends_with("_workspace") &&
        !llvm::StringRef(name).ends_with("_scratch"))
      symbols += define("", name);
  symbols += "memref.global @y0f : memref<4xf32> = dense<1.0>\n";
  expectSame(addSymbols(symbols));
}

/// The CPU's lowering takes no calls beside an attention.
TEST(SymbolsReference, ADefinitionIsCalledByItsOwnName) {
  GradientProblem problem(3, {"centroid"}, 9, 0);
  problem.spec.numGammas = 0;
  CompileOptions options;
  options.target = TargetKind::Reference;
  std::string text =
      test::cantFail(printStage(problem.spec, options, "attention"));
  std::vector<float> plain = runForward(problem, options, text);
  size_t use = text.find("tau(%arg3");
  ASSERT_NE(use, std::string::npos);
  text.replace(use, 9, "tau(%v");
  size_t at = text.find("%signals");
  ASSERT_NE(at, std::string::npos);
  for (std::string name : {"expf", "memcpy", "attend_entry", "llvm.exp.f32"}) {
    // The temperature itself, not its exponential.
    std::string module = text;
    module.insert(at, "%t = tensor.extract %arg3[] : tensor<f32>\n"
                      "%u = func.call @" +
                          name +
                          "(%t) : (f32) -> f32\n"
                          "%v = tensor.from_elements %u : tensor<f32>\n");
    module.insert(module.rfind('}'), "func.func private @" + name +
                                         "(%x: f32) -> f32 {\n"
                                         "  return %x : f32\n}\n");
    EXPECT_EQ(runForward(problem, options, module), plain) << name;
  }
}

/// One line: where, and what is expected.
void expectRefused(const std::string &message, llvm::StringRef name) {
  EXPECT_EQ(message.find("module:"), 0u) << name.str() << ": " << message;
  EXPECT_NE(message.find(("@" + name + " expected").str()), std::string::npos)
      << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

TEST_P(Symbols, PublicNamesThatTheCompilerGivesAreRefused) {
  for (const char *name :
       {"attend_entry", "attend_workspace", "attend_workspace_entry",
        "attend_scratch", "attend_scratch_entry", "attend_backward_entry",
        "attend_backward_workspace", "attend_backward_workspace_entry",
        "attend_backward_scratch", "attend_backward_scratch_entry"}) {
    expectRefused(errorOf(define("", name)), name);
    expectRefused(errorOf(std::string("func.func @") + name +
                          "(%p: !llvm.ptr) { return }\n"),
                  name);
    expectRefused(errorOf(std::string("memref.global @") + name +
                          " : memref<4xf32> = dense<1.0>\n"),
                  name);
  }
}

TEST_P(Symbols, DeclarationsThatCannotBeMeantAreRefused) {
  for (const char *name : {"attend_entry", "attend_workspace_entry",
                           "attend_backward_entry", "llvm.exp.f32"})
    expectRefused(
        errorOf(std::string("func.func private @") + name + "(!llvm.ptr)\n"),
        name);
  expectRefused(errorOf("func.func private @rt_parallel_for(f32)\n"),
                "rt_parallel_for");
  expectRefused(errorOf("memref.global \"private\" @environ : memref<4xf32>\n"),
                "environ");
}

TEST_P(Symbols, DeclarationsOfAnotherTypeChangeNothing) {
  std::string symbols;
  for (const char *name : {"memcpy", "malloc", "free", "expf", "exp", "fmaf",
                           "memset", "aligned_alloc"})
    symbols += std::string("func.func private @") + name + "(i1) -> i1\n";
  expectSame(addSymbols(symbols));
}

TEST_P(Symbols, AnEntryMustBePublic) {
  std::string hidden = text;
  hidden.replace(hidden.find("func.func @attend"), 10, "func.func private ");
  std::string message =
      test::messageOf(Attention::compileModule(hidden, problem.spec, options));
  expectRefused(message, "attend");
  expectRefused(errorOf(define("private", "attend_backward")),
                "attend_backward");
}

/// Names in a module that is already on buffers, or in the LLVM dialect.
TEST_P(Symbols, LaterStagesKeepTheirOwn) {
  std::vector<std::string> stages = {"cpu", "llvm"};
  if (GetParam() == TargetKind::Reference)
    options.backward = false; // printStage() knows no other form of it
  for (const std::string &stage : stages) {
    std::string module =
        test::cantFail(printStage(problem.spec, options, stage));
    std::string symbols;
    for (const char *name : {"memcpy", "expf", "malloc", "attend_task7"})
      symbols += std::string("llvm.func @") + name +
                 "(%x: f32, %p: !llvm.ptr) -> f32 {\n"
                 "  llvm.store %x, %p : f32, !llvm.ptr\n"
                 "  llvm.return %x : f32\n}\n";
    // Names that the module declares are taken.
    std::string added;
    for (llvm::StringRef symbol : llvm::split(symbols, "}\n")) {
      llvm::StringRef name = symbol.split('@').second.split('(').first;
      if (!name.empty() &&
          module.find(("@" + name + "(").str()) == std::string::npos)
        added += (symbol + "}\n").str();
    }
    auto attention = Attention::compileModule(addSymbols(added, module),
                                              problem.spec, options);
    EXPECT_TRUE(static_cast<bool>(attention))
        << stage << ": " << attention.status().message();
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Symbols,
                         testing::Values(TargetKind::Cpu,
                                         TargetKind::Reference),
                         [](const auto &info) {
                           return info.param == TargetKind::Cpu ? "Cpu"
                                                                : "Reference";
                         });

} // namespace
