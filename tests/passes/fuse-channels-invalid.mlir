// RUN: rt-opt %s --rt-to-sweeps --rt-tile-queries --rt-fuse-channels -verify-diagnostics

// Weights of all keys at once are not stacked.
func.func @unchunked(%q: tensor<?x?x4xf32>, %table: tensor<?x4xf32>, %ids: tensor<?x?xi32>, %tau: tensor<f32>, %g: tensor<1xf32>, %off: index, %len: tensor<?xi64>) -> tensor<?x?x5xf32> {
  // expected-error @+1 {{expected a chunk of keys with a constant bound (run --rt-chunk-keys), got distances of type 'tensor<1x?x?xf32>'}}
  %y = rt.attend [#rt.centroid, #rt.entropy]
    queries(%q : tensor<?x?x4xf32>) lookup(%table[%ids] : tensor<?x4xf32>, tensor<?x?xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) offset(%off) lengths(%len : tensor<?xi64>) -> tensor<?x?x5xf32>
  return %y : tensor<?x?x5xf32>
}
