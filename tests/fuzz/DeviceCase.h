//===- DeviceCase.h - cases for devices that run kernels -------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TESTS_FUZZ_DEVICECASE_H
#define RAYTENTION_TESTS_FUZZ_DEVICECASE_H

#include "tests/fuzz/Case.h"
#include "tests/fuzz/PairCover.h"

namespace raytention {
namespace fuzz {

/// How many values each parameter of a case on `simt` has; see DeviceCase.cpp.
llvm::ArrayRef<int> deviceParameters();

/// Whether there is such a case, and one that the simt device runs in seconds.
bool isDeviceChoice(const Choice &choice);

/// The case of a choice; what it leaves open is drawn.
Case makeDeviceCase(const Choice &choice, uint64_t seed, uint64_t number);

/// Case `number` of `seed`, forward on `simt`, in one of the families.
Case drawDeviceCase(uint64_t seed, uint64_t number);

} // namespace fuzz
} // namespace raytention

#endif // RAYTENTION_TESTS_FUZZ_DEVICECASE_H
