//===- Model.cpp - the language model, its loss and its gradient ----------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "examples/charlm/Model.h"

#include "examples/charlm/Head.h"

namespace raytention::charlm {

template <typename Real>
Model<Real>::Model(ModelShape wanted, AttentionBlock<Real> block,
                   Shards &shards, uint64_t seed)
    : shape(std::move(wanted)), layout(shape),
      parameters(initialParameters<Real>(shape, layout, seed)),
      attention(std::move(block)), shards(shards),
      partial(size_t(Shards::count + 1)) {
  for (const Layout::Layer &slots : layout.layers)
    layers.emplace_back(slots);
}

template <typename Real> Status Model<Real>::forward(const Batch &batch) {
  const Real *all = parameters.data();
  state.resize(batch.rows(), shape.dModel);
  for (int64_t i = 0; i < batch.rows(); ++i)
    state.row(i) = table().row(batch.idOf(i));
  for (Layer<Real> &layer : layers) {
    layer.resize(batch.rows(), shape.dModel);
    layer.input.swap(state);
    state.resize(batch.rows(), shape.dModel);
    shards.forEach(batch.rows(),
                   [&](Shards::Range rows) { layer.formQueries(all, rows); });
    if (Status status =
            attention.forward(batch, table(), scalesOf(all, layer.slots),
                              layer.queries, layer.attended);
        !status.ok())
      return status;
    shards.forEach(batch.rows(),
                   [&](Shards::Range rows) { layer.finish(all, rows, state); });
  }
  return Status();
}

template <typename Real>
double Model<Real>::head(const Batch &batch, Real scale) {
  double losses[Shards::count] = {};
  dState.resize(state.rows(), state.cols());
  shards.forEach(batch.rows(), [&](Shards::Range rows) {
    auto own = state.middleRows(rows.begin, rows.size);
    Matrix<Real> logits = headLogits(parameters.data(), layout, own);
    losses[rows.shard] =
        crossEntropy(logits, llvm::ArrayRef<int32_t>(batch.targets)
                                 .slice(size_t(rows.begin), size_t(rows.size)));
    if (scale == 0)
      return;
    logits *= scale;
    Vector<Real> &gradient = partial[size_t(rows.shard)];
    gradient.setZero(parameters.size());
    headBackward(parameters.data(), layout, own, logits,
                 dState.middleRows(rows.begin, rows.size), gradient.data());
  });
  double sum = 0;
  for (double loss : losses)
    sum += loss;
  return sum;
}

template <typename Real>
Status Model<Real>::layerBackward(const Batch &batch, Layer<Real> &layer) {
  const Real *all = parameters.data();
  shards.forEach(batch.rows(), [&](Shards::Range rows) {
    layer.finishBackward(all, rows, dState, partial[size_t(rows.shard)].data());
  });
  Scales scales = scalesOf(all, layer.slots);
  auto &own = attentionGradients;
  if (Status status = attention.backward(batch, table(), scales, layer.queries,
                                         layer.attended, layer.dSignals, own);
      !status.ok())
    return status;
  shards.forEach(batch.rows(), [&](Shards::Range rows) {
    layer.formQueriesBackward(all, rows, own.queries, dState,
                              partial[size_t(rows.shard)].data());
  });
  Real *whole = partial.back().data();
  view(whole, layout.table) += own.table;
  view(whole, layer.slots.tau)(0) = Real(own.tau * scales.dTau);
  for (size_t i = 0; i < own.gammas.size(); ++i)
    view(whole, layer.slots.gammas)(int64_t(i)) =
        Real(own.gammas[i] * scales.dGammas[i]);
  return Status();
}

template <typename Real> void Model<Real>::lookupBackward(const Batch &batch) {
  auto dTable = view(partial.back().data(), layout.table);
  for (int64_t i = 0; i < batch.rows(); ++i)
    dTable.row(batch.idOf(i)) += dState.row(i);
}

template <typename Real> Status Model<Real>::backward(const Batch &batch) {
  partial.back().setZero(parameters.size());
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer)
    if (Status status = layerBackward(batch, *layer); !status.ok())
      return status;
  lookupBackward(batch);
  return Status();
}

template <typename Real> void Model<Real>::sumShards(Vector<Real> &gradient) {
  gradient.resize(parameters.size());
  shards.forEach(gradient.size(), [&](Shards::Range range) {
    auto sum = gradient.segment(range.begin, range.size);
    sum.setZero();
    for (const Vector<Real> &part : partial)
      sum += part.segment(range.begin, range.size);
  });
}

template <typename Real> Result<double> Model<Real>::loss(const Batch &batch) {
  if (Status status = forward(batch); !status.ok())
    return status;
  return head(batch, 0) / double(batch.rows());
}

template <typename Real>
Result<double> Model<Real>::lossAndGradient(const Batch &batch,
                                            Vector<Real> &gradient) {
  if (Status status = forward(batch); !status.ok())
    return status;
  double sum = head(batch, Real(1.0 / double(batch.rows())));
  if (Status status = backward(batch); !status.ok())
    return status;
  sumShards(gradient);
  return sum / double(batch.rows());
}

template <typename Real>
Result<Matrix<Real>> Model<Real>::logits(const Batch &batch) {
  if (Status status = forward(batch); !status.ok())
    return status;
  return headLogits(parameters.data(), layout, state);
}

template class Model<float>;
template class Model<double>;

} // namespace raytention::charlm
