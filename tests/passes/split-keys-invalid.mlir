// RUN: rt-opt %s --rt-to-sweeps --rt-fuse-channels --rt-tile-tasks --rt-split-keys=ways=-2 -verify-diagnostics

// expected-error @+1 {{expected a positive ways, got -2}}
func.func @negative(%q: tensor<2x8x4xf32>, %table: tensor<9x4xf32>, %ids: tensor<2x8xi32>, %tau: tensor<f32>, %g: tensor<1xf32>) -> tensor<2x8x5xf32> {
  %y = rt.attend [#rt.centroid, #rt.entropy]
    queries(%q : tensor<2x8x4xf32>) lookup(%table[%ids] : tensor<9x4xf32>, tensor<2x8xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) -> tensor<2x8x5xf32>
  return %y : tensor<2x8x5xf32>
}
