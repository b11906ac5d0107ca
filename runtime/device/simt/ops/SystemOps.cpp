//===- SystemOps.cpp - functions that a GPU's runtime brings ----*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// printf and assert, as NVRTC calls them. Their parameters lie in local memory:
// the sources of the instruction are where.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/ops/Ops.h"

using namespace llvm;
using namespace raytention::simt;

/// Of a text that a kernel names; more is cut.
static constexpr size_t kMaxText = 1 << 16;

static uint8_t *parameter(Warp &warp, const Instruction &at, unsigned index,
                          unsigned lane) {
  Block &block = *warp.block;
  uint64_t size = block.worker->launch.kernel.entry.localBytes;
  uint64_t offset = warp.reg<uint64_t>(at.op[index])[lane];
  return block.local.data() + (warp.index * kLanes + lane) * size + offset;
}

template <class T>
static T argument(Warp &warp, const Instruction &at, unsigned index,
                  unsigned lane) {
  T value;
  std::memcpy(&value, parameter(warp, at, index, lane), sizeof(value));
  return value;
}

/// Null, with a finding, where the bytes are nobody's.
static const uint8_t *bytesAt(Warp &warp, unsigned lane, uint64_t address,
                              unsigned bytes) {
  Access access;
  access.kind = AccessKind::BulkRead;
  access.bytes = bytes;
  access.alignment = 1;
  access.address[lane] = address;
  return resolve(warp, access, Mask(1) << lane) ? access.pointer[lane]
                                                : nullptr;
}

static std::string textAt(Warp &warp, unsigned lane, uint64_t address) {
  std::string text;
  while (text.size() < kMaxText) {
    const uint8_t *byte = bytesAt(warp, lane, address + text.size(), 1);
    if (!byte || !*byte)
      break;
    text += static_cast<char>(*byte);
  }
  return text;
}

static void print(Warp &warp, const Instruction &at, Mask lanes) {
  Block &block = *warp.block;
  forEachLane(lanes, [&](unsigned lane) {
    std::string format =
        textAt(warp, lane, argument<uint64_t>(warp, at, 0, lane));
    uint64_t place = argument<uint64_t>(warp, at, 1, lane);
    int32_t count = 0;
    auto next = [&](unsigned bytes) {
      place = (place + bytes - 1) / bytes * bytes;
      uint64_t value = 0;
      if (const uint8_t *from = bytesAt(warp, lane, place, bytes))
        std::memcpy(&value, from, bytes);
      place += bytes;
      ++count;
      return value;
    };
    block.worker->printed.add(block.linear,
                              formatText(format, next, [&](uint64_t address) {
                                return textAt(warp, lane, address);
                              }));
    std::memcpy(parameter(warp, at, 2, lane), &count, sizeof(count));
  });
}

/// The block is given up behind it, as by a trap.
static void failAssertion(Warp &warp, const Instruction &at, Mask lanes) {
  forEachLane(lanes, [&](unsigned lane) {
    auto text = [&](unsigned index) {
      return textAt(warp, lane, argument<uint64_t>(warp, at, index, lane));
    };
    warp.block->worker->report(
        FindingKind::AssertionFailed, warp, warp.pc, lane, 0, [&] {
          return "expected '" + text(0) + "' in " + text(3) + " at " + text(1) +
                 ":" + std::to_string(argument<uint32_t>(warp, at, 2, lane)) +
                 ", got that it does not hold";
        });
  });
}

std::optional<SystemFunction>
raytention::simt::findSystemFunction(StringRef name) {
  if (name == "vprintf")
    return SystemFunction{&print, Flow::Plain, {8, 8}, {4}};
  if (name == "__assertfail")
    return SystemFunction{&failAssertion, Flow::Trap, {8, 8, 4, 8, 8}, {}};
  return std::nullopt;
}
