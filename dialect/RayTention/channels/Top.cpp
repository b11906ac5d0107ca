//===- Top.cpp - the top channel ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/channels/Channels.h"
#include "dialect/RayTention/elements/KeyOrder.h"

using namespace mlir;
using namespace raytention;

namespace {

/// The key of the rank-th largest z, ties to the lowest position; with fewer
/// visible keys the last one found. Keeps a sorted list of rank (z, j) pairs.
class TopAttr : public ChannelBase<TopAttr> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TopAttr)
  using ChannelBase::ChannelBase;
  static constexpr StringLiteral name = "rt.top";
  static StringRef getSpelling() { return "top:K"; }

  static Attribute parseParameters(AsmParser &parser) {
    int64_t rank;
    if (parser.parseLess() || parser.parseInteger(rank) ||
        parser.parseGreater())
      return {};
    return Base::get(parser.getContext(), std::make_pair(rank, 0));
  }
  void printParameters(AsmPrinter &printer) const {
    printer << "<" << rank() << ">";
  }

  LogicalResult
  verifyChannel(llvm::function_ref<InFlightDiagnostic()> emitError,
                int64_t) const {
    if (rank() < 1 || rank() > kLargestRank)
      return emitError() << "expected a rank of top from 1 to " << kLargestRank
                         << ", got " << rank();
    return success();
  }

  ChannelForm getForm() const { return ChannelForm::Copy; }

  DecomposedChannel decompose(const DecomposeContext &c) const {
    Value positions = ArgSelectOp::create(
        c.builder, c.loc,
        getTypeLike(c.scores, {0, 1}, {}, c.builder.getI32Type()), c.scores,
        Value(), Order::Largest, rank());
    return {copyKeys(c, positions), positions};
  }

  SmallVector<StateField> getScoreState() const {
    SmallVector<StateField> fields;
    for (int64_t i = 0; i < rank(); ++i) {
      fields.push_back({"z", -std::numeric_limits<double>::infinity(), false});
      fields.push_back({"j", -1, true});
    }
    return fields;
  }

  int64_t getNumPositions() const { return rank(); }

  SmallVector<Value> updateScore(ElementBuilder &b, const PairValues &pair,
                                 const ParameterValues &,
                                 ValueRange state) const {
    SmallVector<Value> list = insert(b, state, {pair.score, pair.key});
    Value none = b.constant(-std::numeric_limits<double>::infinity());
    for (Value position : ArrayRef(pair.others).take_front(rank() - 1)) {
      Value isThere = b.intLess(b.intConstant(-1), position);
      list = insert(b, list, {b.select(isThere, pair.score, none), position});
    }
    return list;
  }

  SmallVector<Value> mergeScore(ElementBuilder &b, ValueRange first,
                                ValueRange second) const {
    SmallVector<Value> merged(first);
    for (int64_t i = 0; i < rank(); ++i)
      merged = insert(b, merged, {second[2 * i], second[2 * i + 1]});
    return merged;
  }

  Value finish(ElementBuilder &b, const RowValues &row,
               const ParameterValues &) const {
    Value position = row.score[1];
    for (int64_t i = 1; i < rank(); ++i) {
      Value next = row.score[2 * i + 1];
      position = b.select(b.intLess(next, b.intConstant(0)), position, next);
    }
    return position;
  }

private:
  static constexpr int64_t kLargestRank = 64;

  int64_t rank() const { return parameters().first; }

  /// The sorted list with `key` in its place.
  SmallVector<Value> insert(ElementBuilder &b, ValueRange list,
                            const ScoredKey &key) const {
    SmallVector<Value> result;
    ScoredKey before;
    Value beatsBefore;
    for (int64_t i = 0; i < rank(); ++i) {
      ScoredKey own{list[2 * i], list[2 * i + 1]};
      Value beats = isLarger(b, key, own);
      ScoredKey kept = select(b, beats, key, own);
      if (i > 0)
        kept = select(b, beatsBefore, before, kept);
      llvm::append_values(result, kept.score, kept.position);
      before = own;
      beatsBefore = beats;
    }
    return result;
  }
};

} // namespace

void raytention::registerTopChannel(RayTentionDialect &dialect) {
  dialect.addChannel<TopAttr>();
}
