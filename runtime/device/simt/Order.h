//===- Order.h - what flags and locks order ---------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The release and acquire patterns of the PTX memory model within a block: a
// fence or a release, then a strong write; a strong read of it, then a fence or
// an acquire.
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_DEVICE_SIMT_ORDER_H
#define RAYTENTION_RUNTIME_DEVICE_SIMT_ORDER_H

#include "runtime/device/simt/Clock.h"

#include <memory>
#include <unordered_map>

namespace raytention::simt {

struct Access;
struct Block;
struct Instruction;
struct Warp;

struct WarpOrder {
  std::shared_ptr<const Clock> released; ///< by the last fence
  std::shared_ptr<Clock> read; ///< by strong reads since, for the next fence
};

/// By place: what the strong writes there release.
using StrongWrites =
    std::unordered_map<const uint8_t *, std::shared_ptr<const Clock>>;

/// A fence of any scope.
void fenceWarp(Warp &warp, uint32_t lanes);
/// Writes of the block so far may be read by other blocks that acquire, and it
/// may read theirs.
void publish(Block &block);
/// A volatile, relaxed, acquiring, releasing or atomic access of these lanes.
void noteStrong(Warp &warp, const Instruction &at, const Access &access,
                uint32_t lanes, bool reads, bool writes);

} // namespace raytention::simt

#endif // RAYTENTION_RUNTIME_DEVICE_SIMT_ORDER_H
