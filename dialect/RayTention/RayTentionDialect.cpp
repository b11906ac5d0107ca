//===- RayTentionDialect.cpp - the rt dialect ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/RayTention.h"
#include "dialect/RayTention/channels/Channels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace raytention;

#include "dialect/RayTention/RayTentionDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/RayTention/RayTentionAttrs.cpp.inc"

void RayTentionDialect::initialize() {
  getContext()
      ->loadDialect<arith::ArithDialect, linalg::LinalgDialect,
                    math::MathDialect, tensor::TensorDialect,
                    vector::VectorDialect>();
  registerAttributes();
  registerChannels();
  addOperations<
#define GET_OP_LIST
#include "dialect/RayTention/RayTentionOps.cpp.inc"
      >();
}

void RayTentionDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/RayTention/RayTentionAttrs.cpp.inc"
      >();
}

void RayTentionDialect::registerChannels() {
#define RT_CHANNEL(NAME) register##NAME##Channel(*this);
#include "dialect/RayTention/channels/Channels.def"
}

SmallVector<StringRef> RayTentionDialect::getChannelMnemonics() const {
  SmallVector<StringRef> names(channels.keys());
  llvm::sort(names);
  return names;
}

SmallVector<StringRef> RayTentionDialect::getChannelSpellings() const {
  SmallVector<StringRef> spellings;
  for (const auto &entry : channels)
    spellings.push_back(entry.second.spelling);
  llvm::sort(spellings);
  return spellings;
}

Attribute RayTentionDialect::parseAttribute(DialectAsmParser &parser,
                                            Type type) const {
  SMLoc loc = parser.getCurrentLocation();
  StringRef mnemonic;
  Attribute attr;
  OptionalParseResult parsed =
      generatedAttributeParser(parser, &mnemonic, type, attr);
  if (parsed.has_value())
    return attr;
  auto channel = channels.find(mnemonic);
  if (channel != channels.end())
    return channel->second.parse(parser);
  parser.emitError(loc) << "expected an rt attribute or a channel out of "
                        << llvm::join(getChannelMnemonics(), ", ") << ", got '"
                        << mnemonic << "'";
  return {};
}

void RayTentionDialect::printAttribute(Attribute attr,
                                       DialectAsmPrinter &printer) const {
  if (succeeded(generatedAttributePrinter(attr, printer)))
    return;
  auto channel = cast<ChannelInterface>(attr);
  printer << channel.getMnemonic();
  channel.printParameters(printer);
}

LogicalResult
ScheduleAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                     int64_t queryTile, int64_t keyChunk, int64_t splitKeys,
                     ScorePlan scores, Family family, int64_t threads,
                     int64_t queryChunk, int64_t foldChunk) {
  if (queryTile < 1 || keyChunk < 1 || splitKeys < 1)
    return emitError() << "expected positive query_tile, key_chunk and "
                          "split_keys, got "
                       << queryTile << ", " << keyChunk << ", " << splitKeys;
  if (threads < 1 || threads > 1024)
    return emitError() << "expected threads in [1, 1024], got " << threads;
  if (queryChunk < 0 || (queryChunk > 0 && family != Family::Stored))
    return emitError() << "expected query_chunk to be 0, or positive in family "
                          "stored, got "
                       << queryChunk;
  if (foldChunk < 0)
    return emitError() << "expected fold_chunk to be 0 or positive, got "
                       << foldChunk;
  // An index of a key is an int32; products of two sizes must not wrap around.
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  if (std::max({queryTile, keyChunk, splitKeys, queryChunk, foldChunk}) > most)
    return emitError() << "expected query_tile, key_chunk, split_keys, "
                          "query_chunk and fold_chunk of at most "
                       << most << ", got " << queryTile << ", " << keyChunk
                       << ", " << splitKeys << ", " << queryChunk << ", "
                       << foldChunk;
  return success();
}
