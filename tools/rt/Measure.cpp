//===- Measure.cpp - memory and time of this process ----------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/rt/Measure.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>

#include <fcntl.h>
#include <unistd.h>

using llvm::StringRef;

namespace raytention::tool {

/// A field of /proc/self/status, which counts in kB.
static std::optional<int64_t> statusBytes(StringRef field) {
  auto file = llvm::MemoryBuffer::getFileAsStream("/proc/self/status");
  if (!file)
    return std::nullopt;
  StringRef rest = (*file)->getBuffer();
  while (!rest.empty()) {
    auto [line, next] = rest.split('\n');
    rest = next;
    if (!line.consume_front(field) || !line.consume_front(":"))
      continue;
    int64_t kilobytes;
    line = line.trim();
    if (line.consumeInteger(10, kilobytes))
      return std::nullopt;
    return kilobytes * 1024;
  }
  return std::nullopt;
}

void PeakMeter::start() {
  before = std::nullopt;
  int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  if (file < 0)
    return;
  bool reset = write(file, "5", 1) == 1;
  close(file);
  if (reset)
    before = statusBytes("VmRSS");
}

std::optional<int64_t> PeakMeter::extraBytes() const {
  std::optional<int64_t> peak = statusBytes("VmHWM");
  if (!before || !peak)
    return std::nullopt;
  return std::max<int64_t>(*peak - *before, 0);
}

double median(std::vector<double> values) {
  if (values.empty())
    return 0;
  std::sort(values.begin(), values.end());
  size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle]
                           : (values[middle - 1] + values[middle]) / 2;
}

} // namespace raytention::tool
