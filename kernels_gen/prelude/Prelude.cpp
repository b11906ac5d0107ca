//===- Prelude.cpp - device code of printed kernels -----------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels_gen/prelude/Prelude.h"

using namespace raytention;

namespace raytention {
extern const char *const kPreludeText;
}

nvrtc::Header raytention::getPrelude() { return {"prelude.cuh", kPreludeText}; }

nvrtc::Source raytention::makeKernelSource(std::string text, std::string name) {
  nvrtc::Source source;
  source.name = std::move(name);
  source.text = std::move(text);
  source.headers.push_back(getPrelude());
  source.options.push_back("--fmad=false");
  return source;
}
