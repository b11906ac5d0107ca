//===- CompilerTest.cpp - CUDA C++ through NVRTC --------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/nvrtc/Compiler.h"

#include "tests/device/Support.h"

#include "llvm/ADT/STLExtras.h"

#include <thread>

using namespace raytention::nvrtc;
using namespace raytention::test;

namespace {

bool has(llvm::StringRef text, llvm::StringRef part) {
  return text.contains(part);
}

Source scaleSource() {
  Source source;
  source.name = "scale.cu";
  source.headers = {{"tile.h", "#define FACTOR 3.0f\n"}};
  source.text = R"(#include "tile.h"
extern "C" __global__ void scale(float *x) {
  __shared__ float s[256];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = FACTOR * s[255 - threadIdx.x];
}
template <int N> __global__ void fill(int *x) { x[threadIdx.x] = N; }
)";
  return source;
}

/// A hundred live values in 32 registers.
Source spillingSource() {
  Source source;
  source.text = R"(
extern "C" __global__ void __launch_bounds__(1024, 2) crowd(float *p) {
  float a[64];
  for (int i = 0; i < 64; i++) a[i] = p[i * threadIdx.x];
  __syncthreads();
  for (int i = 0; i < 64; i++) p[i * threadIdx.x + 1] = a[i] * a[63 - i];
}
)";
  return source;
}

TEST(Compiler, SaysWhatItIs) {
  RT_NVRTC_OR_SKIP(compiler);
  EXPECT_GE(compiler->version().major, 12);
  EXPECT_TRUE(has(compiler->path(), "libnvrtc")) << compiler->path();
  EXPECT_TRUE(llvm::is_contained(compiler->architectures(), 80));
  EXPECT_TRUE(llvm::is_sorted(compiler->architectures()));
}

TEST(Compiler, MakesPtxOfAVirtualArchitecture) {
  RT_NVRTC_OR_SKIP(compiler);
  Source source = scaleSource();
  source.lineInfo = true;
  auto compiled = compiler->compile(source, "compute_80");
  ASSERT_TRUE(bool(compiled)) << llvm::toString(compiled.takeError());
  EXPECT_TRUE(has(compiled->ptx, ".target sm_80"));
  EXPECT_TRUE(has(compiled->ptx, "scale.cu"));
  EXPECT_NE(compiled->ptx.back(), '\0');
  EXPECT_TRUE(compiled->cubin.empty());
  EXPECT_TRUE(compiled->kernels.empty());
  EXPECT_EQ(compiled->arch, "compute_80");
}

TEST(Compiler, MakesMachineCodeAndReadsItsResources) {
  RT_NVRTC_OR_SKIP(compiler);
  auto compiled = compiler->compile(scaleSource(), "sm_90a");
  ASSERT_TRUE(bool(compiled)) << llvm::toString(compiled.takeError());
  ASSERT_GT(compiled->cubin.size(), 4u);
  EXPECT_EQ(llvm::StringRef(compiled->cubin.data() + 1, 3), "ELF");
  ASSERT_EQ(compiled->kernels.size(), 1u);
  EXPECT_EQ(compiled->kernels[0].name, "scale");
  EXPECT_EQ(compiled->kernels[0].sharedBytes, 1024);
  EXPECT_EQ(compiled->kernels[0].barriers, 1);
  EXPECT_GT(compiled->kernels[0].registers, 3);
  EXPECT_TRUE(has(compiled->log, "ptxas info"));
  EXPECT_GT(compiled->milliseconds, 0);
}

TEST(Compiler, CompilesForManyArchitecturesInTheirOrder) {
  RT_NVRTC_OR_SKIP(compiler);
  std::vector<std::string> archs = {"sm_90a", "compute_80", "sm_80",
                                    "compute_90a"};
  auto compiled = compiler->compileAll(scaleSource(), archs, 2);
  ASSERT_TRUE(bool(compiled)) << llvm::toString(compiled.takeError());
  for (size_t i = 0; i < archs.size(); ++i)
    EXPECT_EQ((*compiled)[i].arch, archs[i]);
  EXPECT_FALSE((*compiled)[2].cubin.empty());
  EXPECT_TRUE(has((*compiled)[3].ptx, ".target sm_90a"));
}

TEST(Compiler, InstantiatesNameExpressions) {
  RT_NVRTC_OR_SKIP(compiler);
  Source source = scaleSource();
  source.nameExpressions = {"fill<7>", "scale"};
  auto compiled = compiler->compile(source, "compute_80");
  ASSERT_TRUE(bool(compiled)) << llvm::toString(compiled.takeError());
  EXPECT_EQ(compiled->loweredNames["scale"], "scale");
  EXPECT_TRUE(has(compiled->ptx, compiled->loweredNames["fill<7>"]));
  source.nameExpressions = {"absent<1>"};
  std::string message = messageOf(compiler->compile(source, "compute_80"));
  EXPECT_TRUE(has(message, "absent")) << message;
}

TEST(Compiler, ErrorsHoldTheLog) {
  RT_NVRTC_OR_SKIP(compiler);
  Source source = scaleSource();
  source.text += "__global__ void broken(int *x) { x[0] = y; }\n";
  std::string message = messageOf(compiler->compile(source, "compute_80"));
  EXPECT_EQ(message.rfind("scale.cu for compute_80: nvrtcCompileProgram: "
                          "expected NVRTC_SUCCESS, got "
                          "NVRTC_ERROR_COMPILATION (6)\nscale.cu(9): error",
                          0),
            0u)
      << message;
  EXPECT_TRUE(has(message, "\"y\" is undefined")) << message;
}

TEST(Compiler, WrongInlinePtxIsSeenByTheAssemblerOnly) {
  RT_NVRTC_OR_SKIP(compiler);
  Source source;
  source.text = "extern \"C\" __global__ void k() { asm(\"nonsense.u32;\"); }";
  EXPECT_EQ(messageOf(compiler->compile(source, "compute_80")), "");
  std::string message = messageOf(compiler->compile(source, "sm_80"));
  EXPECT_TRUE(has(message, "nonsense")) << message;
}

TEST(Compiler, RefusesArchitecturesItDoesNotKnow) {
  RT_NVRTC_OR_SKIP(compiler);
  for (const char *arch :
       {"sm_11", "compute_80x", "80", "sm_", "", "sm_80aa"}) {
    std::string message = messageOf(compiler->compile(scaleSource(), arch));
    EXPECT_TRUE(has(message, "architecture: expected compute_N or sm_N with N "
                             "one of "))
        << message;
    EXPECT_TRUE(has(message, std::string("got '") + arch + "'")) << message;
  }
}

TEST(Compiler, JoinsTheErrorsOfAllArchitectures) {
  RT_NVRTC_OR_SKIP(compiler);
  std::string message = messageOf(
      compiler->compileAll(scaleSource(), {"sm_11", "compute_80", "sm_12"}, 2));
  EXPECT_TRUE(has(message, "got 'sm_11'")) << message;
  EXPECT_TRUE(has(message, "got 'sm_12'")) << message;
}

TEST(Compiler, ReportsInvalidOptions) {
  RT_NVRTC_OR_SKIP(compiler);
  Source source = scaleSource();
  source.options = {"--no-such-option"};
  std::string message = messageOf(compiler->compile(source, "compute_80"));
  EXPECT_TRUE(has(message, "NVRTC_ERROR_INVALID_OPTION")) << message;
  EXPECT_TRUE(has(message, "no-such-option")) << message;
}

TEST(Compiler, SpillsAreAnErrorOnRequest) {
  RT_NVRTC_OR_SKIP(compiler);
  Source source = spillingSource();
  auto compiled = compiler->compile(source, "sm_80");
  ASSERT_TRUE(bool(compiled)) << llvm::toString(compiled.takeError());
  ASSERT_EQ(compiled->kernels.size(), 1u);
  EXPECT_TRUE(compiled->kernels[0].spills());
  source.failOnSpills = true;
  std::string message = messageOf(compiler->compile(source, "sm_80"));
  EXPECT_TRUE(has(message, "kernel.cu for sm_80: kernel crowd: expected no "
                           "spilled registers, got "))
      << message;
  message = messageOf(compiler->compile(source, "compute_80"));
  EXPECT_EQ(message, "hazards and spills: expected an sm_N architecture, got "
                     "'compute_80', which is not assembled");
}

/// An accumulator that is read between the products and their wait.
TEST(Compiler, HazardsAreAnErrorOnRequest) {
  RT_NVRTC_OR_SKIP(compiler);
  Source source;
  source.text = R"(
extern "C" __global__ void product(float *out, unsigned long long a,
                                   unsigned long long b) {
  float d[4] = {0, 0, 0, 0};
  for (int i = 0; i < 4; i++) {
    asm volatile("wgmma.fence.sync.aligned;");
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 "
        "{%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b));
    asm volatile("wgmma.commit_group.sync.aligned;");
    d[0] += 1.0f;
    asm volatile("wgmma.wait_group.sync.aligned 0;");
  }
  for (int i = 0; i < 4; i++) out[threadIdx.x * 4 + i] = d[i];
}
)";
  auto compiled = compiler->compile(source, "sm_90a");
  ASSERT_TRUE(bool(compiled)) << llvm::toString(compiled.takeError());
  ASSERT_FALSE(compiled->hazards.empty()) << compiled->log;
  source.failOnHazards = true;
  std::string message = messageOf(compiler->compile(source, "sm_90a"));
  EXPECT_TRUE(has(message, "kernel.cu for sm_90a: expected no hazard from the "
                           "assembler, got: "))
      << message;
  EXPECT_TRUE(has(message, "(C75")) << message;
}

TEST(Compiler, ManyThreadsAtOnce) {
  RT_NVRTC_OR_SKIP(compiler);
  std::vector<std::string> texts(6);
  std::vector<std::thread> threads;
  for (std::string &text : texts)
    threads.emplace_back([&] {
      auto compiled = compiler->compile(scaleSource(), "compute_80");
      text = compiled ? compiled->ptx : llvm::toString(compiled.takeError());
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &text : texts)
    EXPECT_EQ(text, texts[0]);
  EXPECT_TRUE(has(texts[0], ".entry scale"));
}

TEST(Compiler, HiddenOrLackingLibrariesAreNamed) {
  {
    ScopedVariable hide("RT_HIDE_CUDA", "1");
    EXPECT_EQ(messageOf(Compiler::open()),
              "NVRTC is hidden: expected RT_HIDE_CUDA unset or 0, got 1");
  }
  ScopedVariable show("RT_HIDE_CUDA", nullptr);
  ScopedVariable named("RT_NVRTC", RAYTENTION_EMPTY_LIBRARY);
  std::string message = messageOf(Compiler::open());
  EXPECT_EQ(message, "NVRTC in " RAYTENTION_EMPTY_LIBRARY
                     ": expected the function nvrtcGetErrorString, got a "
                     "library without it; use a newer one");
}

TEST(Compiler, ReportsAZeroByte) {
  RT_NVRTC_OR_SKIP(compiler);
  Source source = scaleSource();
  source.text += std::string("\0x", 2);
  EXPECT_EQ(messageOf(compiler->compile(source, "compute_80")),
            "scale.cu: expected CUDA C++, got a text with a zero byte");
}

} // namespace
