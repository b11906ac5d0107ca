//===- MemoryOps.cpp - loads, stores and fences -----------------*- C++ -*-===//
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

/// What the block wrote may be seen by blocks that fence after seeing a sign.
template <class Element, class Reg>
void load(Warp &warp, const Instruction &at, Mask lanes) {
  fence(warp, at, lanes); // of an acquire
  Access access;
  access.kind = AccessKind::Load;
  access.space = at.space;
  access.bytes = sizeof(Element) * at.vector;
  access.strong = at.strong;
  computeAddresses(warp, at, at.op[at.destinations], lanes, access.address);
  Mask good = resolve(warp, access, lanes);
  for (unsigned i = 0; i < at.vector; ++i) {
    Reg *d = warp.reg<Reg>(at.op[i]);
    forEachLane(good, [&](unsigned lane) {
      Element value;
      std::memcpy(&value, access.pointer[lane] + i * sizeof(Element),
                  sizeof(Element));
      d[lane] = static_cast<Reg>(value);
    });
    forEachLane(lanes & ~good, [&](unsigned lane) { d[lane] = Reg(~Reg(0)); });
  }
}

template <class Element, class Reg>
void store(Warp &warp, const Instruction &at, Mask lanes) {
  fence(warp, at, lanes); // of a release
  Access access;
  access.kind = AccessKind::Store;
  access.space = at.space;
  access.bytes = sizeof(Element) * at.vector;
  access.strong = at.strong;
  computeAddresses(warp, at, at.op[0], lanes, access.address);
  Mask good = resolve(warp, access, lanes);
  forEachLane(good, [&](unsigned lane) {
    for (unsigned i = 0; i < at.vector; ++i) {
      Element value = static_cast<Element>(warp.reg<Reg>(at.op[1 + i])[lane]);
      std::memcpy(access.pointer[lane] + i * sizeof(Element), &value,
                  sizeof(Element));
    }
  });
}

void nothing(Warp &, const Instruction &, Mask) {}

template <class Reg> Handler pickLoad(Type type) {
  return withInteger(type, [](auto tag) -> Handler {
    using Element = typename decltype(tag)::type;
    if constexpr (sizeof(Element) <= sizeof(Reg))
      return &load<Element, Reg>;
    else
      return nullptr;
  });
}

template <class Reg> Handler pickStore(unsigned bits) {
  switch (bits) {
  case 8:
    return &store<uint8_t, Reg>;
  case 16:
    return &store<uint16_t, Reg>;
  case 32:
    return &store<uint32_t, Reg>;
  default:
    return &store<uint64_t, Reg>;
  }
}

/// Floats and bits move as unsigned integers.
Type memoryType(Type type) {
  if (isInteger(type))
    return type;
  switch (type) {
  case Type::F16:
  case Type::BF16:
    return Type::B16;
  case Type::F32:
    return Type::B32;
  case Type::F64:
    return Type::B64;
  default:
    return Type::None;
  }
}

} // namespace

static Space takeSpace(Form &form) {
  static const StringRef names[] = {"global", "shared",      "local",
                                    "const",  "shared::cta", "param"};
  static constexpr Space spaces[] = {Space::Global, Space::Shared, Space::Local,
                                     Space::Const,  Space::Shared, Space::Param,
                                     Space::Generic};
  return spaces[form.maybe(names, 6)];
}

/// Ordering counts for the checks; hints on caches change nothing.
static void takeOrder(Form &form) {
  form.code.form = form.has("acquire") | form.has("release");
  form.code.strong = form.code.form | form.has("volatile") |
                     form.has("relaxed") | form.has("mmio");
  form.has("weak");
  form.maybe({"cta", "gpu", "sys", "cluster"}, 0);
  form.maybe({"ca", "cg", "cs", "lu", "cv", "wb", "wt"}, 0);
  form.has("nc");
  form.maybe({"L1::no_allocate", "L1::evict_normal", "L1::evict_last",
              "L1::evict_first", "L1::evict_unchanged"},
             0);
  form.maybe({"L2::64B", "L2::128B", "L2::256B"}, 0);
}

static unsigned takeVector(Form &form) {
  static constexpr unsigned counts[] = {2, 4, 1};
  return counts[form.maybe({"v2", "v4"}, 2)];
}

static Type takeMemoryType(Form &form) {
  Type type = memoryType(form.type());
  if (type == Type::None && !form.failed())
    form.fail("expected a type that memory holds");
  return type;
}

static void buildLoad(Form &form) {
  takeOrder(form);
  form.code.space = takeSpace(form);
  form.code.vector = takeVector(form);
  Type type = takeMemoryType(form);
  if (form.failed())
    return;
  form.code.bytes = bitsOf(type) / 8;
  form.destVector(type, form.code.vector, form.code.vector, true);
  unsigned bits = form.code.form2;
  form.address();
  form.code.run = bits == 16   ? pickLoad<uint16_t>(type)
                  : bits == 32 ? pickLoad<uint32_t>(type)
                               : pickLoad<uint64_t>(type);
}

static void buildStore(Form &form) {
  takeOrder(form);
  form.code.space = takeSpace(form);
  form.code.vector = takeVector(form);
  Type type = takeMemoryType(form);
  if (form.failed())
    return;
  form.code.bytes = bitsOf(type) / 8;
  form.address();
  form.sourceVector(type, form.code.vector, form.code.vector, true);
  unsigned bits = form.code.form2;
  form.code.run = bits == 16   ? pickStore<uint16_t>(bitsOf(type))
                  : bits == 32 ? pickStore<uint32_t>(bitsOf(type))
                               : pickStore<uint64_t>(bitsOf(type));
}

static void buildPrefetch(Form &form) {
  takeSpace(form);
  form.oneOf({"L1", "L2", "L2::evict_last", "L2::evict_normal"});
  form.address();
  form.code.run = &nothing;
}

void raytention::simt::addMemoryOps(BuilderTable &table) {
  table["ld"] = &buildLoad;
  table["ldu"] = &buildLoad;
  table["st"] = &buildStore;
  table["prefetch"] = &buildPrefetch;
}
