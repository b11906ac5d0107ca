//===- DoctorTest.cpp - rt doctor -----------------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/rt/Doctor.h"

#include "tests/unit/Support.h"

#include "llvm/Support/JSON.h"

#include "gtest/gtest.h"

#include <cstdlib>

#include <sched.h>

using namespace raytention::device;
using namespace raytention::tool;
using namespace raytention::test;

namespace {

/// An environment in which CUDA's libraries are hidden, or only the driver is
/// one in host memory.
class Doctor : public testing::Test {
protected:
  void SetUp() override {
    for (const char *name : names)
      if (const char *value = std::getenv(name))
        before.emplace_back(name, value);
  }
  void TearDown() override {
    for (const char *name : names)
      unsetenv(name);
    for (auto &[name, value] : before)
      setenv(name.c_str(), value.c_str(), 1);
  }
  void hide() { setenv("RT_HIDE_CUDA", "1", 1); }
  void fakeDriver() {
    unsetenv("RT_HIDE_CUDA");
    setenv("RT_LIBCUDA", RAYTENTION_FAKE_CUDA, 1);
    setenv("RT_NVRTC", "/no/such/libnvrtc.so", 1);
  }

private:
  static constexpr const char *names[] = {"RT_HIDE_CUDA", "RT_LIBCUDA",
                                          "RT_NVRTC"};
  std::vector<std::pair<std::string, std::string>> before;
};

const FoundDevice &deviceOf(const Diagnosis &diagnosis, DeviceKind kind) {
  for (const FoundDevice &device : diagnosis.devices)
    if (device.kind == kind)
      return device;
  std::abort();
}

TEST_F(Doctor, TheCpuComputesWithoutCuda) {
  hide();
  Diagnosis diagnosis = diagnose();
  EXPECT_GE(diagnosis.cpus.workers(), 1);
  EXPECT_TRUE(diagnosis.vectorBits == 128 || diagnosis.vectorBits == 256 ||
              diagnosis.vectorBits == 512);
  EXPECT_FALSE(diagnosis.nvrtc.found || diagnosis.driver.found);
  const FoundDevice &cpu = deviceOf(diagnosis, DeviceKind::Cpu);
  EXPECT_TRUE(cpu.found && cpu.passed) << cpu.problem;
  const FoundDevice &cuda = deviceOf(diagnosis, DeviceKind::Cuda);
  EXPECT_TRUE(!cuda.found && cuda.missing) << cuda.problem;
}

TEST_F(Doctor, ReportsForPeople) {
  hide();
  ToolOutput output = runRt({"doctor"});
  EXPECT_EQ(output.code, 0) << output.err;
  EXPECT_EQ(output.err, "");
  EXPECT_NE(output.out.find("nvrtc   none: NVRTC is hidden"), std::string::npos)
      << output.out;
  EXPECT_NE(output.out.find("a kernel was compiled, run and right"),
            std::string::npos)
      << output.out;
}

TEST_F(Doctor, WhatWasAskedForAndIsMissingIsThree) {
  hide();
  ToolOutput output = runRt({"doctor", "--target", "cuda"});
  EXPECT_EQ(output.code, 3);
  EXPECT_EQ(output.err.rfind("rt: error: --target cuda: expected a device that "
                             "works, got: cuda: the CUDA driver is hidden",
                             0),
            0u)
      << output.err;
  EXPECT_EQ(output.err.find('\n'), output.err.size() - 1) << output.err;
  EXPECT_EQ(runRt({"doctor", "--target=cpu"}).code, 0);
}

TEST_F(Doctor, AGpuWithoutACompilerIsSaid) {
  fakeDriver();
  ToolOutput output = runRt({"doctor", "--json", "--target", "cuda"});
  EXPECT_EQ(output.code, 3) << output.out;
  EXPECT_NE(output.err.find("RT_NVRTC"), std::string::npos) << output.err;
  auto value = llvm::json::parse(output.out);
  ASSERT_TRUE(bool(value)) << llvm::toString(value.takeError());
  const llvm::json::Object &object = *value->getAsObject();
  EXPECT_EQ(object.getInteger("version"), 1);
  EXPECT_EQ(object.getObject("nvrtc")->getBoolean("found"), false);
  const llvm::json::Object &driver = *object.getObject("driver");
  EXPECT_EQ(driver.getBoolean("found"), true);
  EXPECT_EQ(driver.getString("version"), "13.0");
  EXPECT_EQ(driver.getInteger("gpus"), 1);
  const llvm::json::Array &devices = *object.getArray("devices");
  const llvm::json::Object &gpu = *devices.back().getAsObject();
  EXPECT_EQ(gpu.getString("name"), "cuda:0");
  EXPECT_EQ(gpu.getString("description"), "Fake GPU");
  EXPECT_EQ(gpu.getInteger("compute_capability"), 80);
  EXPECT_EQ(gpu.getBoolean("found"), true);
  EXPECT_EQ(gpu.getBoolean("passed"), false);
}

/// The fake has no kernel of that name: a device that fails, not a missing one.
TEST_F(Doctor, AWrongDeviceIsOne) {
  fakeDriver();
  unsetenv("RT_NVRTC");
  if (!diagnose().nvrtc.found)
    GTEST_SKIP() << "NVRTC is not here";
  ToolOutput output = runRt({"doctor"});
  EXPECT_EQ(output.code, 1) << output.out;
  EXPECT_NE(output.out.find("a kernel FAILED: kernel 'probe': cuda:0: "
                            "cuModuleGetFunction: expected CUDA_SUCCESS"),
            std::string::npos)
      << output.out;
}

TEST_F(Doctor, SaysWhatDecidesTheWorkers) {
  Diagnosis diagnosis;
  diagnosis.cpus.online = 64;
  diagnosis.cpus.allowed = 8;
  diagnosis.cpus.quota = 2.5;
  diagnosis.vectorBits = 256;
  std::string text, json;
  llvm::raw_string_ostream textStream(text), jsonStream(json);
  printDiagnosis(diagnosis, textStream);
  EXPECT_EQ(llvm::StringRef(text).split('\n').first,
            "host    64 cores, 8 by affinity, quota of 2.5: 3 workers by "
            "default; 256-bit vectors");
  printDiagnosisJson(diagnosis, jsonStream);
  auto value = llvm::json::parse(json);
  ASSERT_TRUE(bool(value)) << llvm::toString(value.takeError());
  const llvm::json::Object &host = *value->getAsObject()->getObject("host");
  EXPECT_EQ(host.getInteger("cores"), 64);
  EXPECT_EQ(host.getInteger("allowed_cores"), 8);
  EXPECT_EQ(host.getNumber("cpu_quota"), 2.5);
  EXPECT_EQ(host.getInteger("workers"), 3);
}

TEST_F(Doctor, OneCpuMakesOneWorker) {
  hide();
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &before))
      CPU_SET(cpu, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  ToolOutput output = runRt({"doctor"});
  ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
  EXPECT_NE(output.out.find("1 worker by default"), std::string::npos)
      << output.out;
}

TEST_F(Doctor, WrongOptionsAreTwo) {
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"doctor", "--target", "tpu"}, "got 'tpu'"},
      {{"doctor", "--target"}, "got ''"},
      {{"doctor", "--wild"}, "got '--wild'"},
      {{"doctor", "more"}, "got 'more'"}};
  for (auto &[args, part] : cases) {
    ToolOutput output = runRt(args);
    EXPECT_EQ(output.code, 2);
    EXPECT_NE(output.err.find("expected"), std::string::npos) << output.err;
    EXPECT_NE(output.err.find(part), std::string::npos) << output.err;
  }
  EXPECT_EQ(runRt({"doctor", "--help"}).code, 0);
}

} // namespace
