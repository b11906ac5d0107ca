//===- Memory.cpp - registered global memory --------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/Simt.h"

#include "llvm/ADT/Twine.h"

#include <cstdlib>
#include <cstring>

using namespace llvm;
using namespace raytention::simt;

static constexpr uint64_t kAlignment = 256;

Memory::~Memory() {
  for (auto &[base, held] : allocations)
    std::free(held.owned);
}

Expected<void *> Memory::allocate(uint64_t bytes, StringRef name) {
  // The gap behind it keeps a small overrun out of the next allocation.
  uint64_t padded = (bytes / kAlignment + 2) * kAlignment;
  void *owned =
      bytes < padded ? std::aligned_alloc(kAlignment, padded) : nullptr;
  if (!owned)
    return createStringError("expected " + Twine(bytes) + " bytes for " + name +
                             ", got a refusal from the system");
  std::memset(owned, 0xFF, padded);
  if (Error error = add(owned, bytes, name)) {
    std::free(owned);
    return error;
  }
  allocations[reinterpret_cast<uint64_t>(owned)].owned = owned;
  return owned;
}

Error Memory::add(void *base, uint64_t bytes, StringRef name, bool readOnly) {
  uint64_t start = reinterpret_cast<uint64_t>(base);
  if (!base || start + bytes < start)
    return createStringError("expected memory for " + name +
                             ", got an empty or wrapping range");
  auto next = allocations.lower_bound(start);
  bool overlaps = next != allocations.end() &&
                  (next->first == start || next->first < start + bytes);
  if (!overlaps && next != allocations.begin()) {
    const Allocation &before = std::prev(next)->second.allocation;
    overlaps = before.base + before.bytes > start;
  }
  if (overlaps)
    return createStringError("expected memory for " + name +
                             " that is not registered yet, got an overlap");
  allocations[start] = {{start, bytes, readOnly, name.str()}, nullptr};
  return Error::success();
}

static Error unknownBase(void *base) {
  return createStringError("expected the start of an allocation, got 0x" +
                           Twine::utohexstr(reinterpret_cast<uint64_t>(base)));
}

Error Memory::remove(void *base) {
  auto found = allocations.find(reinterpret_cast<uint64_t>(base));
  if (found == allocations.end())
    return unknownBase(base);
  std::free(found->second.owned);
  allocations.erase(found);
  return Error::success();
}

Error Memory::setReadOnly(void *base, bool readOnly) {
  auto found = allocations.find(reinterpret_cast<uint64_t>(base));
  if (found == allocations.end())
    return unknownBase(base);
  found->second.allocation.readOnly = readOnly;
  return Error::success();
}

const Allocation *Memory::findBefore(uint64_t address) const {
  auto next = allocations.upper_bound(address);
  if (next == allocations.begin())
    return nullptr;
  return &std::prev(next)->second.allocation;
}

const Allocation *Memory::find(uint64_t address) const {
  const Allocation *before = findBefore(address);
  return before && before->contains(address, 1) ? before : nullptr;
}
