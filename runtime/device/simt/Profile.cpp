//===- Profile.cpp - printing and adding profiles ---------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/Profile.h"

#include "runtime/support/ClassicLocale.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace raytention;
using namespace raytention::simt;

uint64_t Profile::globalSectorBytes() const {
  return 32 *
         (globalLoads.sectors + globalStores.sectors + globalAtomics.sectors +
          asyncCopies.sectors + bulkLoads.sectors + bulkStores.sectors);
}

uint64_t Profile::sharedBytes() const {
  return sharedLoads.bytes + sharedStores.bytes + sharedAtomics.bytes +
         asyncStores.bytes + bulkSharedBytes + productLoads.bytes;
}

uint64_t Profile::sharedConflicts() const {
  return sharedLoads.conflicts + sharedStores.conflicts +
         sharedAtomics.conflicts + asyncStores.conflicts;
}

double Profile::arithmeticIntensity() const {
  uint64_t bytes = globalSectorBytes();
  return bytes ? double(matrixFlops + scalarFlops) / double(bytes) : 0;
}

static void add(GlobalTraffic &to, const GlobalTraffic &from) {
  to.requests += from.requests;
  to.bytes += from.bytes;
  to.sectors += from.sectors;
}

static void add(SharedTraffic &to, const SharedTraffic &from) {
  to.requests += from.requests;
  to.bytes += from.bytes;
  to.wavefronts += from.wavefronts;
  to.conflicts += from.conflicts;
}

static void add(LocalTraffic &to, const LocalTraffic &from) {
  to.requests += from.requests;
  to.bytes += from.bytes;
}

void Profile::merge(const Profile &other) {
  blocks += other.blocks;
  warps += other.warps;
  warpInstructions += other.warpInstructions;
  threadInstructions += other.threadInstructions;
  for (const auto &[name, count] : other.mix)
    mix[name] += count;
  add(globalLoads, other.globalLoads);
  add(globalStores, other.globalStores);
  add(globalAtomics, other.globalAtomics);
  add(asyncCopies, other.asyncCopies);
  add(bulkLoads, other.bulkLoads);
  add(bulkStores, other.bulkStores);
  add(sharedLoads, other.sharedLoads);
  add(sharedStores, other.sharedStores);
  add(sharedAtomics, other.sharedAtomics);
  add(asyncStores, other.asyncStores);
  bulkSharedBytes += other.bulkSharedBytes;
  add(localLoads, other.localLoads);
  add(localStores, other.localStores);
  add(productLoads, other.productLoads);
  for (const auto &[name, count] : other.matrixProducts)
    matrixProducts[name] += count;
  matrixFlops += other.matrixFlops;
  scalarFlops += other.scalarFlops;
  barriers += other.barriers;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static void print(raw_ostream &os, StringRef name, const GlobalTraffic &t) {
  if (t.requests)
    os << formatv("  {0,-16} {1,12} bytes {2,10} requests {3,10} sectors "
                  "({4:f2} per request)\n",
                  name, t.bytes, t.requests, t.sectors, t.sectorsPerRequest());
}

static void print(raw_ostream &os, StringRef name, const SharedTraffic &t) {
  if (t.requests)
    os << formatv("  {0,-16} {1,12} bytes {2,10} requests {3,10} wavefronts "
                  "({4} of them conflicts)\n",
                  name, t.bytes, t.requests, t.wavefronts, t.conflicts);
}

static void print(raw_ostream &os, StringRef name, const LocalTraffic &t) {
  if (t.requests)
    os << formatv("  {0,-16} {1,12} bytes {2,10} requests\n", name, t.bytes,
                  t.requests);
}

std::string Profile::text() const {
  ClassicLocale locale;
  std::string result;
  raw_string_ostream os(result);
  os << formatv("{0} blocks, {1} warps, {2} warp instructions, {3:f1} lanes "
                "active on average\n",
                blocks, warps, warpInstructions,
                warpInstructions
                    ? double(threadInstructions) / double(warpInstructions)
                    : 0.0);
  os << formatv("{0} scalar and {1} tensor-core operations, {2:f2} per byte of "
                "global sectors\n",
                scalarFlops, matrixFlops, arithmeticIntensity());
  print(os, "global loads", globalLoads);
  print(os, "global stores", globalStores);
  print(os, "global atomics", globalAtomics);
  print(os, "async copies", asyncCopies);
  print(os, "bulk loads", bulkLoads);
  print(os, "bulk stores", bulkStores);
  print(os, "shared loads", sharedLoads);
  print(os, "shared stores", sharedStores);
  print(os, "shared atomics", sharedAtomics);
  print(os, "async stores", asyncStores);
  if (bulkSharedBytes)
    os << formatv("  {0,-16} {1,12} bytes\n", "bulk shared", bulkSharedBytes);
  print(os, "local loads", localLoads);
  print(os, "local stores", localStores);
  print(os, "product loads", productLoads);
  for (const auto &[name, count] : matrixProducts)
    os << formatv("  mma {0,-20} {1,12}\n", name, count);
  for (const auto &[name, count] : mix)
    os << formatv("  {0,-24} {1,12}\n", name, count);
  return result;
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static int64_t number(uint64_t value) { return static_cast<int64_t>(value); }

static json::Object toJson(const GlobalTraffic &t) {
  return json::Object{{"requests", number(t.requests)},
                      {"bytes", number(t.bytes)},
                      {"sectors", number(t.sectors)}};
}

static json::Object toJson(const SharedTraffic &t) {
  return json::Object{{"requests", number(t.requests)},
                      {"bytes", number(t.bytes)},
                      {"wavefronts", number(t.wavefronts)},
                      {"conflicts", number(t.conflicts)}};
}

static json::Object toJson(const LocalTraffic &t) {
  return json::Object{{"requests", number(t.requests)},
                      {"bytes", number(t.bytes)}};
}

static json::Object toJson(const std::map<std::string, uint64_t> &counts) {
  json::Object object;
  for (const auto &[name, count] : counts)
    object[name] = number(count);
  return object;
}

json::Object Profile::json() const {
  return json::Object{{"blocks", number(blocks)},
                      {"warps", number(warps)},
                      {"warp_instructions", number(warpInstructions)},
                      {"thread_instructions", number(threadInstructions)},
                      {"global_loads", toJson(globalLoads)},
                      {"global_stores", toJson(globalStores)},
                      {"global_atomics", toJson(globalAtomics)},
                      {"async_copies", toJson(asyncCopies)},
                      {"bulk_loads", toJson(bulkLoads)},
                      {"bulk_stores", toJson(bulkStores)},
                      {"shared_loads", toJson(sharedLoads)},
                      {"shared_stores", toJson(sharedStores)},
                      {"shared_atomics", toJson(sharedAtomics)},
                      {"async_stores", toJson(asyncStores)},
                      {"bulk_shared_bytes", number(bulkSharedBytes)},
                      {"local_loads", toJson(localLoads)},
                      {"local_stores", toJson(localStores)},
                      {"product_loads", toJson(productLoads)},
                      {"matrix_products", toJson(matrixProducts)},
                      {"matrix_flops", number(matrixFlops)},
                      {"scalar_flops", number(scalarFlops)},
                      {"barriers", number(barriers)},
                      {"arithmetic_intensity", arithmeticIntensity()},
                      {"mix", toJson(mix)}};
}
