//===- ToolError.h - errors with an exit code -------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TOOLS_RT_TOOLERROR_H
#define RAYTENTION_TOOLS_RT_TOOLERROR_H

#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"

namespace raytention::tool {

/// Exit codes of `rt`.
enum ExitCode {
  ExitDone = 0,
  ExitCheckFailed = 1,
  ExitUsage = 2,  ///< the user's input or options are wrong
  ExitMissing = 3 ///< this machine lacks something
};

/// An error that ends the program with one line and an exit code.
class ToolError : public llvm::ErrorInfo<ToolError> {
public:
  static char ID;
  ToolError(ExitCode code, std::string message)
      : code(code), message(std::move(message)) {}
  void log(llvm::raw_ostream &os) const override { os << message; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }
  ExitCode exitCode() const { return code; }

private:
  ExitCode code;
  std::string message;
};

/// Wrong input: exit code 2. The text says what was expected and what came.
template <typename... Args>
llvm::Error usageError(const char *format, Args &&...args) {
  return llvm::make_error<ToolError>(
      ExitUsage, llvm::formatv(format, std::forward<Args>(args)...).str());
}

/// A result that is no good: exit code 1. The text says which.
template <typename... Args>
llvm::Error failedError(const char *format, Args &&...args) {
  return llvm::make_error<ToolError>(
      ExitCheckFailed,
      llvm::formatv(format, std::forward<Args>(args)...).str());
}

/// Something is missing here: exit code 3. The text says what, and how to get
/// it.
template <typename... Args>
llvm::Error missingError(const char *format, Args &&...args) {
  return llvm::make_error<ToolError>(
      ExitMissing, llvm::formatv(format, std::forward<Args>(args)...).str());
}

/// Prints `error` as one line "rt: error: ..." and returns its exit code: its
/// own, or that of an error of a library: 3 where memory, a library or a device
/// is missing, 1 where a kernel did something wrong, else 2 (a spec it does not
/// support).
int reportError(llvm::Error error, llvm::raw_ostream &os);

/// `text` between single quotes with unprintable bytes escaped and anything
/// beyond `limit` bytes cut: safe to show within a one-line message.
std::string quoted(llvm::StringRef text, size_t limit = 80);

/// `value` in as many digits as it takes to recognise it: "1e+39", "nan".
std::string numberText(double value);

} // namespace raytention::tool

#endif // RAYTENTION_TOOLS_RT_TOOLERROR_H
