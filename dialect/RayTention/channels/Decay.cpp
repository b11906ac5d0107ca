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
  static StringRef getSpelling() { return "decay:backward:I, decay:forward:I"; }

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
  int64_t getBase() const { return index(); }

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
    return b.fma(exponent(b, pair), params.logGammas[index()], value);
  }

  /// Sums of 1 and powers of g that are at most 1: they neither underflow nor
  /// lose digits, however long the sequence.
  Value addPosition(ElementBuilder &b, Value mass,
                    const PositionValues &positions,
                    const ParameterValues &params) const {
    bool isForward = direction() == Direction::Forward;
    Value from = isForward ? positions.first : positions.last;
    Value power = b.exp(b.mul(b.toFloat(b.intSub(positions.own, from)),
                              params.logGammas[index()]));
    return isForward ? b.add(mass, power)
                     : b.fma(power, mass, b.constant(1));
  }

  Value finish(ElementBuilder &b, const RowValues &row,
               const ParameterValues &params) const {
    return b.exp(b.min(excess(b, row, params), b.constant(0)));
  }

  /// a da = a (G . k - G . value) where S has its say; under the floor S is
  /// constant, a da = a (G . k) sums to G . value, and p counts from its
  /// origin.
  RowGradient prepareGradient(ElementBuilder &b, const GradientRow &row,
                              const ParameterValues &params) const {
    Value over = excess(b, row, params), zero = b.constant(0);
    Value isFloored = b.less(over, zero);
    Value rest;
    if (countsFromEnd(params))
      rest = b.select(isFloored, rowExponent(b, row), zero);
    return {b.min(over, zero), b.select(isFloored, zero, row.along), rest,
            b.select(isFloored, row.along, zero)};
  }

  SmallVector<StateField> getGradientState() const {
    return {{"moment", 0, false}, {"mass", 0, false}, {"power", 0, false}};
  }

  /// With a' = a / g and p counted as in addLogFactor(), from the origin in a
  /// floored row: the sums of a' da p, of a da, and of a' p.
  SmallVector<Value> updateGradient(ElementBuilder &b, const GradientPair &pair,
                                    const ParameterValues &,
                                    ValueRange state) const {
    Value p = exponent(b, pair);
    if (direction() == Direction::Backward)
      p = b.add(p, pair.rest);
    Value weighted = b.mul(pair.perBase, p);
    return {b.fma(weighted, pair.difference, state[0]),
            b.fma(pair.ownWeight, pair.difference, state[1]),
            b.add(weighted, state[2])};
  }

  /// dg = sum a' da p. Unless S is floored, sum a da is 0, and p may count from
  /// its mean under a, which sums to 1: what is left of sum a da is rounding
  /// that a large p would magnify.
  ParameterGradient finishGradient(ElementBuilder &b, const GradientRow &row,
                                   const ParameterValues &params,
                                   ValueRange state) const {
    Value zero = b.constant(0);
    Value isFloored = b.less(excess(b, row, params), zero);
    Value centred = b.select(isFloored, zero, b.mul(state[2], state[1]));
    return {{}, b.mul(row.scale, b.sub(state[0], centred)), index()};
  }

private:
  /// p, backward counted from the row; of the position that masses count from.
  Value exponent(ElementBuilder &b, const PairValues &pair) const {
    return b.toFloat(direction() == Direction::Forward
                         ? pair.key
                         : b.intSub(pair.row, pair.last));
  }
  bool countsFromEnd(const ParameterValues &params) const {
    return direction() == Direction::Backward &&
           params.origin == DecayOrigin::SequenceEnd;
  }
  /// P - i, as a float.
  template <typename Row> Value rowExponent(ElementBuilder &b, Row &row) const {
    return b.toFloat(b.intSub(row.last, row.row));
  }
  /// log S minus the log of its floor.
  template <typename Row>
  Value excess(ElementBuilder &b, Row &row,
               const ParameterValues &params) const {
    Value logSum = row.relativeLogSum;
    if (countsFromEnd(params))
      logSum = b.fma(rowExponent(b, row), params.logGammas[index()], logSum);
    return b.sub(logSum, b.constant(kLogDecaySumFloor));
  }

  Direction direction() const {
    return static_cast<Direction>(parameters().first);
  }
  int64_t index() const { return parameters().second; }
};

} // namespace

void raytention::registerDecayChannel(RayTentionDialect &dialect) {
  dialect.addChannel<DecayAttr>();
}
