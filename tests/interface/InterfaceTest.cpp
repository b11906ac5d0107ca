//===- InterfaceTest.cpp - a caller without LLVM --------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled with the folder of the public headers and no other: a header that
// includes more does not compile here.
//
//===----------------------------------------------------------------------===//

#include "raytention/Attention.h"
#include "raytention/DefaultInputs.h"
#include "raytention/Status.h"

#include "gtest/gtest.h"

#if __has_include("llvm/Support/Error.h") ||                                   \
                  __has_include("mlir/IR/Value.h") ||                          \
                                __has_include("runtime/api/StatusError.h")
#error "expected no headers but the public ones on the path"
#endif

using namespace raytention;

namespace {

AttentionSpec getSpec() {
  AttentionSpec spec;
  spec.dModel = 4;
  spec.channels = {"centroid"};
  return spec;
}

TEST(Interface, CompilesAndRuns) {
  auto attention = Attention::compile(getSpec(), {});
  ASSERT_TRUE(attention) << attention.status().message();
  const float query[] = {1, 0, 0, 0}, table[] = {0, 3, 0, 4};
  const int32_t id = 0;
  float signals[4], norm;
  Inputs inputs;
  inputs.numQueries = inputs.numKeys = inputs.vocab = 1;
  inputs.queries = query;
  inputs.table = table;
  inputs.ids = &id;
  Outputs outputs;
  outputs.signals = signals;
  outputs.norm = &norm;
  auto report = (*attention)->run(inputs, outputs, 1);
  ASSERT_TRUE(report) << report.status().message();
  EXPECT_GT(report->runMs, 0);
  EXPECT_EQ(norm, 5);
  EXPECT_FLOAT_EQ(signals[3], 0.8f);
}

StatusCode codeOf(const AttentionSpec &spec, const CompileOptions &options) {
  return Attention::compile(spec, options).status().code();
}

TEST(Interface, CodesSayWhatToDo) {
  AttentionSpec spec = getSpec();
  spec.channels = {"tangent"};
  EXPECT_EQ(codeOf(spec, {}), StatusCode::InvalidArgument);
  EXPECT_EQ(channelForm("tangent").status().code(),
            StatusCode::InvalidArgument);
  CompileOptions options;
  options.workspaceCap = 100;
  EXPECT_EQ(codeOf(getSpec(), options), StatusCode::ResourceLimit);
  options = {};
  options.target = TargetKind::Simt;
  options.backward = true;
  EXPECT_EQ(codeOf(getSpec(), options), StatusCode::Unsupported);
  options.backward = false;
  setenv("RT_HIDE_CUDA", "1", 1);
  EXPECT_EQ(codeOf(getSpec(), options), StatusCode::Unavailable);
  unsetenv("RT_HIDE_CUDA");
}

TEST(Status, IsSuccessOrACodeWithAMessage) {
  Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.message(), "");
  status = Status(StatusCode::Fault, "a race");
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.code(), StatusCode::Fault);
  EXPECT_EQ(status.message(), "a race");
}

TEST(Result, HasAValueOrTheStatusOfAFailure) {
  Result<std::string> text = "value";
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, "value");
  EXPECT_EQ(text->size(), 5u);
  EXPECT_TRUE(text.status().ok());
  text = Status(StatusCode::OutOfMemory, "none left");
  ASSERT_FALSE(text);
  EXPECT_EQ(text.status().code(), StatusCode::OutOfMemory);
  EXPECT_EQ(text.status().message(), "none left");
}

TEST(Result, TakesValuesThatOnlyMove) {
  struct Base {
    virtual ~Base() = default;
  };
  struct Derived : Base {};
  auto make = []() -> Result<std::unique_ptr<Base>> {
    return std::make_unique<Derived>();
  };
  Result<std::unique_ptr<Base>> made = make();
  ASSERT_TRUE(made);
  std::unique_ptr<Base> taken = *std::move(made);
  EXPECT_NE(taken, nullptr);
  EXPECT_NE(*make(), nullptr);
}

TEST(Result, OfSuccessWithoutAValueIsAFailure) {
  Result<int> result = Status();
  EXPECT_FALSE(result);
  EXPECT_EQ(result.status().code(), StatusCode::Internal);
}

} // namespace
