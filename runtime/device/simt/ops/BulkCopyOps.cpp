//===- BulkCopyOps.cpp - cp.async.bulk and its tensor forms -----*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/ops/Ops.h"

using namespace llvm;
using namespace raytention::simt;

namespace {

constexpr uint32_t kTensorAlignment = 128, kBulkAlignment = 16;

void misuse(Warp &warp, unsigned lane, const Twine &text) {
  warp.block->worker->report(FindingKind::BulkCopyMisuse, warp, warp.pc, lane,
                             0, [&] { return text.str(); });
}

/// The range as an access of one lane: bounds and alignment only.
bool isInside(Warp &warp, unsigned lane, Access &access, uint64_t address,
              uint32_t bytes, uint32_t alignment) {
  access.bytes = bytes;
  access.alignment = alignment;
  access.address[lane] = address;
  return resolve(warp, access, Mask(1) << lane) != 0;
}

bool isInShared(Warp &warp, const BulkCopy &copy, uint32_t alignment) {
  Access access;
  access.kind = AccessKind::BulkRead;
  access.space = Space::Shared;
  return isInside(warp, copy.lane, access, copy.shared, copy.bytes, alignment);
}

/// Finds the allocations of the pieces; false where one has none.
bool bindPieces(Warp &warp, BulkCopy &copy, bool writesGlobal,
                uint32_t alignment) {
  Access access;
  access.kind = writesGlobal ? AccessKind::BulkWrite : AccessKind::BulkRead;
  access.space = Space::Global;
  for (Piece &piece : copy.pieces) {
    if (!piece.global)
      continue;
    if (!isInside(warp, copy.lane, access, piece.global, piece.bytes,
                  alignment))
      return false;
    piece.tracked = access.mayChange;
  }
  return true;
}

void count(Warp &warp, const BulkCopy &copy, GlobalTraffic &traffic) {
  if (!warp.block->worker->profiling)
    return;
  constexpr uint64_t kSector = 32;
  ++traffic.requests;
  warp.block->worker->profile.bulkSharedBytes += copy.bytes;
  for (const Piece &piece : copy.pieces) {
    if (!piece.global)
      continue;
    traffic.bytes += piece.bytes;
    traffic.sectors +=
        (piece.global + piece.bytes - 1) / kSector - piece.global / kSector + 1;
  }
}

void start(Warp &warp, BulkCopy copy, bool isStore, uint32_t mbarrier) {
  Profile &profile = warp.block->worker->profile;
  count(warp, copy, isStore ? profile.bulkStores : profile.bulkLoads);
  if (isStore)
    beginBulkStore(warp, std::move(copy));
  else
    beginBulkLoad(warp, std::move(copy), mbarrier);
}

/// An address register, its width and the number added.
struct Place {
  uint32_t reg;
  uint8_t bits;
  int64_t offset;
  uint64_t in(Warp &warp, unsigned lane) const {
    return addressOf(warp, reg, bits, offset, lane);
  }
  uint32_t inShared(Warp &warp, unsigned lane) const {
    return uint32_t(std::min<uint64_t>(sharedOffset(in(warp, lane)), ~0u));
  }
};

/// The store combines what it brings with what is there.
void reduce(BulkCopy &copy, uint8_t what, Type type) {
  copy.what = what;
  copy.combine = pickCombine(type);
  copy.elementBytes = bitsOf(type) / 8;
}

//===----------------------------------------------------------------------===//
// Plain ranges
//===----------------------------------------------------------------------===//

// Sources of a load: shared, global, bytes, mbarrier. Of a store: global,
// shared, bytes.
template <bool kStore, bool kReduces = false>
void copyRange(Warp &warp, const Instruction &at, Mask lanes) {
  Place shared{at.op[kStore], at.addressBits, at.offset};
  Place global{at.op[!kStore], at.addressBits2, at.offset2};
  Place mbarrier{at.op[3], at.addressBits3, at.offset3};
  const uint32_t *bytes = warp.reg<uint32_t>(at.op[2]);
  forEachLane(lanes, [&](unsigned lane) {
    BulkCopy copy;
    copy.warp = warp.index;
    copy.lane = lane;
    copy.pc = warp.pc;
    copy.shared = shared.inShared(warp, lane);
    copy.bytes = bytes[lane];
    copy.pieces.push_back({0, copy.bytes, global.in(warp, lane)});
    if (kReduces)
      reduce(copy, at.form2, static_cast<Type>(at.form));
    if (copy.bytes % kBulkAlignment || !copy.bytes)
      return misuse(warp, lane,
                    "expected a multiple of 16 bytes, got " +
                        Twine(copy.bytes));
    if (isInShared(warp, copy, kBulkAlignment) &&
        bindPieces(warp, copy, kStore, kBulkAlignment))
      start(warp, std::move(copy), kStore,
            kStore ? 0 : mbarrier.inShared(warp, lane));
  });
}

//===----------------------------------------------------------------------===//
// Boxes of tensors
//===----------------------------------------------------------------------===//

std::optional<TensorMap> readMap(Warp &warp, unsigned lane, uint64_t address,
                                 unsigned rank) {
  uint64_t window = address & kWindowMask;
  if (window == kSharedWindow || window == kLocalWindow) {
    misuse(warp, lane,
           Twine("expected a tensor map in parameters (const "
                 "__grid_constant__), constant or global memory, got one in ") +
               (window == kLocalWindow ? "local" : "shared") + " memory");
    return std::nullopt;
  }
  Access access;
  access.kind = AccessKind::BulkRead;
  if (!isInside(warp, lane, access, address, kTensorMapBytes, 64))
    return std::nullopt;
  std::optional<TensorMap> map = decode(access.pointer[lane]);
  if (!map) {
    misuse(warp, lane, "expected an encoded tensor map, got other bytes");
  } else if (map->rank != rank) {
    misuse(warp, lane,
           "expected a tensor map of rank " + Twine(rank) + ", got " +
               Twine(unsigned(map->rank)));
    map.reset();
  }
  return map;
}

/// How narrower rows lie in shared memory is not documented.
bool hasFullRows(Warp &warp, unsigned lane, const TensorMap &map) {
  uint32_t span = 16u << unsigned(map.swizzle);
  uint32_t row = map.moved(0) * bytesOf(map.element);
  if (map.swizzle == Swizzle::None || row == span)
    return true;
  misuse(warp, lane,
         "expected rows of " + Twine(span) +
             " bytes under a swizzle of as many, got " + Twine(row));
  return false;
}

/// None where the reduction has no such elements.
std::optional<Type> reducedType(unsigned what, TensorElement element) {
  static constexpr Type types[] = {Type::U8,  Type::U16,  Type::U32, Type::S32,
                                   Type::U64, Type::S64,  Type::F16, Type::F32,
                                   Type::F64, Type::BF16, Type::F32, Type::F32,
                                   Type::F32};
  Type type = types[unsigned(element)];
  for (Type fits : typesOfReduction(what))
    if (fits == type ||
        (fits == Type::B32 && isInteger(type) && bitsOf(type) == 32) ||
        (fits == Type::B64 && isInteger(type) && bitsOf(type) == 64))
      return type;
  return std::nullopt;
}

bool reduceBox(Warp &warp, BulkCopy &copy, uint8_t what) {
  std::optional<Type> type = reducedType(what, copy.element);
  if (type)
    reduce(copy, what, *type);
  else
    misuse(
        warp, copy.lane,
        "expected a tensor of elements that the reduction takes, got others");
  return type.has_value();
}

/// Sources of a load: shared, map, coordinates, mbarrier; of a store: map,
/// coordinates, shared.
template <bool kStore, bool kReduces = false>
void copyBox(Warp &warp, const Instruction &at, Mask lanes) {
  unsigned rank = at.form, first = kStore ? 1 : 2;
  Place shared{at.op[kStore ? 1 + rank : 0], at.addressBits, at.offset};
  Place mapPlace{at.op[first - 1], at.addressBits2, at.offset2};
  Place mbarrier{at.op[first + rank], at.addressBits3, at.offset3};
  forEachLane(lanes, [&](unsigned lane) {
    std::optional<TensorMap> map =
        readMap(warp, lane, mapPlace.in(warp, lane), rank);
    if (!map || !hasFullRows(warp, lane, *map))
      return;
    int32_t start[kMaxTensorRank];
    for (unsigned d = 0; d < rank; ++d)
      start[d] = warp.reg<int32_t>(at.op[first + d])[lane];
    BulkCopy copy;
    copy.warp = warp.index;
    copy.lane = lane;
    copy.pc = warp.pc;
    copy.shared = shared.inShared(warp, lane);
    copy.bytes = map->bytesMoved();
    copy.swizzle = map->swizzle;
    copy.element = map->element;
    copy.fillNaN = map->fillNaN;
    copy.pieces = makePieces(*map, start);
    if (kReduces && !reduceBox(warp, copy, at.form2))
      return;
    if (isInShared(warp, copy, kTensorAlignment) &&
        bindPieces(warp, copy, kStore, 1))
      ::start(warp, std::move(copy), kStore,
              kStore ? 0 : mbarrier.inShared(warp, lane));
  });
}

//===----------------------------------------------------------------------===//
// Groups of stores
//===----------------------------------------------------------------------===//

void commitStores(Warp &warp, const Instruction &, Mask lanes) {
  forEachLane(lanes,
              [&](unsigned lane) { ++warp.copies[lane].storesCommitted; });
}

/// `form`: only their sources have to be free.
void waitStores(Warp &warp, const Instruction &at, Mask lanes) {
  forEachLane(lanes, [&](unsigned lane) {
    uint32_t committed = warp.copies[lane].storesCommitted;
    if (committed > uint64_t(at.offset))
      landBulkStores(warp, lane, committed - at.offset, !at.form);
  });
}

void nothing(Warp &, const Instruction &, Mask) {}

} // namespace

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

static void takeHint(Form &form, bool hinted) {
  if (hinted)
    form.source(Type::B64);
}

/// Whether data go out of shared memory; and the cache hint.
static bool takeDirection(Form &form, bool isTensor, bool &hinted) {
  bool store = form.oneOf({"shared::cluster", "shared::cta", "global"}) == 2;
  if (store)
    form.oneOf({"shared::cta"});
  else
    form.oneOf({"global"});
  if (isTensor)
    form.ignores({"tile"});
  form.oneOf({store ? "bulk_group" : "mbarrier::complete_tx::bytes"});
  hinted = form.has("L2::cache_hint");
  return store;
}

static void buildRange(Form &form) {
  bool hinted = false, store = takeDirection(form, false, hinted);
  form.address(store ? 1 : 0);
  form.address(store ? 0 : 1);
  form.source(Type::U32);
  if (!store)
    form.address(2);
  takeHint(form, hinted);
  form.code.run = store ? &copyRange<true> : &copyRange<false>;
}

static void buildBox(Form &form) {
  unsigned rank = 1 + form.oneOf({"1d", "2d", "3d", "4d", "5d"});
  bool hinted = false, store = takeDirection(form, true, hinted);
  if (!store)
    form.address(0);
  form.tensorAddress(1, rank);
  form.address(store ? 0 : 2);
  takeHint(form, hinted);
  form.code.form = rank;
  form.code.run = store ? &copyBox<true> : &copyBox<false>;
}

/// Caches are not modelled.
static void buildPrefetch(Form &form) {
  bool tensor = form.has("tensor");
  unsigned rank = tensor ? 1 + form.oneOf({"1d", "2d", "3d", "4d", "5d"}) : 0;
  form.oneOf({"L2"});
  form.oneOf({"global"});
  if (tensor)
    form.ignores({"tile"});
  bool hinted = form.has("L2::cache_hint");
  if (tensor) {
    form.tensorAddress(1, rank);
  } else {
    form.address(1);
    form.source(Type::U32);
  }
  takeHint(form, hinted);
  form.code.run = &nothing;
}

void raytention::simt::buildBulkCopy(Form &form) {
  if (form.has("commit_group")) {
    form.code.run = &commitStores;
  } else if (form.has("wait_group")) {
    form.code.form = form.has("read");
    form.code.offset = form.immediate(0, 1 << 20);
    form.code.run = &waitStores;
  } else if (form.has("prefetch")) {
    buildPrefetch(form);
  } else if (form.has("tensor")) {
    buildBox(form);
  } else {
    buildRange(form);
  }
}

static void buildReducedBox(Form &form) {
  unsigned rank = 1 + form.oneOf({"1d", "2d", "3d", "4d", "5d"});
  form.oneOf({"global"});
  form.oneOf({"shared::cta"});
  form.code.form2 = takeReduction(form);
  form.ignores({"tile"});
  form.oneOf({"bulk_group"});
  bool hinted = form.has("L2::cache_hint");
  form.tensorAddress(1, rank);
  form.address(0);
  takeHint(form, hinted);
  form.code.form = rank;
  form.code.run = &copyBox<true, true>;
}

void raytention::simt::buildBulkReduction(Form &form) {
  form.oneOf({"async"});
  form.oneOf({"bulk"});
  if (form.has("tensor"))
    return buildReducedBox(form);
  form.oneOf({"global"});
  form.oneOf({"shared::cta"});
  form.oneOf({"bulk_group"});
  bool hinted = form.has("L2::cache_hint");
  unsigned what = takeReduction(form);
  Type type = form.lastType(typesOfReduction(what));
  constexpr unsigned kAdd = 0;
  if (what == kAdd && (type == Type::F16 || type == Type::BF16))
    form.oneOf({"noftz"});
  form.type({type});
  form.address(1);
  form.address(0);
  form.source(Type::U32);
  takeHint(form, hinted);
  form.code.form2 = what;
  form.code.form = static_cast<uint8_t>(type);
  form.code.run = &copyRange<true, true>;
}
