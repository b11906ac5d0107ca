// RUN: rt-opt %s --rt-verify-stage=stage=attention --rt-to-sweeps --rt-verify-stage=stage=sweeps --rt-fuse-channels --rt-fuse-gradient --rt-verify-stage=stage=products --rt-tile-tasks --rt-split-keys=ways=2 --rt-chunk-keys --rt-verify-stage=stage=tiled | FileCheck %s
// RUN: rt-opt %s --rt-differentiate --rt-verify-stage=stage=attention --rt-to-sweeps --rt-verify-stage=stage=sweeps --rt-fuse-channels --rt-fuse-gradient --rt-verify-stage=stage=products --rt-tile-tasks --rt-chunk-keys --rt-verify-stage=stage=tiled | FileCheck %s
// RUN: not rt-opt %s --rt-to-sweeps --rt-fuse-channels --rt-verify-stage=stage=sweeps 2>&1 | FileCheck %s --check-prefix=EARLY
// RUN: not rt-opt %s --rt-differentiate --rt-to-sweeps --rt-fuse-channels --rt-verify-stage=stage=products 2>&1 | FileCheck %s --check-prefix=WHOLE

// EARLY: error: 'rt.weigh' op is not legal at stage sweeps
// WHOLE: error: 'rt.query_grad_sweep' op is not legal at stage products

// CHECK-LABEL: func.func @stages
// CHECK: linalg.contract
func.func @stages(%q: tensor<?x?x4xf32>, %table: tensor<?x4xf32>, %ids: tensor<?x?xi32>, %tau: tensor<f32>, %g: tensor<1xf32>, %off: index, %len: tensor<?xi64>) -> tensor<?x?x5xf32> {
  %y = rt.attend [#rt.centroid, #rt.entropy]
    queries(%q : tensor<?x?x4xf32>) lookup(%table[%ids] : tensor<?x4xf32>, tensor<?x?xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) offset(%off) lengths(%len : tensor<?xi64>) -> tensor<?x?x5xf32>
  return %y : tensor<?x?x5xf32>
}
