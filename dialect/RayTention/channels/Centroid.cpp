//===- Centroid.cpp - the centroid channel ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/channels/Channels.h"

using namespace mlir;
using namespace raytention;

namespace {

/// `sum_j w_ij k_j`.
class CentroidAttr : public ChannelBase<CentroidAttr> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CentroidAttr)
  using ChannelBase::ChannelBase;
  static constexpr StringLiteral name = "rt.centroid";

  ChannelForm getForm() const { return ChannelForm::Weighted; }

  DecomposedChannel decompose(const DecomposeContext &c) const {
    auto type = cast<RankedTensorType>(c.keys.getType());
    Value sum = ReduceOp::create(
        c.builder, c.loc,
        getTypeLike(c.weights, {0, 1}, {type.getDimSize(2)}, c.element),
        c.weights, c.keys, FloatAttr());
    return {sum, {}};
  }

  Value finish(ElementBuilder &b, const RowValues &,
               const ParameterValues &) const {
    return b.constant(1);
  }

  /// dw = G . k; its mean under w, G . value, is subtracted here.
  RowGradient prepareGradient(ElementBuilder &b, const GradientRow &row,
                              const ParameterValues &) const {
    return {{}, row.along, {}, {}};
  }
};

} // namespace

void raytention::registerCentroidChannel(RayTentionDialect &dialect) {
  dialect.addChannel<CentroidAttr>();
}
