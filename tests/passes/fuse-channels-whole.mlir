// RUN: rt-opt %s --rt-to-sweeps --rt-fuse-channels | FileCheck %s
// RUN: not rt-opt %s --rt-to-sweeps --rt-tile-queries --rt-fuse-channels --rt-bufferize --rt-lower-to-cpu 2>&1 | FileCheck %s --check-prefix=CPU

// Products stand on whole tensors before there are loops; the CPU wants chunks.
// CHECK-LABEL: @whole
// CHECK: %[[P:.*]] = rt.weigh {{.*}} -> tensor<?x1x?x?xf32>
// CHECK: linalg.contract {{.*}} ins(%[[P]], %{{.*}} : tensor<?x1x?x?xf32>, tensor<?x?x4xf32>)
// CHECK: rt.reduce_sweep
// CHECK-NOT: keys
// CPU: error: 'rt.lookup' op expected axis 1 of 'tensor<1x?xi32>' to be bounded by a constant, as the tiling passes leave it
func.func @whole(%q: tensor<?x?x4xf32>, %table: tensor<?x4xf32>, %ids: tensor<?x?xi32>, %tau: tensor<f32>, %g: tensor<1xf32>, %off: index, %len: tensor<?xi64>) -> tensor<?x?x5xf32> {
  %y = rt.attend [#rt.centroid, #rt.entropy]
    queries(%q : tensor<?x?x4xf32>) lookup(%table[%ids] : tensor<?x4xf32>, tensor<?x?xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) offset(%off) lengths(%len : tensor<?xi64>) -> tensor<?x?x5xf32>
  return %y : tensor<?x?x5xf32>
}
