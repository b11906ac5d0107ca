//===- Profile.h - what a kernel issues and moves ---------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_DEVICE_SIMT_PROFILE_H
#define RAYTENTION_RUNTIME_DEVICE_SIMT_PROFILE_H

#include "llvm/Support/JSON.h"

#include <cstdint>
#include <map>
#include <string>

namespace raytention::simt {

/// Accesses of one kind: a request is one warp instruction.
struct GlobalTraffic {
  uint64_t requests = 0;
  uint64_t bytes = 0;   ///< asked for by the lanes
  uint64_t sectors = 0; ///< 32-byte pieces touched, each once per request
  double sectorsPerRequest() const {
    return requests ? double(sectors) / double(requests) : 0;
  }
};

struct SharedTraffic {
  uint64_t requests = 0;
  uint64_t bytes = 0;
  uint64_t wavefronts = 0; ///< passes over the 32 banks
  uint64_t conflicts = 0;  ///< passes beyond what conflict-free would take
};

struct LocalTraffic {
  uint64_t requests = 0, bytes = 0;
};

/// Counts of one launch. Caches are not modelled: sector bytes are what leaves
/// an SM with no L1.
struct Profile {
  uint64_t blocks = 0, warps = 0;
  uint64_t warpInstructions = 0, threadInstructions = 0;
  /// Warp instructions by mnemonic without types, such as "ld.global".
  std::map<std::string, uint64_t> mix;
  GlobalTraffic globalLoads, globalStores, globalAtomics, asyncCopies;
  GlobalTraffic bulkLoads, bulkStores; ///< of cp.async.bulk: a request each
  SharedTraffic sharedLoads, sharedStores, sharedAtomics;
  /// Shared memory written by async copies.
  SharedTraffic asyncStores;
  /// Shared memory that bulk copies wrote and read, with what they filled.
  uint64_t bulkSharedBytes = 0;
  LocalTraffic localLoads, localStores;
  /// Shared memory read by wgmma: A by each warp, B once by the four that share
  /// it. A request is one operand.
  LocalTraffic productLoads;
  /// Products by shape and type: "m16n8k16.bf16" once a warp,
  /// "wgmma.m64n128k16.bf16" once a warpgroup; with sums in f16, ".f16.f16".
  std::map<std::string, uint64_t> matrixProducts;
  uint64_t matrixFlops = 0;
  uint64_t scalarFlops = 0; ///< a fused multiply-add is two
  uint64_t barriers = 0;    ///< warps arriving

  uint64_t globalSectorBytes() const;
  uint64_t sharedBytes() const;
  uint64_t sharedConflicts() const;
  /// Operations per byte of global sectors; 0 without traffic.
  double arithmeticIntensity() const;

  void merge(const Profile &other);
  std::string text() const;
  llvm::json::Object json() const;
};

} // namespace raytention::simt

#endif // RAYTENTION_RUNTIME_DEVICE_SIMT_PROFILE_H
