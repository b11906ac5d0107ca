//===- ToolError.cpp - errors with an exit code ---------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/rt/ToolError.h"

#include "runtime/api/StatusError.h"
#include "runtime/device/DeviceError.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <charconv>

namespace raytention::tool {

char ToolError::ID;

/// Joins the lines of a message: a diagnostic of a library may have several.
static std::string oneLine(llvm::StringRef message) {
  llvm::SmallVector<llvm::StringRef> lines;
  message.split(lines, '\n', -1, /*KeepEmpty=*/false);
  std::string line;
  for (llvm::StringRef part : lines) {
    part = part.trim();
    if (part.empty())
      continue;
    if (!line.empty())
      line += "; ";
    line += part;
  }
  return line;
}

/// The exit code of a failure of the C++ interface.
static int codeOf(StatusCode code) {
  switch (code) {
  case StatusCode::OutOfMemory:
  case StatusCode::Unavailable:
    return ExitMissing;
  case StatusCode::Fault:
    return ExitCheckFailed;
  case StatusCode::InvalidArgument:
  case StatusCode::Unsupported:
  case StatusCode::ResourceLimit:
  case StatusCode::Internal:
    return ExitUsage;
  case StatusCode::Ok:
    break;
  }
  llvm_unreachable("an error has a code that is none of success");
}

/// The exit code of an error of a device.
static int codeOf(device::Problem problem) {
  switch (problem) {
  case device::Problem::Missing:
  case device::Problem::OutOfMemory:
    return ExitMissing;
  case device::Problem::Findings:
  case device::Problem::LaunchFailed:
    return ExitCheckFailed;
  case device::Problem::NotSupported:
  case device::Problem::InvalidArgument:
  case device::Problem::BuildFailed:
    return ExitUsage;
  }
  llvm_unreachable("every problem is listed");
}

int reportError(llvm::Error error, llvm::raw_ostream &os) {
  int code = ExitUsage;
  std::string message;
  llvm::handleAllErrors(std::move(error), [&](const llvm::ErrorInfoBase &info) {
    if (!message.empty())
      message += "\n";
    message += info.message();
    if (info.isA<ToolError>())
      code = static_cast<const ToolError &>(info).exitCode();
    else if (info.isA<StatusError>())
      code = codeOf(static_cast<const StatusError &>(info).status().code());
    else if (info.isA<device::DeviceError>())
      code = codeOf(static_cast<const device::DeviceError &>(info).problem());
    else if (info.convertToErrorCode() == std::errc::not_enough_memory)
      code = ExitMissing;
  });
  os << "rt: error: " << oneLine(message) << "\n";
  return code;
}

std::string quoted(llvm::StringRef text, size_t limit) {
  std::string out = "'";
  for (unsigned char c : text.take_front(limit)) {
    if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (c < 0x20 || c == 0x7f)
      out += "\\x" + llvm::utohexstr(c, /*LowerCase=*/true, 2);
    else
      out += char(c);
  }
  if (text.size() > limit)
    out += "...";
  return out + "'";
}

std::string numberText(double value) {
  char text[32]; // in any locale
  auto end = std::to_chars(text, text + sizeof(text), value,
                           std::chars_format::general, 9);
  return std::string(text, end.ptr);
}

} // namespace raytention::tool
