//===- AttentionBlock.cpp - the compiled attention on matrices ------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "examples/charlm/AttentionBlock.h"

namespace raytention::charlm {

template <typename Real>
Result<std::unique_ptr<Attention>>
AttentionBlock<Real>::compile(const ModelShape &shape, bool backward) {
  AttentionSpec spec;
  spec.dModel = shape.dModel;
  spec.dtype = sizeof(Real) == sizeof(double) ? DType::F64 : DType::F32;
  spec.channels = shape.channels;
  spec.numGammas = int64_t(shape.gammas.size());
  // Decays counted from the query: what a position sees does not depend on
  // how far the sequence goes on, in training as in generation.
  spec.decayOrigin = "query";
  CompileOptions options;
  options.backward = backward;
  return Attention::compile(spec, options);
}

template <typename Real>
static Inputs inputsOf(const Batch &batch, const ConstView<Real> &table,
                       const Scales &scales, const Matrix<Real> &queries) {
  Inputs inputs;
  inputs.batch = batch.sequences;
  inputs.numQueries = batch.queries;
  inputs.numKeys = batch.keys;
  inputs.queryOffset = batch.offset();
  inputs.vocab = table.rows();
  inputs.queries = queries.data();
  inputs.table = table.data();
  inputs.ids = batch.ids.data();
  inputs.tau = scales.tau;
  inputs.gammas = scales.gammas;
  return inputs;
}

template <typename Real>
Status AttentionBlock<Real>::forward(const Batch &batch, ConstView<Real> table,
                                     const Scales &scales,
                                     const Matrix<Real> &queries,
                                     Signals<Real> &out) {
  int64_t rows = batch.rows();
  out.signals.resize(rows, attention->signalWidth());
  out.norm.resize(size_t(rows));
  out.logSums.resize(size_t(rows * attention->numLogSums()));
  out.indices.resize(size_t(rows * attention->numIndices()));
  Outputs outputs;
  outputs.signals = out.signals.data();
  outputs.norm = out.norm.data();
  outputs.logSums = out.logSums.data();
  outputs.indices = out.indices.data();
  return attention
      ->run(inputsOf<Real>(batch, table, scales, queries), outputs, threads)
      .status();
}

template <typename Real>
Status AttentionBlock<Real>::backward(const Batch &batch, ConstView<Real> table,
                                      const Scales &scales,
                                      const Matrix<Real> &queries,
                                      const Signals<Real> &saved,
                                      const Matrix<Real> &dSignals,
                                      Gradients &out) {
  out.queries.resize(queries.rows(), queries.cols());
  out.table.resize(table.rows(), table.cols());
  out.gammas.resize(scales.gammas.size());
  Residuals residuals;
  residuals.signals = saved.signals.data();
  residuals.norm = saved.norm.data();
  residuals.indices = saved.indices.data();
  residuals.logSums = saved.logSums.data();
  raytention::Gradients gradients;
  gradients.queries = out.queries.data();
  gradients.table = out.table.data();
  gradients.tau = &out.tau;
  gradients.gammas = out.gammas.data();
  return attention
      ->runBackward(inputsOf<Real>(batch, table, scales, queries), residuals,
                    dSignals.data(), gradients, threads)
      .status();
}

template class AttentionBlock<float>;
template class AttentionBlock<double>;

} // namespace raytention::charlm
