//===- Names.cpp - what the names of a kernel stand for ---------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/Forms.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace raytention::simt;

static constexpr uint64_t kMaxRegisterFile = 64 << 20;

static bool splitNumber(StringRef name, StringRef &prefix, uint64_t &number) {
  prefix = name.rtrim("0123456789");
  StringRef digits = name.drop_front(prefix.size());
  // %r01 is not %r1.
  return !digits.empty() && !digits.getAsInteger(10, number) &&
         (digits.size() == 1 || digits[0] != '0');
}

bool KernelAssembler::findRegister(StringRef name, Register &found) {
  StringRef prefix;
  uint64_t number = 0;
  bool numbered = splitNumber(name, prefix, number);
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
    auto exact = scope->names.find(name);
    Declared *declared = nullptr;
    if (exact != scope->names.end()) {
      if (!exact->second.isRegister || exact->second.statement->numbered)
        return false;
      declared = &exact->second;
      number = 0;
    } else if (numbered) {
      auto family = scope->names.find(prefix);
      if (family != scope->names.end() && family->second.isRegister &&
          family->second.statement->numbered &&
          number < family->second.statement->count)
        declared = &family->second;
    }
    if (declared) {
      auto [entry, isNew] = declared->registers.try_emplace(number);
      if (isNew) {
        Type type = parseType(declared->statement->type.drop_front());
        unsigned bytes = type == Type::Pred ? 0 : bitsOf(type) / 8;
        entry->second = {scratch(bytes, name), type};
      }
      found = entry->second;
      return true;
    }
    if (scope->isFunction)
      return false;
  }
  return false;
}

uint32_t KernelAssembler::scratch(unsigned bytesPerLane, StringRef name) {
  uint64_t bytes = bytesPerLane ? bytesPerLane * kLanes : kRegisterHeader;
  uint32_t offset = fileBytes + kRegisterHeader;
  if (fileBytes < kMaxRegisterFile)
    fileBytes += kRegisterHeader + bytes;
  kernel.registerNames[offset] = name.str();
  return offset;
}

uint32_t KernelAssembler::carryFlag() {
  return carry ? carry : carry = scratch(0, "the carry flag");
}

ArrayRef<StringRef> raytention::simt::specialNames() {
  static constexpr StringRef names[] = {
      "%tid.x", "%tid.y", "%tid.z", "%ntid.x", "%ntid.y", "%ntid.z", "%ctaid.x",
      "%ctaid.y", "%ctaid.z", "%nctaid.x", "%nctaid.y", "%nctaid.z", "%laneid",
      "%warpid", "%nwarpid", "%lanemask_eq", "%lanemask_lt", "%lanemask_le",
      "%lanemask_gt", "%lanemask_ge", "%dynamic_smem_size", "%total_smem_size",
      "%smid", "%nsmid", "%gridid",
      // The cluster of one block that every block is.
      "%cluster_ctarank", "%cluster_nctarank", "%cluster_ctaid.x",
      "%cluster_ctaid.y", "%cluster_ctaid.z", "%cluster_nctaid.x",
      "%cluster_nctaid.y", "%cluster_nctaid.z", "%clusterid.x", "%clusterid.y",
      "%clusterid.z", "%nclusterid.x", "%nclusterid.y", "%nclusterid.z"};
  return names;
}

bool KernelAssembler::findSpecial(StringRef name, Register &found) {
  if (name == "%is_explicit_cluster") {
    bool holds = !active.empty() && active[0]->isExplicitCluster;
    found = {constant(Type::Pred, holds), Type::Pred};
    return true;
  }
  size_t index = find(specialNames(), name) - specialNames().begin();
  if (index == specialNames().size())
    return false;
  auto [entry, isNew] = specials.try_emplace(name);
  if (isNew) {
    entry->second = {scratch(4, name), Type::B32};
    kernel.specials.push_back(
        {static_cast<Special>(index), entry->second.offset});
  }
  found = entry->second;
  return true;
}

bool KernelAssembler::findPlace(StringRef name, Place &found) {
  for (size_t i = scopes.size(); i-- > 0;) {
    auto entry = scopes[i].names.find(name);
    if (entry != scopes[i].names.end()) {
      if (entry->second.isRegister)
        return false;
      const Statement *s = entry->second.statement;
      if (i == 0 && s && s->space == ".shared")
        return sharedVariable(*s, found);
      found = entry->second.place;
      return i != 0 || found.value != 0;
    }
    if (scopes[i].isFunction)
      i = 1; // on to the global scope
  }
  return false;
}

bool KernelAssembler::findLabel(StringRef name, uint32_t &label) {
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
    auto entry = scope->labels.find(name);
    if (entry != scope->labels.end()) {
      label = entry->second;
      return true;
    }
    if (scope->isFunction)
      return false;
  }
  return false;
}

bool KernelAssembler::findTargets(StringRef name, uint32_t &list) {
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
    auto entry = scope->targets.find(name);
    if (entry != scope->targets.end()) {
      list = entry->second;
      return true;
    }
    if (scope->isFunction)
      return false;
  }
  return false;
}

uint32_t KernelAssembler::constant(Type type, uint64_t bits, bool dynamic) {
  unsigned bytes = type == Type::Pred ? 0 : std::max(2u, bitsOf(type) / 8);
  if (bytes == 0)
    bits = bits ? 1 : 0;
  else if (bytes < 8)
    bits &= (uint64_t(1) << (8 * bytes)) - 1;
  if (dynamic) {
    uint32_t reg = scratch(bytes, "address");
    kernel.constants.push_back({reg, uint8_t(bytes), bits, true});
    return reg;
  }
  auto [entry, isNew] = constants.try_emplace({bytes, bits}, 0);
  if (isNew) {
    entry->second = scratch(bytes, "number");
    kernel.constants.push_back({entry->second, uint8_t(bytes), bits, false});
  }
  return entry->second;
}
