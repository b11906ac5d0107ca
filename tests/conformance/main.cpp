//===- main.cpp - the suite that every device passes ----------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Devices/... runs everywhere; --gpu runs Gpu/..., the same tests on a real
// GPU, or says in one line why not and returns 77.
//
//===----------------------------------------------------------------------===//

#include "tests/conformance/Support.h"

#include <cstring>
#include <iostream>

using namespace raytention::test;

static std::string caseName(const testing::TestParamInfo<DeviceCase> &info) {
  return nameOf(info.param);
}

INSTANTIATE_TEST_SUITE_P(Devices, Conformance,
                         testing::Values(DeviceCase::Cpu, DeviceCase::Simt,
                                         DeviceCase::FakeCuda),
                         caseName);
INSTANTIATE_TEST_SUITE_P(Gpu, Conformance, testing::Values(DeviceCase::Cuda),
                         caseName);

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc > 1 && std::strcmp(argv[1], "--gpu") == 0) {
    auto device = openCase(DeviceCase::Cuda);
    if (!device) {
      std::cout << "conformance of cuda skipped: "
                << llvm::toString(device.takeError()) << "\n";
      return 77;
    }
    testing::GTEST_FLAG(filter) = "Gpu/*";
  }
  return RUN_ALL_TESTS();
}
