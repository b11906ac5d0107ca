//===- Order.h - what flags and locks order ---------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The release and acquire patterns of the PTX memory model: a fence or a
// release, then a strong write; a strong read of it, then a fence or an
// acquire. Between blocks all of them need a scope that is wider than a block.
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

/// By place: what the strong writes there release within the block.
using StrongWrites =
    std::unordered_map<const uint8_t *, std::shared_ptr<const Clock>>;

/// `wide`: of a scope that other blocks are in.
void fenceWarp(Warp &warp, uint32_t lanes, bool wide);
/// What these lanes did, and what their warp knows, is handed on.
void releaseTo(Warp &warp, uint32_t lanes, Clock &to);
/// A strong access (volatile, relaxed, releasing or atomic) of these lanes is
/// about to write.
void noteStrongWrite(Warp &warp, const Instruction &at, const Access &access,
                     uint32_t lanes);
/// One has read.
void noteStrongRead(Warp &warp, const Instruction &at, const Access &access,
                    uint32_t lanes);

} // namespace raytention::simt

#endif // RAYTENTION_RUNTIME_DEVICE_SIMT_ORDER_H
