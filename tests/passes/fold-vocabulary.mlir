// RUN: rt-opt %s --rt-to-sweeps --rt-fold-vocabulary | FileCheck %s
// RUN: rt-opt %s --rt-to-sweeps --rt-fold-vocabulary=chunk=16 | FileCheck %s --check-prefix=GIVEN
// RUN: rt-opt %s --rt-stream --rt-bufferize --rt-lower-to-cpu | FileCheck %s --check-prefix=CPU
// RUN: sed 's/?x?x/1x100x/g; s/tensor<?xi64>/tensor<1xi64>/g' %s | rt-opt --rt-stream --rt-bufferize --rt-lower-to-cpu | FileCheck %s --check-prefix=CPU

// The list of what lies before a chunk of rows goes from chunk to chunk, and
// both sweeps go over it, and then over the chunk's own keys.
// CHECK-LABEL: func.func @folded(
// CHECK: %[[SLOTS:.*]], %[[TOKENS:.*]], %[[SEEN:.*]] = rt.distinct %{{.*}} of
// CHECK: scf.for %{{.*}} step %c64 iter_args({{.*}}, %[[AT0:.*]] = %{{.*}}, %[[OF0:.*]] = %{{.*}})
// CHECK: %[[AT:.*]], %[[OF:.*]] = rt.fold_keys [#rt.top<2>, #rt.decay<backward, 0>] ins(%[[SLOTS]]
// CHECK-SAME: outs(%[[AT0]], %[[OF0]]
// CHECK: tensor.extract %[[SEEN]]
// CHECK: %[[PAST:.*]] = tensor.extract_slice %[[TOKENS]]
// CHECK: rt.lookup %{{.*}}[%[[PAST]]]
// CHECK: %[[FAR:.*]] = rt.distance
// CHECK-DAG: %[[ATS:.*]] = tensor.extract_slice %[[AT]]
// CHECK-DAG: %[[OFS:.*]] = tensor.extract_slice %[[OF]]
// CHECK: %[[NEAR:.*]] = rt.distance
// CHECK: %[[F0:.*]], %[[P0:.*]] = rt.score_sweep {{.*}} ins(%[[FAR]], {{.*}} positions(%[[ATS]] {{.*}} masses(%[[OFS]]
// CHECK: %[[F:.*]], %[[P:.*]] = rt.score_sweep {{.*}} ins(%[[NEAR]], {{.*}} lengths({{.*}} outs(%[[F0]], %[[P0]]
// CHECK: rt.reduce_sweep {{.*}} ins(%[[FAR]], %[[F]], {{.*}} positions(%[[ATS]] {{.*}} masses(%[[OFS]]
// CHECK: rt.reduce_sweep {{.*}} ins(%[[NEAR]], %[[F]],
// CHECK: rt.finalize

// GIVEN: scf.for %{{.*}} step %c16 iter_args

// A host loop around the tasks; lists of at most as many tokens as positions.
// CPU-LABEL: func.func @folded(
// CPU: scf.for
// CPU: scf.forall
func.func @folded(%q: tensor<?x?x8xf32>, %table: tensor<?x8xf32>, %ids: tensor<?x?xi32>, %tau: tensor<f32>, %g: tensor<1xf32>, %len: tensor<?xi64>) -> tensor<?x?x16xf32>
    attributes {rt.schedule = #rt.schedule<query_tile = 16, key_chunk = 32, split_keys = 1, scores = keep, fold_chunk = 64>} {
  %y = rt.attend [#rt.top<2>, #rt.decay<backward, 0>]
    queries(%q : tensor<?x?x8xf32>) lookup(%table[%ids] : tensor<?x8xf32>, tensor<?x?xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) lengths(%len : tensor<?xi64>) -> tensor<?x?x16xf32>
  return %y : tensor<?x?x16xf32>
}
