//===- Channels.h - what the files of the channels share ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_DIALECT_CHANNELS_CHANNELS_H
#define RAYTENTION_DIALECT_CHANNELS_CHANNELS_H

#include "dialect/RayTention/RayTention.h"
#include "dialect/RayTention/TensorBuilder.h"

namespace raytention {

#define RT_CHANNEL(NAME) void register##NAME##Channel(RayTentionDialect &);
#include "dialect/RayTention/channels/Channels.def"

/// Storage of a channel's parameters: at most two integers.
struct ChannelStorage : public mlir::AttributeStorage {
  using KeyTy = std::pair<int64_t, int64_t>;
  ChannelStorage(KeyTy key) : key(key) {}
  bool operator==(const KeyTy &other) const { return key == other; }
  static llvm::hash_code hashKey(const KeyTy &key) {
    return llvm::hash_combine(key.first, key.second);
  }
  static ChannelStorage *construct(mlir::AttributeStorageAllocator &allocator,
                                   KeyTy key) {
    return new (allocator.allocate<ChannelStorage>()) ChannelStorage(key);
  }
  KeyTy key;
};

/// Base of a channel attribute. A channel without parameters inherits their
/// parser, printer and spelling on the command line from here. The channel's
/// own class declares `name` ("rt." and the mnemonic) and implements the
/// ChannelInterface.
template <typename Concrete>
class ChannelBase
    : public mlir::Attribute::AttrBase<
          Concrete, mlir::Attribute, ChannelStorage, ChannelInterface::Trait> {
public:
  using Base =
      mlir::Attribute::AttrBase<Concrete, mlir::Attribute, ChannelStorage,
                                ChannelInterface::Trait>;
  using Base::Base;

  static llvm::StringRef getMnemonicName() { return Concrete::name.substr(3); }
  llvm::StringRef getMnemonic() const { return getMnemonicName(); }
  static llvm::StringRef getSpelling() { return getMnemonicName(); }

  static mlir::Attribute parseParameters(mlir::AsmParser &parser) {
    return Base::get(parser.getContext(), std::make_pair(0, 0));
  }
  void printParameters(mlir::AsmPrinter &) const {}

protected:
  ChannelStorage::KeyTy parameters() const { return this->getImpl()->key; }
};

/// Reference form of a copy: the keys at `positions` [B, Tq].
inline mlir::Value copyKeys(const DecomposeContext &c, mlir::Value positions) {
  auto keys = llvm::cast<mlir::RankedTensorType>(c.keys.getType());
  return LookupOp::create(
      c.builder, c.loc,
      getTypeLike(positions, {0, 1}, {keys.getDimSize(2)}, c.element), c.keys,
      positions);
}

} // namespace raytention

#endif // RAYTENTION_DIALECT_CHANNELS_CHANNELS_H
