// RUN: rt-opt %s --rt-to-sweeps --rt-fuse-channels --rt-tile-tasks --rt-chunk-keys --rt-bufferize --rt-lower-to-cpu -split-input-file -verify-diagnostics

// Not fused: the weighted sums are still inside the sweep.
func.func @unfused(%q: tensor<1x?x16xf32>, %table: tensor<?x16xf32>, %ids: tensor<1x?xi32>, %tau: tensor<f32>, %g: tensor<1xf32>) -> tensor<1x?x16xf32> {
  // expected-error @+1 {{expected weighted sums as a product of their own (--rt-fuse-channels)}}
  %y = rt.attend [#rt.centroid]
    queries(%q : tensor<1x?x16xf32>) lookup(%table[%ids] : tensor<?x16xf32>, tensor<1x?xi32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) -> tensor<1x?x16xf32>
  return %y : tensor<1x?x16xf32>
}
