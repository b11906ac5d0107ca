//===- DeviceError.cpp - errors with a class of problem -------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/DeviceError.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace raytention;
using namespace raytention::device;

char DeviceError::ID;

void DeviceError::log(raw_ostream &os) const { os << text; }

std::error_code DeviceError::convertToErrorCode() const {
  return inconvertibleErrorCode();
}

Error device::makeError(Problem problem, const Twine &message) {
  return make_error<DeviceError>(problem, message.str());
}

Error device::addContext(Error error, Problem problem, const Twine &context) {
  if (!error)
    return Error::success();
  return makeError(problem, context + ": " + toString(std::move(error)));
}

Error device::addContext(Error error, const Twine &context) {
  if (!error)
    return Error::success();
  Problem problem = problemOf(error);
  return addContext(std::move(error), problem, context);
}

Problem device::problemOf(const Error &error) {
  Problem problem = Problem::LaunchFailed;
  visitErrors(error, [&](const ErrorInfoBase &info) {
    if (info.isA<DeviceError>())
      problem = static_cast<const DeviceError &>(info).problem();
  });
  return problem;
}
