// RUN: rt-opt %s --rt-stream=query-tile=4 | FileCheck %s
// RUN: rt-opt %s --rt-stream=query-tile=4 --rt-fuse-channels | FileCheck %s
// RUN: rt-opt %s --rt-to-sweeps --canonicalize --rt-tile-queries=query-tile=4 --canonicalize --rt-chunk-keys --canonicalize --rt-fuse-channels --canonicalize | FileCheck %s

// CHECK-DAG: #[[WEIGHTS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
// CHECK-DAG: #[[KEYS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d4, d3)>
// CHECK-DAG: #[[SUMS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>

// CHECK-LABEL: func.func @scalar
func.func @scalar(%q: tensor<?x?x4xf32>, %table: tensor<?x4xf32>, %ids: tensor<?x?xi32>, %tau: tensor<f32>, %g: tensor<1xf32>, %off: index, %len: tensor<?xi64>) -> tensor<?x?x5xf32> {
  // CHECK: %[[L:.*]]:3 = scf.for %
  // CHECK: scf.for %[[J:.*]] = {{.*}} iter_args(%[[F:.*]] = %{{.*}}, %[[P:.*]] = %{{.*}}, %[[S:.*]] = %{{.*}})
  // CHECK: %[[D:.*]] = tensor.extract_slice %[[L]]#{{[0-9]}}
  // CHECK: %[[K:.*]] = rt.lookup
  // CHECK: %[[W:.*]] = rt.weigh {{.*}} ins(%[[D]], %[[L]]#0, {{.*}} at(%[[ROW:.*]], %[[J]]) -> tensor<1x1x?x?xf32>
  // CHECK: %[[S1:.*]] = linalg.contract indexing_maps = [#[[WEIGHTS]], #[[KEYS]], #[[SUMS]]] ins(%[[W]], %[[K]] {{.*}} outs(%[[S]]
  // CHECK: %[[F1:.*]], %[[P1:.*]] = rt.reduce_sweep {{.*}} ins(%[[D]], %[[L]]#0, {{.*}}) at(%[[ROW]], %[[J]]) outs(%[[F]], %[[P]] : tensor<1x?x2xf32>, tensor<1x?x0xi32>)
  // CHECK: scf.yield %[[F1]], {{.*}}%[[S1]]
  %y = rt.attend [#rt.centroid, #rt.entropy]
    queries(%q : tensor<?x?x4xf32>) lookup(%table[%ids] : tensor<?x4xf32>, tensor<?x?xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) offset(%off) lengths(%len : tensor<?xi64>) -> tensor<?x?x5xf32>
  return %y : tensor<?x?x5xf32>
}

// No scalar state: the product alone is left.
// CHECK-LABEL: func.func @weighted
func.func @weighted(%q: tensor<2x8x4xf32>, %table: tensor<9x4xf32>, %ids: tensor<2x8xi32>, %tau: tensor<f32>, %g: tensor<1xf32>) -> tensor<2x8x8xf32> {
  // CHECK: rt.weigh {{.*}} -> tensor<1x2x?x?xf32>
  // CHECK: linalg.contract
  // CHECK-NOT: rt.reduce_sweep
  // CHECK: rt.finalize
  %y = rt.attend [#rt.centroid, #rt.decay<forward, 0>]
    queries(%q : tensor<2x8x4xf32>) lookup(%table[%ids] : tensor<9x4xf32>, tensor<2x8xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) -> tensor<2x8x8xf32>
  return %y : tensor<2x8x8xf32>
}

// No weighted channel: the scalar sweep alone is left.
// CHECK-LABEL: func.func @entropy
func.func @entropy(%q: tensor<2x8x4xf32>, %table: tensor<9x4xf32>, %ids: tensor<2x8xi32>, %tau: tensor<f32>, %g: tensor<1xf32>) -> tensor<2x8x1xf32> {
  // CHECK-NOT: rt.weigh
  // CHECK-NOT: linalg.contract
  // CHECK: rt.reduce_sweep {{.*}} outs(%{{.*}}, %{{.*}} : tensor<1x?x2xf32>, tensor<1x?x0xi32>)
  // CHECK: rt.finalize
  %y = rt.attend [#rt.entropy]
    queries(%q : tensor<2x8x4xf32>) lookup(%table[%ids] : tensor<9x4xf32>, tensor<2x8xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) -> tensor<2x8x1xf32>
  return %y : tensor<2x8x1xf32>
}
