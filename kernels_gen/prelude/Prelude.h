//===- Prelude.h - device code of printed kernels ---------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_KERNELS_GEN_PRELUDE_PRELUDE_H
#define RAYTENTION_KERNELS_GEN_PRELUDE_PRELUDE_H

#include "runtime/nvrtc/Compiler.h"

namespace raytention {

/// prelude.cuh, which printed kernels include as "prelude.cuh". It exists in
/// memory: no include path is needed.
nvrtc::Header getPrelude();

/// Printed kernels as NVRTC has to compile them to mean what their IR says:
/// with the prelude, and without contraction of products and sums.
nvrtc::Source makeKernelSource(std::string text,
                               std::string name = "kernels.cu");

} // namespace raytention

#endif // RAYTENTION_KERNELS_GEN_PRELUDE_PRELUDE_H
