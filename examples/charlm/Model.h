//===- Model.h - the language model, its loss and its gradient --*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_EXAMPLES_CHARLM_MODEL_H
#define RAYTENTION_EXAMPLES_CHARLM_MODEL_H

#include "examples/charlm/Layer.h"

namespace raytention::charlm {

/// Table lookup, layers, tied head. Its results do not depend on the threads:
/// sums over rows are taken per shard and added in order.
template <typename Real> class Model {
public:
  /// `shape.signals` is that of the attention.
  Model(ModelShape shape, AttentionBlock<Real> attention, Shards &shards,
        uint64_t seed);

  /// Mean loss of the targets in nats.
  Result<double> loss(const Batch &batch);

  /// The same, and its gradient by all parameters, written to `gradient`.
  Result<double> lossAndGradient(const Batch &batch, Vector<Real> &gradient);

  /// [rows, vocab]: scores of the id that follows each row.
  Result<Matrix<Real>> logits(const Batch &batch);

  Scales scales(int64_t layer) const {
    return scalesOf(parameters.data(), layout.layers[size_t(layer)]);
  }

  const ModelShape shape;
  const Layout layout;
  Vector<Real> parameters;

private:
  ConstView<Real> table() const {
    return view(std::as_const(parameters).data(), layout.table);
  }
  /// All layers; the result is in `state`.
  Status forward(const Batch &batch);
  /// From `state` to the sum of the losses. Where `scale` is not 0, also
  /// dState and the shards' gradients, of the sum times `scale`.
  double head(const Batch &batch, Real scale);
  Status backward(const Batch &batch);
  Status layerBackward(const Batch &batch, Layer<Real> &layer);
  /// The lookup's share: row i is table[id].
  void lookupBackward(const Batch &batch);
  void sumShards(Vector<Real> &gradient);

  AttentionBlock<Real> attention;
  Shards &shards;
  std::vector<Layer<Real>> layers;
  Matrix<Real> state, dState;
  typename AttentionBlock<Real>::Gradients attentionGradients;
  /// One per shard, and at the end what is not summed over rows.
  std::vector<Vector<Real>> partial;
};

} // namespace raytention::charlm

#endif // RAYTENTION_EXAMPLES_CHARLM_MODEL_H
