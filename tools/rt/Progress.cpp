//===- Progress.cpp - what takes long, on a terminal ----------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/rt/Progress.h"

#include "runtime/support/ClassicLocale.h"
#include "runtime/support/Crew.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <chrono>

#include <unistd.h>

namespace raytention::tool {

std::string progressLine(const std::string &phase, int64_t done, int64_t total,
                         double seconds) {
  ClassicLocale locale;
  if (total <= 0)
    return llvm::formatv("{0}  {1:f1} s", phase, seconds).str();
  constexpr int width = 30;
  double fraction = double(std::min(done, total)) / double(total);
  int filled = int(fraction * width);
  return llvm::formatv(
             "{0}  [{1}{2}] {3,3}%  {4:f1} s", phase, std::string(filled, '#'),
             std::string(width - filled, '.'), int(fraction * 100), seconds)
      .str();
}

Progress::Progress(std::string phase, int64_t total)
    : phase(std::move(phase)), total(total) {
  if (isatty(STDERR_FILENO))
    thread = startThread([this] { show(); });
}

Progress::~Progress() {
  if (!thread.joinable())
    return;
  {
    std::lock_guard<std::mutex> lock(mutex);
    finished = true;
  }
  wake.notify_one();
  thread.join();
}

/// Straight to the terminal: a phase that writes to stderr itself keeps its
/// lines whole.
static void put(const std::string &text) {
  ssize_t ignored = write(STDERR_FILENO, text.data(), text.size());
  (void)ignored;
}

void Progress::show() {
  using Clock = std::chrono::steady_clock;
  auto begin = Clock::now();
  bool shown = false;
  std::unique_lock<std::mutex> lock(mutex);
  while (!wake.wait_for(lock, std::chrono::milliseconds(200),
                        [this] { return finished; })) {
    std::chrono::duration<double> elapsed = Clock::now() - begin;
    put("\r\x1b[K" + progressLine(phase, done, total, elapsed.count()));
    shown = true;
  }
  if (shown)
    put("\r\x1b[K");
}

} // namespace raytention::tool
