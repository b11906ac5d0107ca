//===- Workers.h - the threads of the oracle --------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TOOLS_ORACLE_WORKERS_H
#define RAYTENTION_TOOLS_ORACLE_WORKERS_H

#include <cstddef>
#include <functional>

namespace raytention {
namespace oracle {

/// The most workers that a call uses for `threads` (0: one per CPU that the
/// thread may run on).
int workerCount(int threads);

/// Calls body(index, worker) once for each index below `count`, from
/// workerCount(threads) threads, or fewer where the system has no more, each
/// of which rounds to nearest. Workers take the indices one by one, in order: a
/// late row costs far more than an early one.
void forEachIndex(size_t count, int threads,
                  const std::function<void(size_t index, int worker)> &body);

} // namespace oracle
} // namespace raytention

#endif // RAYTENTION_TOOLS_ORACLE_WORKERS_H
