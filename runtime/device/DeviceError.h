//===- DeviceError.h - errors with a class of problem --------- -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_DEVICE_DEVICEERROR_H
#define RAYTENTION_RUNTIME_DEVICE_DEVICEERROR_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <string>

namespace raytention::device {

/// What a caller may want to tell apart.
enum class Problem {
  Missing,         ///< the machine lacks a library, a driver or a GPU
  NotSupported,    ///< this kind of device cannot do it
  InvalidArgument, ///< a range, a shape, an argument, a name
  OutOfMemory,
  BuildFailed,  ///< source or image was refused
  LaunchFailed, ///< a kernel could not start, or did not end well
  Findings,     ///< a kernel ran and did something wrong (simt)
};

/// An error whose message says what was expected, what was got, where, and
/// what to do.
class DeviceError : public llvm::ErrorInfo<DeviceError> {
public:
  static char ID;
  DeviceError(Problem kind, std::string message)
      : kind(kind), text(std::move(message)) {}

  Problem problem() const { return kind; }
  std::string message() const override { return text; }
  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override;

private:
  Problem kind;
  std::string text;
};

llvm::Error makeError(Problem problem, const llvm::Twine &message);

/// `error` with `problem` and "context: " before its message; success stays.
llvm::Error addContext(llvm::Error error, Problem problem,
                       const llvm::Twine &context);

/// `error` with its own problem and "context: " before its message.
llvm::Error addContext(llvm::Error error, const llvm::Twine &context);

/// The problem of the first DeviceError in `error`; anything else counts as
/// LaunchFailed. Does not consume the error.
Problem problemOf(const llvm::Error &error);

} // namespace raytention::device

#endif // RAYTENTION_RUNTIME_DEVICE_DEVICEERROR_H
