//===- CompileTest.cpp - specs, texts and stages ----------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "raytention/Attention.h"
#include "runtime/api/Compiler.h"
#include "runtime/api/HostCode.h"
#include "tests/support/Results.h"

#include "llvm/ADT/StringRef.h"
#include "gtest/gtest.h"

using namespace raytention;

namespace {

AttentionSpec getSpec() {
  AttentionSpec spec;
  spec.dModel = 64;
  spec.channels = defaultChannels();
  spec.numGammas = 5;
  return spec;
}

std::string getError(const AttentionSpec &spec,
                     const CompileOptions &options = {}) {
  return test::messageOf(Attention::compile(spec, options));
}

std::string getModuleError(llvm::StringRef text) {
  return test::messageOf(Attention::compileModule(text, getSpec(), {}));
}

TEST(Compile, PrintsTheAttention) {
  std::string text =
      test::cantFail(printStage(getSpec(), CompileOptions(), "attention"));
  llvm::StringRef ir(text);
  EXPECT_TRUE(ir.contains("func.func @attend(")) << text;
  EXPECT_TRUE(ir.contains("rt.attend [#rt.centroid, #rt.decay<forward, 0>"));
  EXPECT_TRUE(ir.contains("-> (tensor<?x?x642xf32>, tensor<?x?xf32>, "
                          "tensor<?x?x4xi32>)"));
  EXPECT_TRUE(ir.contains("rt.schedule = #rt.schedule<query_tile = 32, "
                          "key_chunk = 192, split_keys = 1, scores = keep>"));
}

TEST(Compile, BuildsEveryElementType) {
  AttentionSpec spec = getSpec();
  spec.dtype = DType::BF16;
  spec.idBits = 64;
  llvm::StringRef ir;
  std::string text = test::cantFail(printStage(spec, {}, "attention"));
  ir = text;
  EXPECT_TRUE(ir.contains("tensor<?x64xbf16>")) << text;
  EXPECT_TRUE(ir.contains("tensor<?x?xi64>"));
  EXPECT_TRUE(ir.contains("tensor<5xf32>"));
  spec.dtype = DType::F64;
  text = test::cantFail(printStage(spec, {}, "attention"));
  ir = text;
  EXPECT_TRUE(ir.contains("tensor<5xf64>")) << text;
}

TEST(Compile, SpecErrorsSayExpectedAndGot) {
  AttentionSpec spec = getSpec();
  spec.dModel = 0;
  EXPECT_EQ(getError(spec), "expected d_model in [1, 2147483647], got 0");
  spec = getSpec();
  spec.idBits = 16;
  EXPECT_EQ(getError(spec), "expected ids of 32 or 64 bits, got 16");
  spec = getSpec();
  spec.metric = "dot";
  EXPECT_EQ(getError(spec), "expected metric sq_l2 or l2, got 'dot'");
  spec = getSpec();
  spec.decayOrigin = "key";
  EXPECT_EQ(getError(spec),
            "expected decay origin sequence_end or query, got 'key'");
  spec = getSpec();
  spec.channels = {"median"};
  std::string message = getError(spec);
  EXPECT_NE(message.find("got 'median'"), std::string::npos) << message;
  EXPECT_NE(message.find("centroid"), std::string::npos) << message;
  spec.channels.clear();
  EXPECT_EQ(getError(spec), "expected at least one channel, got none");
}

TEST(Compile, VerifierErrorsAreReturned) {
  AttentionSpec spec = getSpec();
  spec.numGammas = 2;
  std::string message = getError(spec);
  EXPECT_NE(message, "");
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

TEST(Compile, ModuleErrorsHaveAPlaceAndOneLine) {
  std::string message = getModuleError("func.func @attend( {");
  EXPECT_EQ(message.find("module:1:"), 0u) << message;
  EXPECT_EQ(getModuleError("module {}"),
            "expected a function @attend in the module, got none");
  EXPECT_EQ(getModuleError("func.func @attend(%a: index) { return }"),
            "expected @attend to have 10 arguments, got 1");
  message = getModuleError(
      "func.func private @attend(tensor<?x?x32xf32>, tensor<?x64xf32>, "
      "tensor<?x?xi32>, tensor<f32>, tensor<5xf32>, index, tensor<?xi64>) -> "
      "(tensor<?x?x642xf32>, tensor<?x?xf32>, tensor<?x?x4xi32>)");
  EXPECT_EQ(message, "expected @attend to have argument 0 like "
                     "tensor<?x?x64xf32>, got tensor<?x?x32xf32>");
}

TEST(Compile, UnknownStageNamesTheKnownOnes) {
  std::string message = test::messageOf(printStage(getSpec(), {}, "tilde"));
  EXPECT_EQ(message.find("expected a stage out of attention"), 0u) << message;
  EXPECT_NE(message.find("got 'tilde'"), std::string::npos) << message;
}

TEST(Compile, CapTooSmallIsRefused) {
  CompileOptions options;
  options.workspaceCap = 100;
  std::string message = getError(getSpec(), options);
  EXPECT_EQ(message.find("expected a workspace cap of at least"), 0u)
      << message;
  options.workspaceCap = -1;
  EXPECT_EQ(getError(getSpec(), options),
            "expected a workspace cap >= 0 bytes, got -1");
}

TEST(Compile, SizesBeyondAnIndexAreRefused) {
  for (int64_t size : {int64_t(1) << 31, int64_t(1) << 59, int64_t(1) << 62,
                       std::numeric_limits<int64_t>::max()}) {
    std::string got = ", 2147483647], got " + std::to_string(size);
    CompileOptions options;
    options.schedule.splitKeys = size;
    EXPECT_EQ(getError(getSpec(), options),
              "expected a number of key ranges in [0" + got);
    options = {};
    options.expectedKeys = size;
    EXPECT_EQ(getError(getSpec(), options),
              "expected a number of expected keys in [0" + got);
    AttentionSpec spec = getSpec();
    spec.dModel = size;
    EXPECT_EQ(getError(spec), "expected d_model in [1" + got);
    spec = getSpec();
    spec.numGammas = size;
    EXPECT_EQ(getError(spec), "expected a number of gammas in [0" + got);
  }
}

TEST(Compile, StreamingObjectNeedsNoLibrary) {
  for (DType dtype : {DType::F32, DType::F64, DType::BF16}) {
    AttentionSpec spec = getSpec();
    spec.dtype = dtype;
    CompileOptions options;
    options.backward = true;
    auto compiler = llvm::cantFail(AttentionCompiler::create(spec, options));
    CompiledModule module = llvm::cantFail(
        compiler->compile(llvm::cantFail(compiler->chooseSchedules())));
    for (const std::string &symbol :
         static_cast<HostCode &>(*module.code).getJit().undefinedSymbols())
      EXPECT_TRUE(symbol == "rt_parallel_for" || symbol == "memcpy" ||
                  symbol == "memset" || symbol == "memmove")
          << symbol;
  }
}

TEST(Compile, AModuleThatEndsInOtherBuffersIsRefused) {
  AttentionSpec spec = getSpec();
  for (TargetKind target : {TargetKind::Cpu, TargetKind::Reference}) {
    CompileOptions options;
    options.target = target;
    std::string text = test::cantFail(printStage(spec, options, "attention"));
    // The signals twice, in place of the norm and the indices too.
    size_t at = text.find("return ");
    ASSERT_NE(at, std::string::npos);
    size_t end = text.find('\n', at);
    std::string signals = text.substr(at + 7, text.find(',', at) - at - 7);
    size_t type = text.rfind("-> (", at) + 4;
    std::string tensor = text.substr(type, text.find(", tensor", type) - type);
    text.replace(at, end - at,
                 "return " + signals + ", " + signals + " : " + tensor + ", " +
                     tensor);
    size_t close = text.find(")", type);
    text.replace(type, close - type, tensor + ", " + tensor);
    auto attention = Attention::compileModule(text, spec, options);
    ASSERT_FALSE(bool(attention));
    std::string message = attention.status().message();
    EXPECT_NE(message.find("expected @attend to have 10 arguments, got 9"),
              std::string::npos)
        << message;
  }
}

TEST(Compile, AModuleOfAnyStageCompiles) {
  for (TargetKind target : {TargetKind::Cpu, TargetKind::Reference}) {
    CompileOptions options;
    options.target = target;
    AttentionSpec spec = getSpec();
    spec.channels = {"centroid", "top:1", "spread"};
    auto stages =
        target == TargetKind::Cpu
            ? std::vector<std::string>{"attention", "sweeps", "products",
                                       "tiled",     "cpu",    "llvm"}
            : std::vector<std::string>{"attention", "reference", "cpu", "llvm"};
    for (const std::string &stage : stages) {
      std::string text = test::cantFail(printStage(spec, options, stage));
      auto attention = Attention::compileModule(text, spec, options);
      EXPECT_TRUE(bool(attention))
          << stage << ": " << attention.status().message();
    }
  }
}

TEST(Compile, AModuleOfAnyStageOfAGradientCompiles) {
  CompileOptions options;
  options.backward = true;
  AttentionSpec spec = getSpec();
  spec.channels = {"centroid", "top:1", "spread"};
  for (const char *stage : {"attention", "gradient", "sweeps", "products",
                            "tiled", "cpu", "llvm"}) {
    std::string text = test::cantFail(printStage(spec, options, stage));
    auto attention = Attention::compileModule(text, spec, options);
    EXPECT_TRUE(bool(attention))
        << stage << ": " << attention.status().message();
  }
}

} // namespace
