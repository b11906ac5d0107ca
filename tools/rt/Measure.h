//===- Measure.h - memory and time of this process --------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TOOLS_RT_MEASURE_H
#define RAYTENTION_TOOLS_RT_MEASURE_H

#include <cstdint>
#include <optional>
#include <vector>

namespace raytention::tool {

/// What a piece of work needs on top of what was resident before, as the
/// operating system counts it.
class PeakMeter {
public:
  /// Resets the peak of this process; without that nothing is measured.
  void start();
  /// Bytes by which the peak since start() exceeds what was resident then.
  std::optional<int64_t> extraBytes() const;

private:
  std::optional<int64_t> before;
};

/// The middle value; the mean of the two middle ones of an even number.
double median(std::vector<double> values);

} // namespace raytention::tool

#endif // RAYTENTION_TOOLS_RT_MEASURE_H
