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

template <class Element, class Reg>
void load(Warp &warp, const Instruction &at, Mask lanes) {
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
  if (at.strong)
    noteStrongRead(warp, at, access, good);
}

template <class Element, class Reg>
void store(Warp &warp, const Instruction &at, Mask lanes) {
  Access access;
  access.kind = AccessKind::Store;
  access.space = at.space;
  access.bytes = sizeof(Element) * at.vector;
  access.strong = at.strong;
  computeAddresses(warp, at, at.op[0], lanes, access.address);
  Mask good = resolve(warp, access, lanes);
  if (at.strong)
    noteStrongWrite(warp, at, access, good);
  forEachLane(good, [&](unsigned lane) {
    for (unsigned i = 0; i < at.vector; ++i) {
      Element value = static_cast<Element>(warp.reg<Reg>(at.op[1 + i])[lane]);
      std::memcpy(access.pointer[lane] + i * sizeof(Element), &value,
                  sizeof(Element));
    }
  });
}

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
  return type == Type::F32 ? Type::B32 : type == Type::F64 ? Type::B64 : type;
}

} // namespace

/// Global and shared memory have an order, or an address that may be either;
/// mmio is of global memory.
static Space takeSpace(Form &form, unsigned order) {
  static const StringRef names[] = {
      "global", "shared", "shared::cta", "shared::cluster",
      "local",  "param",  "const"};
  static constexpr Space spaces[] = {
      Space::Global, Space::Shared, Space::Shared, Space::Shared,
      Space::Local,  Space::Param,  Space::Const,  Space::Generic};
  bool reads = form.family() != "st";
  unsigned count = form.family() == "ldu" || order == 1 ? 1
                   : order < 4                          ? 4
                   : reads                              ? 7
                                                        : 6;
  return spaces[form.maybe(ArrayRef<StringRef>(names).take_front(count), 7)];
}

/// Ordering counts for the checks: .weak is the default, 4, and the rest
/// strong.
static unsigned takeOrder(Form &form, StringRef ordering) {
  unsigned order = form.maybe({"volatile", "mmio", "relaxed", ordering}, 4);
  form.code.strong = order < 4;
  (ordering == "acquire" ? form.code.acquires : form.code.releases) =
      order == 3;
  if (order == 4) {
    form.ignores({"weak"});
  } else if (order == 1) {
    form.oneOf({"relaxed"});
    form.oneOf({"sys"});
  } else if (order >= 2) {
    takeScope(form, /*required=*/true);
  }
  return order;
}

/// Hints on caches. Ordered accesses have none.
static void takeHints(Form &form, ArrayRef<StringRef> levels) {
  if (form.code.strong || form.family() == "ldu")
    return;
  form.ignores(levels);
  if (form.family() == "ld" && form.code.space == Space::Global)
    form.ignores({"nc"});
  if (form.code.space > Space::Global)
    return;
  form.ignores({"L1::evict_normal", "L1::no_allocate", "L1::evict_last",
                "L1::evict_first", "L1::evict_unchanged"});
  if (form.family() != "st")
    form.ignores({"L2::64B", "L2::128B", "L2::256B"});
}

/// Takes the vector too: at most 16 bytes.
static Type takeMemoryType(Form &form, bool vectors) {
  static constexpr unsigned counts[] = {2, 4, 1};
  static constexpr Type types[] = {Type::B8,  Type::U8,  Type::S8,  Type::B16,
                                   Type::U16, Type::S16, Type::B32, Type::U32,
                                   Type::S32, Type::F32, Type::B64, Type::U64,
                                   Type::S64, Type::F64};
  form.code.vector = vectors ? counts[form.maybe({"v2", "v4"}, 2)] : 1;
  Type type = form.type(Types(types).drop_back(form.code.vector == 4 ? 4 : 0));
  form.code.bytes = bitsOf(type) / 8;
  return type;
}

static void buildLoad(Form &form) {
  unsigned order = form.family() == "ld" ? takeOrder(form, "acquire") : 4;
  form.code.space = takeSpace(form, order);
  takeHints(form, {"ca", "cg", "cs", "lu", "cv"});
  Type type = takeMemoryType(form, order != 1);
  form.destVector(type, form.code.vector, isInteger(type));
  unsigned bits = form.code.form2;
  form.address();
  type = memoryType(type);
  form.code.run = bits == 16   ? pickLoad<uint16_t>(type)
                  : bits == 32 ? pickLoad<uint32_t>(type)
                               : pickLoad<uint64_t>(type);
}

static void buildStore(Form &form) {
  unsigned order = takeOrder(form, "release");
  form.code.space = takeSpace(form, order);
  takeHints(form, {"wb", "cg", "cs", "wt"});
  Type type = takeMemoryType(form, order != 1);
  form.address();
  form.sourceVector(type, form.code.vector, isInteger(type));
  unsigned bits = form.code.form2;
  form.code.run = bits == 16   ? pickStore<uint16_t>(bitsOf(type))
                  : bits == 32 ? pickStore<uint32_t>(bitsOf(type))
                               : pickStore<uint64_t>(bitsOf(type));
}

void raytention::simt::addMemoryOps(BuilderTable &table) {
  table["ld"] = &buildLoad;
  table["ldu"] = &buildLoad;
  table["st"] = &buildStore;
}
