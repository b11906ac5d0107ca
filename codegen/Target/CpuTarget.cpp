//===- CpuTarget.cpp - what a CPU offers to the lowering ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Target/CpuTarget.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

using namespace raytention;

CpuTarget CpuTarget::get(int64_t vectorBits) {
  return {vectorBits, vectorBits >= 512 ? 12 : 6, 2};
}

CpuTarget CpuTarget::host() {
  auto features = llvm::sys::getHostCPUFeatures();
  if (features.lookup("avx512f"))
    return get(512);
  return get(features.lookup("avx2") && features.lookup("fma") ? 256 : 128);
}
