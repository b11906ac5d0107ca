// RUN: rt-opt %s --rt-to-sweeps --rt-fuse-channels | FileCheck %s
// RUN: rt-opt %s --rt-to-sweeps --rt-fuse-channels --rt-fuse-channels | FileCheck %s
// RUN: rt-opt %s --rt-to-sweeps --canonicalize --rt-fuse-channels --canonicalize | FileCheck %s
// RUN: not rt-opt %s --rt-to-sweeps --rt-fuse-channels --rt-tile-tasks --rt-bufferize --rt-lower-to-cpu 2>&1 | FileCheck %s --check-prefix=CPU

// Products stand on whole tensors before there are loops; the CPU wants chunks.
// CPU: error: 'rt.lookup' op expected axis 1 of 'tensor<1x?xi32>' to be bounded by a constant, as the tiling passes leave it

// CHECK-DAG: #[[WEIGHTS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
// CHECK-DAG: #[[KEYS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d4, d3)>
// CHECK-DAG: #[[SUMS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>

// CHECK-LABEL: func.func @scalar
func.func @scalar(%q: tensor<?x?x4xf32>, %table: tensor<?x4xf32>, %ids: tensor<?x?xi32>, %tau: tensor<f32>, %g: tensor<1xf32>, %off: index, %len: tensor<?xi64>) -> tensor<?x?x5xf32> {
  // CHECK: %[[K:.*]] = rt.lookup
  // CHECK: %[[D:.*]] = rt.distance %{{.*}}, %[[K]]
  // CHECK: %[[F:.*]], %{{.*}} = rt.score_sweep
  // CHECK: %[[S0:.*]] = linalg.fill
  // CHECK: %[[W:.*]] = rt.weigh {{.*}} ins(%[[D]], %[[F]], {{.*}} at(%[[ROW:.*]], %[[KEY:.*]]) lengths(%[[LEN:.*]] : tensor<?xi64>) -> tensor<?x1x?x?xf32>
  // CHECK: %[[S:.*]] = linalg.contract indexing_maps = [#[[WEIGHTS]], #[[KEYS]], #[[SUMS]]] ins(%[[W]], %[[K]] : tensor<?x1x?x?xf32>, tensor<?x?x4xf32>) outs(%[[S0]]
  // CHECK: %[[RF:.*]], %[[RP:.*]] = rt.reduce_sweep {{.*}} ins(%[[D]], %[[F]], {{[^)]*}}) at(%[[ROW]], %[[KEY]]) lengths(%[[LEN]] : tensor<?xi64>) outs(%{{.*}}, %{{.*}} : tensor<?x?x2xf32>, tensor<?x?x0xi32>){{$}}
  // CHECK: rt.finalize {{.*}} reduce(%[[RF]], %[[RP]], %[[S]]
  %y = rt.attend [#rt.centroid, #rt.entropy]
    queries(%q : tensor<?x?x4xf32>) lookup(%table[%ids] : tensor<?x4xf32>, tensor<?x?xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) offset(%off) lengths(%len : tensor<?xi64>) -> tensor<?x?x5xf32>
  return %y : tensor<?x?x5xf32>
}

// No scalar state: the product alone is left.
// CHECK-LABEL: func.func @weighted
func.func @weighted(%q: tensor<2x8x4xf32>, %table: tensor<9x4xf32>, %ids: tensor<2x8xi32>, %tau: tensor<f32>, %g: tensor<1xf32>) -> tensor<2x8x8xf32> {
  // CHECK: rt.weigh {{.*}} -> tensor<2x2x8x8xf32>
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
  // CHECK: rt.reduce_sweep {{.*}} outs(%{{.*}}, %{{.*}} : tensor<2x8x2xf32>, tensor<2x8x0xi32>){{$}}
  // CHECK: rt.finalize
  %y = rt.attend [#rt.entropy]
    queries(%q : tensor<2x8x4xf32>) lookup(%table[%ids] : tensor<9x4xf32>, tensor<2x8xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) -> tensor<2x8x1xf32>
  return %y : tensor<2x8x1xf32>
}
