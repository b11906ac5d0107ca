//===- StatusError.h - between errors and statuses --------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inside of the library failures are llvm::Error; the C++ interface knows
// Status. This is the border. Not public.
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_API_STATUSERROR_H
#define RAYTENTION_RUNTIME_API_STATUSERROR_H

#include "raytention/Status.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

namespace raytention {

/// An error that knows its code.
class StatusError : public llvm::ErrorInfo<StatusError> {
public:
  static char ID;
  explicit StatusError(Status status) : failure(std::move(status)) {}

  const Status &status() const { return failure; }
  std::string message() const override { return failure.message(); }
  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override;

private:
  Status failure;
};

llvm::Error makeError(StatusCode code, const llvm::Twine &message);

/// `error` with `code` where it is a mere text, else as it is.
llvm::Error withCode(llvm::Error error, StatusCode code);

/// The code of a mere text is InvalidArgument; those of devices have their own.
Status toStatus(llvm::Error error);
llvm::Error toError(Status status);

template <typename T> Result<T> toResult(llvm::Expected<T> value) {
  if (!value)
    return toStatus(value.takeError());
  return std::move(*value);
}

template <typename T> llvm::Expected<T> toExpected(Result<T> value) {
  if (!value)
    return toError(value.status());
  return *std::move(value);
}

} // namespace raytention

#endif // RAYTENTION_RUNTIME_API_STATUSERROR_H
