//===- StatusError.cpp - between errors and statuses ----------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/api/StatusError.h"
#include "runtime/device/DeviceError.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace raytention;

char StatusError::ID;

void StatusError::log(raw_ostream &os) const { os << failure.message(); }

std::error_code StatusError::convertToErrorCode() const {
  return inconvertibleErrorCode();
}

Error raytention::makeError(StatusCode code, const Twine &message) {
  return make_error<StatusError>(Status(code, message.str()));
}

static StatusCode codeOf(device::Problem problem) {
  switch (problem) {
  case device::Problem::Missing:
    return StatusCode::Unavailable;
  case device::Problem::NotSupported:
    return StatusCode::Unsupported;
  case device::Problem::InvalidArgument:
    return StatusCode::InvalidArgument;
  case device::Problem::OutOfMemory:
    return StatusCode::OutOfMemory;
  case device::Problem::BuildFailed:
    return StatusCode::Internal;
  case device::Problem::LaunchFailed:
  case device::Problem::Findings:
    return StatusCode::Fault;
  }
  llvm_unreachable("every problem is listed");
}

static StatusCode codeOf(const ErrorInfoBase &info) {
  if (info.isA<StatusError>())
    return static_cast<const StatusError &>(info).status().code();
  if (info.isA<device::DeviceError>())
    return codeOf(static_cast<const device::DeviceError &>(info).problem());
  std::error_code code = info.convertToErrorCode();
  if (code == std::errc::not_enough_memory)
    return StatusCode::OutOfMemory;
  if (code == std::errc::no_buffer_space) // a plan is above its cap
    return StatusCode::ResourceLimit;
  return info.isA<StringError>() ? StatusCode::InvalidArgument
                                 : StatusCode::Internal;
}

Error raytention::withCode(Error error, StatusCode code) {
  if (!error.isA<StringError>())
    return error;
  Status status = toStatus(std::move(error));
  if (status.code() == StatusCode::InvalidArgument)
    status = Status(code, std::move(status).message());
  return toError(std::move(status));
}

Status raytention::toStatus(Error error) {
  if (!error)
    return Status();
  StatusCode code = StatusCode::Internal;
  std::string message;
  handleAllErrors(std::move(error), [&](const ErrorInfoBase &info) {
    code = codeOf(info);
    message += (message.empty() ? "" : "\n") + info.message();
  });
  return Status(code, std::move(message));
}

Error raytention::toError(Status status) {
  return status.ok() ? Error::success()
                     : make_error<StatusError>(std::move(status));
}
