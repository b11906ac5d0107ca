//===- RayTentionDialect.td - the rt dialect -*- tablegen -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_DIALECT_TD
#define RAYTENTION_DIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/TilingInterface.td"

def RayTention_Dialect : Dialect {
  let name = "rt";
  let cppNamespace = "::raytention";
  let summary = "RayTention: attention by negative squared distance to table rows";
  let description = [{
    Describes an attention as data (a metric, a mask, a temperature and a list
    of channels) and the two ways of computing it: materialising reference ops,
    and sweeps over the keys with explicit accumulators. The numeric contract
    of every op is the RayTention semantics; rows are queries, `z` is the score.
  }];
  let useDefaultAttributePrinterParser = 0;
  let extraClassDeclaration = [{
    /// Parses the parameters of a channel, after its mnemonic.
    using ChannelParser = ::mlir::Attribute (*)(::mlir::AsmParser &);

    /// Registers a channel attribute: how the IR and the command line know it.
    template <typename ChannelAttr> void addChannel() {
      addAttributes<ChannelAttr>();
      channels.insert(
          {ChannelAttr::getMnemonicName(),
           {&ChannelAttr::parseParameters, ChannelAttr::getSpelling()}});
    }

    /// The mnemonics of all registered channels, sorted.
    ::llvm::SmallVector<::llvm::StringRef> getChannelMnemonics() const;
    /// Their spellings on the command line, "top:K", sorted.
    ::llvm::SmallVector<::llvm::StringRef> getChannelSpellings() const;

    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser,
                                     ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attr,
                        ::mlir::DialectAsmPrinter &printer) const override;

  private:
    void registerAttributes();
    void registerChannels();
    struct ChannelInfo {
      ChannelParser parse;
      ::llvm::StringRef spelling;
    };
    ::llvm::StringMap<ChannelInfo> channels;

  public:
  }];
}

class RT_Op<string mnemonic, list<Trait> traits = []>
    : Op<RayTention_Dialect, mnemonic, traits>;

/// An op that starts from nothing: a loop body may compute the tile it reads.
class RT_ProducerOp<string mnemonic, list<Trait> traits = []>
    : RT_Op<mnemonic, traits # [Pure,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
      ["reifyResultShapes"]>,
    DeclareOpInterfaceMethods<TilingInterface, ["getLoopIteratorTypes",
      "getIterationDomain", "getTiledImplementation", "getResultTilePosition",
      "getIterationDomainTileFromResultTile", "generateResultTileValue"]>]>;

#endif // RAYTENTION_DIALECT_TD
