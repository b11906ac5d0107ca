//===- CompileLogTest.cpp - logs of the assembler -------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/nvrtc/CompileLog.h"

#include "tests/device/Support.h"

using namespace raytention::nvrtc;
using namespace raytention::test;

namespace {

const char *const twoKernels = R"(ptxas warning : something else
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z1tILi64EEvPf' for 'sm_90a'
ptxas info    : Function properties for _Z1tILi64EEvPf
ptxas         .     656 bytes stack frame, 672 bytes spill stores, 796 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers, 656 bytes cumulative stack size
ptxas info    : Compile time = 2516.710 ms
ptxas info    : Function properties for helper
ptxas         .     16 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
ptxas info    : Compiling entry function 'k' for 'sm_90a'
ptxas info    : Function properties for k
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 10 registers, used 1 barriers, 1024 bytes smem, 364 bytes cmem[0]
)";

TEST(CompileLog, ReadsEachKernel) {
  auto kernels = parseResources(twoKernels);
  ASSERT_TRUE(bool(kernels)) << llvm::toString(kernels.takeError());
  ASSERT_EQ(kernels->size(), 2u);
  const KernelResources &first = (*kernels)[0], &second = (*kernels)[1];
  EXPECT_EQ(first.name, "_Z1tILi64EEvPf");
  EXPECT_EQ(first.registers, 32);
  EXPECT_EQ(first.barriers, 0);
  EXPECT_EQ(first.stackBytes, 656);
  EXPECT_EQ(first.spillStoreBytes, 672);
  EXPECT_EQ(first.spillLoadBytes, 796);
  EXPECT_EQ(first.sharedBytes, 0);
  EXPECT_TRUE(first.spills());
  EXPECT_EQ(second.name, "k");
  EXPECT_EQ(second.registers, 10);
  EXPECT_EQ(second.barriers, 1);
  EXPECT_EQ(second.sharedBytes, 1024);
  EXPECT_EQ(second.stackBytes, 0);
  EXPECT_FALSE(second.spills());
}

TEST(CompileLog, NothingIsNoKernel) {
  auto kernels = parseResources("");
  ASSERT_TRUE(bool(kernels));
  EXPECT_TRUE(kernels->empty());
}

TEST(CompileLog, WordsItDoesNotKnowAreAnError) {
  EXPECT_EQ(messageOf(parseResources(
                "ptxas info : Compiling entry function 'k' for 'sm_99'\n"
                "ptxas info : takes 10 registers\n")),
            "log of the assembler: expected 'Used N registers' for the kernel "
            "k, got none");
}

TEST(CompileLog, FindsHazards) {
  std::vector<std::string> hazards = parseHazards(
      "ptxas info    : (C7519) Potential Performance Loss: wgmma serialized\n"
      "ptxas info    : Used 10 registers\n"
      "ptxas info    : (C7) nothing\n"
      "  ptxas info    : (C7510) Potential Performance Loss: call\r\n");
  ASSERT_EQ(hazards.size(), 2u);
  EXPECT_EQ(hazards[0], "ptxas info    : (C7519) Potential Performance Loss: "
                        "wgmma serialized");
  EXPECT_EQ(hazards[1],
            "ptxas info    : (C7510) Potential Performance Loss: call");
}

} // namespace
