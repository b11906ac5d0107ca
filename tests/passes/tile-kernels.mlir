// RUN: rt-opt %s --rt-to-sweeps --rt-fuse-channels --rt-tile-kernels | FileCheck %s
// RUN: rt-opt %s --rt-to-sweeps --rt-fuse-channels --rt-tile-kernels --rt-tile-kernels | FileCheck %s
// RUN: rt-opt %s --rt-to-sweeps --rt-fuse-channels --rt-tile-kernels=query-chunk=64 | FileCheck %s --check-prefix=CHUNK
// RUN: sed "s/family = stored/family = stored, query_chunk = 64/" %s | rt-opt --rt-to-sweeps --rt-fuse-channels --rt-tile-kernels | FileCheck %s --check-prefix=CHUNK
// RUN: rt-opt %s --rt-to-sweeps --rt-fuse-channels --rt-tile-kernels=query-chunk=64 --rt-tile-kernels=query-chunk=32 | FileCheck %s --check-prefix=CHUNK

// CHECK-LABEL: func.func @stored
// CHECK-SAME: %[[Q:.*]]: tensor<1x?x8xf32>, %[[TABLE:.*]]: tensor<?x8xf32>, %[[IDS:.*]]: tensor<1x?xi32>
// CHECK-SAME: %[[OFF:[a-z0-9]*]]: index, %[[LEN:[a-z0-9]*]]: tensor<1xi64>
// CHECK: scf.forall {{.*}} step (1, 32)
// CHECK: rt.lookup
// CHECK: scf.forall {{.*}} step (1, 16, 32)
// CHECK: rt.distance
// What starts a state belongs to its sweep.
// CHECK: scf.forall {{.*}} step (1, 16) shared_outs
// CHECK: rt.init <score>
// CHECK: rt.score_sweep
// CHECK: %[[W:.*]] = scf.forall {{.*}} step (1, 16, 32)
// CHECK: rt.weigh
// A sum ends behind the last key that a row of its tile sees.
// CHECK: scf.forall (%[[B:.*]], %[[SLOT:.*]], %[[I:.*]], %{{.*}}) = {{.*}} step (1, 1, 16, 32)
// CHECK: %[[TILE:.*]] = tensor.extract_slice %[[W]][%[[B]], %[[SLOT]], %[[I]], 0] [1, 1, %[[ROWS:.*]], %{{.*}}] [1, 1, 1, 1]
// CHECK: linalg.fill
// CHECK: %[[ROW:.*]] = arith.addi %[[OFF]], %[[I]]
// CHECK: %[[OWN:.*]] = tensor.extract %[[LEN]][%[[B]]]
// CHECK: %[[LENGTH:.*]] = arith.index_cast %[[OWN]]
// CHECK: %[[BOUND:.*]] = arith.minsi %[[LENGTH]]
// CHECK: %[[END:.*]] = arith.addi %[[ROW]], %[[ROWS]]
// CHECK: arith.minsi %[[END]], %[[BOUND]]
// CHECK: %[[SOME:.*]] = tensor.extract_slice %[[TILE]][0, 0, 0, 0] [1, 1, %[[ROWS]], %[[SEEN:.*]]] [
// CHECK: %[[KEYS:.*]] = tensor.extract_slice %{{.*}}[0, 0, 0] [1, %[[SEEN]], %{{.*}}]
// CHECK: linalg.contract {{.*}} ins(%[[SOME]], %[[KEYS]] :
// No slice of a state without fields.
// CHECK: scf.forall {{.*}} step (1, 16) shared_outs
// CHECK: rt.init <reduce>
// CHECK: rt.reduce_sweep
// CHECK-NOT: tensor.parallel_insert_slice {{.*}} : tensor<1x?x0xi32>
// CHECK: scf.forall {{.*}} step (1, 16) shared_outs
// CHECK: rt.finalize

// All but the lookup of keys for a chunk of rows; what passes between kernels
// is as large.
// CHUNK-LABEL: func.func @stored
// CHUNK: rt.lookup
// CHUNK-NOT: rt.distance
// CHUNK: scf.for %[[C:.*]] = %c0 to %[[TQ:.*]] step %c64
// CHUNK: %[[LEFT:.*]] = arith.subi %[[TQ]], %[[C]]
// CHUNK: %[[N:.*]] = arith.minsi %[[LEFT]]
// CHUNK: tensor.empty(%[[N]], %{{.*}}) : tensor<1x?x?xf32>
// CHUNK: scf.forall {{.*}} to (1, %[[N]], %{{.*}}) step (1, 16, 32)
// CHUNK: rt.distance
// CHUNK: rt.score_sweep
// CHUNK: tensor.empty(%[[N]]) : tensor<1x1x?x8xf32>
// CHUNK: linalg.contract
// CHUNK: rt.finalize
// CHUNK-NOT: scf.for %
func.func @stored(%q: tensor<1x?x8xf32>, %table: tensor<?x8xf32>, %ids: tensor<1x?xi32>, %tau: tensor<f32>, %g: tensor<0xf32>, %off: index, %len: tensor<1xi64>) -> tensor<1x?x9xf32>
    attributes {rt.schedule = #rt.schedule<query_tile = 16, key_chunk = 32, split_keys = 1, scores = keep, family = stored>} {
  %y = rt.attend [#rt.centroid, #rt.entropy]
    queries(%q : tensor<1x?x8xf32>) lookup(%table[%ids] : tensor<?x8xf32>, tensor<1x?xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) offset(%off) lengths(%len : tensor<1xi64>) -> tensor<1x?x9xf32>
  return %y : tensor<1x?x9xf32>
}

// Without a weighted channel there is no sum.
// CHUNK-LABEL: func.func @no_sum
// CHECK-LABEL: func.func @no_sum
// CHECK: rt.score_sweep
// CHECK-NOT: linalg
// CHECK: rt.finalize
func.func @no_sum(%q: tensor<1x?x8xf32>, %table: tensor<?x8xf32>, %ids: tensor<1x?xi32>, %tau: tensor<f32>, %g: tensor<0xf32>) -> tensor<1x?x8xf32>
    attributes {rt.schedule = #rt.schedule<query_tile = 16, key_chunk = 32, split_keys = 1, scores = keep, family = stored>} {
  %y = rt.attend [#rt.antitop]
    queries(%q : tensor<1x?x8xf32>) lookup(%table[%ids] : tensor<?x8xf32>, tensor<1x?xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) -> tensor<1x?x8xf32>
  return %y : tensor<1x?x8xf32>
}

// The other family is left alone.
// CHECK-LABEL: func.func @fused
// CHECK-NOT: scf.forall
func.func @fused(%q: tensor<1x?x8xf32>, %table: tensor<?x8xf32>, %ids: tensor<1x?xi32>, %tau: tensor<f32>, %g: tensor<0xf32>) -> tensor<1x?x8xf32> {
  %y = rt.attend [#rt.centroid]
    queries(%q : tensor<1x?x8xf32>) lookup(%table[%ids] : tensor<?x8xf32>, tensor<1x?xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) -> tensor<1x?x8xf32>
  return %y : tensor<1x?x8xf32>
}
