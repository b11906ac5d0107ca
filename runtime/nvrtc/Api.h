//===- Api.h - the functions of libnvrtc ------------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_NVRTC_API_H
#define RAYTENTION_RUNTIME_NVRTC_API_H

#include "runtime/support/SharedLibrary.h"

#include <type_traits>

namespace raytention::nvrtc {

/// Results of NVRTC that are told apart.
constexpr int kSuccess = 0;
constexpr int kInvalidOption = 5;
constexpr int kCompilation = 6;

/// The bound functions of Symbols.def.
struct Api {
#define RT_NVRTC_SYMBOL(RESULT, NAME, ...)                                     \
  Symbol<RESULT(__VA_ARGS__)> NAME = {#NAME};
#include "runtime/nvrtc/Symbols.def"

  /// Binds all functions; the error names the first that is not there.
  llvm::Error bind(const SharedLibrary &library) {
#define RT_NVRTC_SYMBOL(RESULT, NAME, ...)                                     \
  if (llvm::Error error = library.bind(NAME))                                  \
    return error;
#include "runtime/nvrtc/Symbols.def"
    return llvm::Error::success();
  }

  /// Calls `function`; anything but success is an error that names both.
  template <typename... Params>
  llvm::Error call(const Symbol<int(Params...)> &function,
                   std::common_type_t<Params>... args) const {
    int result = function(args...);
    return result == kSuccess ? llvm::Error::success()
                              : failure(function.name, result);
  }

  /// "nvrtcX: expected NVRTC_SUCCESS, got NVRTC_ERROR_Y".
  llvm::Error failure(const char *function, int result) const;
};

} // namespace raytention::nvrtc

#endif // RAYTENTION_RUNTIME_NVRTC_API_H
