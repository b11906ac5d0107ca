//===- JitTest.cpp - tasks, entries and the JIT together --------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LlvmCpu/Jit.h"
#include "codegen/LlvmCpu/Passes.h"
#include "codegen/Pipelines/Registration.h"
#include "passes/Pipelines/LlvmLowering.h"
#include "runtime/api/MemRefArgument.h"
#include "runtime/device/cpu/ParallelFor.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

using namespace raytention;

namespace {

/// Rows times a factor through a scratch row: y[b, i, :] = f * x[b, i, :].
constexpr const char *kScale = R"(
func.func @scale(%x: memref<?x?x16xf32>, %f: memref<f32>, %tile: index,
                 %y: memref<?x?x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %b = memref.dim %x, %c0 : memref<?x?x16xf32>
  %t = memref.dim %x, %c1 : memref<?x?x16xf32>
  %factor = memref.load %f[] : memref<f32>
  scf.forall (%ib, %it) = (0, 0) to (%b, %t) step (1, 4) {
    %odd = memref.alloc() : memref<3xi8>
    %rows = memref.alloc(%tile) {alignment = 64 : i64} : memref<?x16xf32>
    %left = arith.subi %t, %it : index
    %n = arith.minsi %left, %tile : index
    scf.for %i = %c0 to %n step %c1 {
      %row = arith.addi %it, %i : index
      scf.forall (%k) in (16) {
        %v = memref.load %x[%ib, %row, %k] : memref<?x?x16xf32>
        memref.store %v, %rows[%i, %k] : memref<?x16xf32>
      }
    }
    scf.for %i = %c0 to %n step %c1 {
      %row = arith.addi %it, %i : index
      scf.for %k = %c0 to %c16 step %c1 {
        %v = memref.load %rows[%i, %k] : memref<?x16xf32>
        %s = arith.mulf %v, %factor : f32
        memref.store %s, %y[%ib, %row, %k] : memref<?x?x16xf32>
      }
    }
    memref.dealloc %rows : memref<?x16xf32>
    memref.dealloc %odd : memref<3xi8>
  }
  return
}
)";

class JitTest : public testing::Test {
protected:
  JitTest() {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    registerLlvmTranslations(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// `text` through the tasks and entries down to the LLVM dialect.
  mlir::OwningOpRef<mlir::ModuleOp> lower(llvm::StringRef text) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(
        text, mlir::ParserConfig(&context));
    mlir::PassManager pm(&context);
    pm.addPass(createOutlineTasksPass());
    pm.addPass(createCpuEntryPass());
    buildLlvmLowering(pm);
    EXPECT_TRUE(mlir::succeeded(pm.run(*module)));
    return module;
  }

  std::unique_ptr<Jit> compile(llvm::StringRef text) {
    JitCallback callback{"rt_parallel_for",
                         reinterpret_cast<void *>(&rt_parallel_for)};
    return llvm::cantFail(Jit::compile(*lower(text), callback));
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
};

/// The arguments of @scale and their values.
struct ScaleProblem {
  ScaleProblem(int64_t batch, int64_t rows)
      : in(batch * rows * 16), out(in.size(), -1.0f),
        x(in.data(), {batch, rows, 16}), f(&factor, {}),
        y(out.data(), {batch, rows, 16}) {
    for (size_t i = 0; i < in.size(); ++i)
      in[i] = static_cast<float>(i % 1001);
  }
  float factor = 3.0f;
  int64_t tile = 4;
  std::vector<float> in, out;
  MemRefArgument x, f, y;
  void *arguments[4] = {x.address(), f.address(), &tile, y.address()};
};

TEST_F(JitTest, RunsTasksOnAnyNumberOfThreads) {
  std::unique_ptr<Jit> jit = compile(kScale);
  auto *entry = llvm::cantFail(jit->lookup<void(void **)>("scale_entry"));
  for (int threads = 1; threads <= 8; ++threads)
    for (int64_t rows : {0, 1, 4, 7, 130}) {
      ScaleProblem problem(3, rows);
      cpu::WorkerPool pool(threads);
      cpu::RunContext run(pool);
      entry(problem.arguments);
      EXPECT_FALSE(bool(run.takeError()));
      for (size_t i = 0; i < problem.in.size(); ++i)
        ASSERT_EQ(problem.out[i], 3.0f * problem.in[i]) << i;
    }
}

TEST_F(JitTest, WorkspaceFunctionSaysWhatALoopAsksFor) {
  std::unique_ptr<Jit> jit = compile(kScale);
  auto *entry = llvm::cantFail(jit->lookup<void(void **)>("scale_entry"));
  auto *workspace =
      llvm::cantFail(jit->lookup<int64_t(void **)>("scale_workspace_entry"));
  ScaleProblem problem(1, 8);
  problem.tile = 5;
  // 3 bytes rounded up to 64, and 5 rows of 16 floats.
  EXPECT_EQ(workspace(problem.arguments), 64 + 5 * 64);
  cpu::WorkerPool pool(2);
  cpu::RunContext run(pool);
  entry(problem.arguments);
  EXPECT_EQ(run.bytesPerWorker(), 64 + 5 * 64);
}

TEST_F(JitTest, ExpensiveTilesOfAllBatchEntriesComeFirst) {
  std::unique_ptr<Jit> jit = compile(R"(
    func.func @order(%n: index, %t: index, %next: memref<index>,
                     %seen: memref<?x?xindex>) {
      %c1 = arith.constant 1 : index
      scf.forall (%b, %i) in (%n, %t) {
        %k = memref.load %next[] : memref<index>
        memref.store %k, %seen[%b, %i] : memref<?x?xindex>
        %k1 = arith.addi %k, %c1 : index
        memref.store %k1, %next[] : memref<index>
      }
      return
    })");
  auto *entry = llvm::cantFail(jit->lookup<void(void **)>("order_entry"));
  int64_t batch = 2, tiles = 3, next = 0;
  std::vector<int64_t> seen(6);
  MemRefArgument counter(&next, {}), order(seen.data(), {batch, tiles});
  void *arguments[] = {&batch, &tiles, counter.address(), order.address()};
  cpu::WorkerPool pool(1);
  cpu::RunContext run(pool);
  entry(arguments);
  EXPECT_EQ(seen, (std::vector<int64_t>{4, 2, 0, 5, 3, 1}));
}

TEST_F(JitTest, StreamingObjectNeedsOnlyTheCallback) {
  std::unique_ptr<Jit> jit = compile(kScale);
  for (const std::string &symbol : jit->undefinedSymbols())
    EXPECT_TRUE(symbol == "rt_parallel_for" || symbol == "memcpy" ||
                symbol == "memset" || symbol == "memmove")
        << symbol;
}

TEST_F(JitTest, ResolvesTheProcessForTheReference) {
  std::unique_ptr<Jit> jit = compile(R"(
    func.func private @pow(f64, f64) -> f64
    func.func @g(%x: memref<?xf64>, %n: index) {
      %c0 = arith.constant 0 : index
      %m = memref.alloc(%n) : memref<?xf64>
      %a = memref.load %x[%c0] : memref<?xf64>
      memref.store %a, %m[%c0] : memref<?xf64>
      memref.copy %m, %x : memref<?xf64> to memref<?xf64>
      %p = func.call @pow(%a, %a) : (f64, f64) -> f64
      memref.store %p, %x[%c0] : memref<?xf64>
      memref.dealloc %m : memref<?xf64>
      return
    })");
  auto *entry = llvm::cantFail(jit->lookup<void(void **)>("g_entry"));
  double value = 3;
  int64_t n = 1;
  MemRefArgument x(&value, {1});
  void *arguments[] = {x.address(), &n};
  entry(arguments);
  EXPECT_EQ(value, 27);
}

/// The bytes of each object.
static std::vector<std::string> copyBytes(const Objects &objects) {
  std::vector<std::string> bytes;
  for (const auto &object : objects)
    bytes.push_back(object->getBuffer().str());
  return bytes;
}

TEST_F(JitTest, ObjectsCanBeLoadedAgain) {
  auto bytes = copyBytes(llvm::cantFail(compileToObjects(*lower(kScale))));
  JitCallback callback{"rt_parallel_for",
                       reinterpret_cast<void *>(&rt_parallel_for)};
  for (int round = 0; round < 3; ++round) {
    Objects objects;
    for (const std::string &object : bytes)
      objects.push_back(llvm::MemoryBuffer::getMemBufferCopy(object));
    auto jit = llvm::cantFail(Jit::load(std::move(objects), callback));
    EXPECT_TRUE(jit->contains("scale_entry"));
  }
}

/// Functions too large to share an object, which call each other and double the
/// same datum.
static std::string makeLargeFunctions() {
  std::string text =
      "memref.global \"private\" @calls : memref<1xi64> = dense<[7]>\n";
  for (int function = 0; function < 3; ++function) {
    std::string name(1, "fgh"[function]);
    text += "func.func " + std::string(function < 2 ? "private " : "") + "@" +
            name + "(%x: memref<?xi64>) {\n%i = arith.constant 0 : index\n";
    if (function > 0)
      text += "call @" + std::string(1, "fgh"[function - 1]) +
              "(%x) : (memref<?xi64>) -> ()\n";
    text += "%calls = memref.get_global @calls : memref<1xi64>\n"
            "%old = memref.load %calls[%i] : memref<1xi64>\n"
            "%twice = arith.addi %old, %old : i64\n"
            "memref.store %twice, %calls[%i] : memref<1xi64>\n"
            "memref.store %twice, %x[%i] : memref<?xi64>\n";
    for (int step = 0; step < 600; ++step) {
      std::string n = std::to_string(step);
      text += "%c" + n + " = arith.constant " +
              std::to_string(step * 3 + function) + " : i64\n%v" + n +
              " = memref.load %x[%i] : memref<?xi64>\n%s" + n +
              " = arith.xori %v" + n + ", %c" + n + " : i64\nmemref.store %s" +
              n + ", %x[%i] : memref<?xi64>\n";
    }
    text += "return\n}\n";
  }
  return text;
}

TEST_F(JitTest, PartsAreTheSameBytesForAnyThreadsAndShareCodeAndData) {
  std::string text = makeLargeFunctions();
  Objects one = llvm::cantFail(
      compileToObjects(*lower(text), OptimizationEffort::Full, 1));
  Objects four = llvm::cantFail(
      compileToObjects(*lower(text), OptimizationEffort::Full, 4));
  EXPECT_EQ(one.size(), 4u);
  EXPECT_EQ(copyBytes(one), copyBytes(four));
  auto jit = llvm::cantFail(Jit::load(std::move(four), {}));
  EXPECT_TRUE(jit->undefinedSymbols().empty());
  auto *entry = llvm::cantFail(jit->lookup<void(void **)>("h_entry"));
  // The last function starts from data that all three have doubled.
  int64_t value = 0, expected = 8 * 7;
  for (int step = 0; step < 600; ++step)
    expected ^= step * 3 + 2;
  MemRefArgument x(&value, {1});
  void *arguments[] = {x.address()};
  entry(arguments);
  EXPECT_EQ(value, expected);
}

TEST_F(JitTest, ErrorsNameTheSymbol) {
  std::unique_ptr<Jit> jit = compile(kScale);
  auto missing = jit->lookup<void()>("nothing");
  EXPECT_EQ(llvm::toString(missing.takeError()),
            "expected a function 'nothing' in the compiled code, got none");
  auto unresolved = compile(R"(
    func.func private @no_such_function()
    func.func @h() {
      call @no_such_function() : () -> ()
      return
    })");
  auto address = unresolved->lookup<void(void **)>("h_entry");
  std::string message = llvm::toString(address.takeError());
  EXPECT_NE(message.find("no_such_function"), std::string::npos) << message;
}

} // namespace
