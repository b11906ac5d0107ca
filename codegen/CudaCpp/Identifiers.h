//===- Identifiers.h - names that C++ leaves free ---------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_CODEGEN_CUDACPP_IDENTIFIERS_H
#define RAYTENTION_CODEGEN_CUDACPP_IDENTIFIERS_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace raytention::cuda {

/// Whether a variable of that name would hide what the text needs: a word of
/// C++ or CUDA, a macro, the prelude, a function that the printer calls.
bool isReservedName(llvm::StringRef name);

/// `hint` as an identifier that may still be reserved; "" where it holds no
/// letter.
std::string makeIdentifier(llvm::StringRef hint);

/// See getKernelName in CudaCpp.h.
std::string mangleKernelName(llvm::StringRef symbol);

} // namespace raytention::cuda

#endif // RAYTENTION_CODEGEN_CUDACPP_IDENTIFIERS_H
