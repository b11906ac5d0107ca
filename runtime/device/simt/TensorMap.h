//===- TensorMap.h - tensor maps of this machine ----------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The 128 bytes that cp.async.bulk.tensor takes are opaque: a driver's on a
// GPU, this machine's own here.
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_DEVICE_SIMT_TENSORMAP_H
#define RAYTENTION_RUNTIME_DEVICE_SIMT_TENSORMAP_H

#include "runtime/device/TensorMap.h"

#include <optional>

namespace raytention::simt {

using device::bytesOf;
using device::kMaxTensorRank;
using device::kTensorMapAlignment;
using device::kTensorMapBytes;
using device::Swizzle;
using device::TensorElement;
using device::TensorMap;

/// Writes the 128 bytes. An error names the rule that the map breaks, what was
/// expected and what was got.
llvm::Error encode(const TensorMap &map, uint8_t *to);
/// Nothing where the bytes are none that `encode` wrote.
std::optional<TensorMap> decode(const uint8_t *from);

} // namespace raytention::simt

#endif // RAYTENTION_RUNTIME_DEVICE_SIMT_TENSORMAP_H
