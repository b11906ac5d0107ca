// RUN: rt-opt %s --rt-to-sweeps --rt-fuse-channels --rt-chunk-keys -split-input-file -verify-diagnostics

// expected-error @+1 {{expected rt.schedule to be #rt.schedule, got "fast"}}
func.func @schedule(%q: tensor<2x8x4xf32>, %table: tensor<9x4xf32>, %ids: tensor<2x8xi32>, %tau: tensor<f32>, %g: tensor<1xf32>) -> tensor<2x8x5xf32> attributes {rt.schedule = "fast"} {
  %y = rt.attend [#rt.centroid, #rt.entropy]
    queries(%q : tensor<2x8x4xf32>) lookup(%table[%ids] : tensor<9x4xf32>, tensor<2x8xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) -> tensor<2x8x5xf32>
  return %y : tensor<2x8x5xf32>
}

// -----

// expected-error @+1 {{expected positive query_tile, key_chunk and split_keys, got 32, 0, 1}}
func.func @empty(%q: tensor<2x8x4xf32>, %table: tensor<9x4xf32>, %ids: tensor<2x8xi32>, %tau: tensor<f32>, %g: tensor<1xf32>) -> tensor<2x8x5xf32> attributes {rt.schedule = #rt.schedule<query_tile = 32, key_chunk = 0, split_keys = 1, scores = keep>} {
  %y = rt.attend [#rt.centroid, #rt.entropy]
    queries(%q : tensor<2x8x4xf32>) lookup(%table[%ids] : tensor<9x4xf32>, tensor<2x8xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) -> tensor<2x8x5xf32>
  return %y : tensor<2x8x5xf32>
}
