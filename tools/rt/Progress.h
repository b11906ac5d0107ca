//===- Progress.h - what takes long, on a terminal --------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TOOLS_RT_PROGRESS_H
#define RAYTENTION_TOOLS_RT_PROGRESS_H

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace raytention::tool {

/// Shows one phase on the terminal behind stderr, with its time and, once
/// steps are counted, a bar; erased at the end. Does nothing in a pipe, or
/// where the system has no thread to spare.
class Progress {
public:
  /// `total` steps; 0 where nothing can be counted.
  explicit Progress(std::string phase, int64_t total = 0);
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// One step more, from any thread.
  void step() { done.fetch_add(1, std::memory_order_relaxed); }

private:
  void show();

  std::string phase;
  int64_t total;
  std::atomic<int64_t> done{0};
  std::mutex mutex;
  std::condition_variable wake;
  bool finished = false;
  std::thread thread;
};

/// The line that is shown: "check  [#####.....]  52%  3.1 s".
std::string progressLine(const std::string &phase, int64_t done, int64_t total,
                         double seconds);

} // namespace raytention::tool

#endif // RAYTENTION_TOOLS_RT_PROGRESS_H
