//===- PlanRefusalTest.cpp - plans that are refused -----------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/device/Support.h"
#include "tests/exec/PlanProblem.h"
#include "tests/support/Results.h"

using namespace raytention;
using namespace raytention::test;

namespace {

/// That the plan is refused, with that part of a message of one line.
void expectRefused(const std::string &text, const std::string &part) {
  std::string message = planError(text);
  EXPECT_NE(message.find(part), std::string::npos)
      << "got: " << message << "\nwithout: " << part;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  EXPECT_EQ(message.rfind("module:", 0), 0u) << message;
}

/// With more lines before the first launch.
std::string onHost(const std::string &lines) {
  std::string launch = "  gpu.launch_func @kernels::@sum_keys";
  return edit(readCentroidPlan(), launch, lines + "\n" + launch);
}

TEST(PlanRefusal, OperationsOfTheHost) {
  const std::pair<const char *, const char *> cases[] = {
      {"%x = memref.load %tau[] : memref<f32>", "'memref.load' op expected an "
                                                "operation of a plan's host "
                                                "program"},
      {"func.call @other() : () -> ()", "'func.call' op expected an operation"},
      {"%x = memref.alloca() : memref<4xf32>", "'memref.alloca' op expected"},
      {"%x = arith.constant 1.0 : f32\n %y = arith.addf %x, %x : f32",
       "'arith.addf' op expected an operation"},
      {"%x = arith.constant dense<1> : vector<4xi32>\n"
       "%y = arith.addi %x, %x : vector<4xi32>",
       "'arith.constant' op expected index, an integer of 1, 8, 32 or 64 bits"},
      {"%x = arith.constant 1 : i16", "or of bf16 with the identity layout in "
                                      "the default memory space, got 'i16'"},
      {"%x = memref.alloc() : memref<4x4xf32, strided<[8, 1]>>",
       "got 'memref<4x4xf32, strided<[8, 1]>>'"},
      {"%x = memref.alloc() : memref<4xf32, 3>", "got 'memref<4xf32, 3"},
      {"%x = memref.alloc() : memref<4xi1>", "got 'memref<4xi1>'"},
      {"%x = memref.alloc() {alignment = 512} : memref<4xf32>",
       "expected an alignment of at most 256 bytes, got 512"},
      {"%t = arith.constant true\n"
       "%x = arith.select %t, %sums, %sums : memref<?x?x64xf32>",
       "'arith.select' op expected a choice between two scalars"},
      {"%t = arith.constant true\n"
       "%x = scf.if %t -> (memref<?x?x64xf32>) {\n"
       "scf.yield %sums : memref<?x?x64xf32> } else {\n"
       "scf.yield %sums : memref<?x?x64xf32> }",
       "'scf.if' op expected index or an integer of 1, 8, 32 or 64 bits, got "
       "'memref<?x?x64xf32>'"},
      {"scf.for unsigned %i = %c0 to %c8 step %c1 {}",
       "expected a signed comparison of the counter"},
      {"scf.while : () -> () {\n%t = arith.constant true\n"
       "scf.condition(%t) } do { scf.yield }",
       "'scf.while' op expected an operation"},
      {"gpu.wait", "'gpu.wait' op expected an operation"},
  };
  for (auto [lines, part] : cases)
    expectRefused(edit(onHost(lines), "gpu.module @kernels {",
                       "func.func private @other()\ngpu.module @kernels {"),
                  part);
}

TEST(PlanRefusal, LaunchesThatDoNotAgreeWithTheirKernel) {
  std::string text = readCentroidPlan();
  expectRefused(edit(text, "array<i32: 64, 1, 1>", "array<i32: 32, 1, 1>", 2),
                "'gpu.launch_func' op expected a block of 32 along x, as "
                "known_block_size says, got 64");
  expectRefused(edit(text,
                     " attributes {known_block_size = array<i32: 64, 1, 1>}",
                     "", 2),
                "'gpu.func' op expected known_block_size");
  expectRefused(edit(text, "{known_block_size =",
                     "{known_grid_size = array<i32: 1, 1, 1>, "
                     "known_block_size =",
                     2),
                "'gpu.func' op expected no known grid or cluster size");
  expectRefused(edit(text, "         %norm : memref<?x?xf32>)",
                     "         %norm : memref<?x?xf32>, %c1 : index)"),
                "'gpu.launch_func' op");
  expectRefused(edit(text, "%offset: index,\n      %lengths",
                     "%offset: i64,\n      %lengths"),
                "");
  expectRefused(edit(text, "gpu.launch_func @kernels::@sum_keys",
                     "%t = gpu.launch_func async @kernels::@sum_keys"),
                "expected a launch in order, got an asynchronous one");
  expectRefused(edit(text, "@kernels::@sum_keys blocks",
                     "@kernels::@sum_keys clusters in (%c1, %c1, %c1) blocks"),
                "expected a launch without clusters");
}

TEST(PlanRefusal, ParametersWithoutAForm) {
  std::string text = onHost("%flag = arith.constant true");
  text = edit(text, "%norm : memref<?x?xf32>)\n  memref",
              "%norm : memref<?x?xf32>, %flag : i1)\n  memref");
  text = edit(text, "      %norm: memref<?x?xf32>) kernel",
              "      %norm: memref<?x?xf32>, %flag: i1) kernel");
  expectRefused(text, "'gpu.func' op expected parameter 3 to be index, i32, "
                      "i64, f32, f64 or a memref with the identity layout in "
                      "the default memory space, got 'i1'");
}

TEST(PlanRefusal, KernelsWithoutAFormInCuda) {
  expectRefused(edit(readCentroidPlan(), "%root = math.sqrt %square",
                     "%root = math.cbrt %square"),
                "math.cbrt");
}

TEST(PlanRefusal, SignaturesOfOtherAttentions) {
  std::string text = readCentroidPlan();
  EXPECT_EQ(planError(edit(text, "memref<0xf32>", "memref<1xf32>")),
            "expected @attend to have argument 4 like tensor<0xf32>, got "
            "memref<1xf32>");
  expectRefused(edit(text, "memref<0xf32>", "memref<0xf32, 1>"),
                "'func.func' op expected argument 4 to be index or a memref "
                "with the identity layout in the default memory space");
}

CompileOptions forTarget(TargetKind target) {
  CompileOptions options;
  options.target = target;
  return options;
}

std::string moduleError(const std::string &text,
                        const CompileOptions &options) {
  return test::messageOf(
      Attention::compileModule(text, centroidSpec(), options));
}

TEST(PlanTarget, RefusesWhatIsNotThereYet) {
  CompileOptions options = forTarget(TargetKind::Simt);
  options.backward = true;
  EXPECT_EQ(moduleError(readCentroidPlan(), options),
            "target simt: expected no gradients, got backward, which is not "
            "there yet; use target cpu");
}

TEST(PlanTarget, OfTheCpuTakesNoPlan) {
  for (TargetKind target : {TargetKind::Cpu, TargetKind::Reference}) {
    EXPECT_EQ(moduleError(readCentroidPlan(), forTarget(target)),
              "expected a module that a target on the CPU can compile, got a "
              "plan with kernels; use target simt or cuda");
  }
  CompileOptions stored = forTarget(TargetKind::Reference);
  stored.schedule.family = Schedule::Family::Stored;
  EXPECT_EQ(test::messageOf(Attention::compile(centroidSpec(), stored)),
            "expected schedule family auto or fused for target reference, got "
            "stored");
}

TEST(PlanTarget, CodeForTheCpuIsNoPlan) {
  for (const char *stage : {"cpu", "llvm"}) {
    std::string text = test::cantFail(printStage(centroidSpec(), {}, stage));
    EXPECT_NE(moduleError(text, forTarget(TargetKind::Simt))
                  .find("expected a "
                        "plan"),
              std::string::npos);
  }
}

TEST(PlanTarget, SaysWhatIsMissing) {
  ScopedVariable hide("RT_HIDE_CUDA", "1");
  EXPECT_EQ(moduleError(readCentroidPlan(), forTarget(TargetKind::Simt)),
            "simt: NVRTC is hidden: expected RT_HIDE_CUDA unset or 0, got 1");
  EXPECT_EQ(moduleError(readCentroidPlan(), forTarget(TargetKind::Cuda)),
            "cuda: the CUDA driver is hidden: expected RT_HIDE_CUDA unset or "
            "0, got 1");
}

TEST(PlanTarget, PrintsItsStages) {
  CompileOptions options = forTarget(TargetKind::Simt);
  for (const char *stage : {"attention", "sweeps", "products", "tiled"})
    EXPECT_TRUE(bool(printStage(centroidSpec(), options, stage))) << stage;
  std::string message =
      test::messageOf(printStage(centroidSpec(), options, "llvm"));
  EXPECT_EQ(
      message.rfind("expected a stage out of attention, sweeps, products", 0),
      0u)
      << message;
}

} // namespace
