//===- Decay.cpp - the decay channel ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/channels/Channels.h"

using namespace mlir;
using namespace raytention;

#include "mlir/AsmParser/AsmParser.h"

namespace {

/// `sum_j a_ij k_j / max(S_i, 1e-8)` with `a_ij = w_ij g^p_ij`, `S_i = sum_j
/// a_ij`; `p = j` forward, `P - j` backward, g = gammas[index].
///
/// Streaming works in log space with backward exponents counted from the row,
/// so that far keys neither underflow nor lose digits; the row factor
/// `g^(P - i)` enters only the floor.
class DecayAttr : public ChannelBase<DecayAttr> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DecayAttr)
  using ChannelBase::ChannelBase;
  static constexpr StringLiteral name = "rt.decay";

  static Attribute parseParameters(AsmParser &parser) {
    StringRef keyword;
    int64_t index;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseLess() || parser.parseKeyword(&keyword))
      return {};
    std::optional<Direction> direction = symbolizeDirection(keyword);
    if (!direction) {
      parser.emitError(loc)
          << "expected forward or backward, got '" << keyword << "'";
      return {};
    }
    if (parser.parseComma() || parser.parseInteger(index) ||
        parser.parseGreater())
      return {};
    return Base::get(parser.getContext(),
                     std::make_pair(static_cast<int64_t>(*direction), index));
  }
  void printParameters(AsmPrinter &printer) const {
    printer << "<" << stringifyDirection(direction()) << ", " << index() << ">";
  }

  LogicalResult
  verifyChannel(llvm::function_ref<InFlightDiagnostic()> emitError,
                int64_t numGammas) const {
    if (index() < 0 ||
        (numGammas != ShapedType::kDynamic && index() >= numGammas))
      return emitError() << "expected a gamma index of decay from 0 to "
                         << numGammas - 1 << ", got " << index();
    return success();
  }

  ChannelForm getForm() const { return ChannelForm::Weighted; }
  bool hasOwnLogSum() const { return true; }

  Attribute simplify(ArrayRef<std::optional<double>> gammas) const {
    bool isOne =
        index() < static_cast<int64_t>(gammas.size()) && gammas[index()] == 1.0;
    if (isOne)
      return parseAttribute("#rt.centroid", getContext());
    return *this;
  }

  DecomposedChannel decompose(const DecomposeContext &c) const {
    Value decayed =
        DecayOp::create(c.builder, c.loc, c.weights, c.gammas, c.queryOffset,
                        c.lengths, index(), direction(), c.origin);
    auto type = cast<RankedTensorType>(c.keys.getType());
    Value value = ReduceOp::create(
        c.builder, c.loc,
        getTypeLike(c.weights, {0, 1}, {type.getDimSize(2)}, c.element),
        decayed, c.keys, c.builder.getF64FloatAttr(kDecaySumFloor));
    return {value, {}};
  }

  Value addLogFactor(ElementBuilder &b, const PairValues &pair,
                     const ParameterValues &params, Value value) const {
    Value exponent = direction() == Direction::Forward
                         ? pair.key
                         : b.intSub(pair.row, pair.key);
    return b.fma(b.toFloat(exponent), params.logGammas[index()], value);
  }

  Value finish(ElementBuilder &b, const RowValues &row,
               const ParameterValues &params) const {
    Value logSum = row.relativeLogSum;
    if (direction() == Direction::Backward &&
        params.origin == DecayOrigin::SequenceEnd)
      logSum = b.fma(b.toFloat(b.intSub(row.last, row.row)),
                     params.logGammas[index()], logSum);
    Value excess = b.sub(logSum, b.constant(kLogDecaySumFloor));
    return b.exp(b.min(excess, b.constant(0)));
  }

private:
  Direction direction() const {
    return static_cast<Direction>(parameters().first);
  }
  int64_t index() const { return parameters().second; }
};

} // namespace

void raytention::registerDecayChannel(RayTentionDialect &dialect) {
  dialect.addChannel<DecayAttr>();
}
