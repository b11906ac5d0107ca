// RUN: rt-opt %s --rt-tile-keys -split-input-file -verify-diagnostics

func.func @opaque(%s: tensor<1x8x4xf32>, %k: tensor<1x8x4xf32>, %tau: tensor<f32>, %g: tensor<0xf32>, %c0: index, %c8: index) -> tensor<1x8x4xf32> {
  // expected-error @+1 {{expected its sums from rt.key_grad_sweep}}
  %r = rt.key_grad [#rt.centroid] (%s : tensor<1x8x4xf32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) at(%c0) of %c8 outs(%k : tensor<1x8x4xf32>)
  return %r : tensor<1x8x4xf32>
}

// -----

// expected-error @+1 {{expected rt.schedule to be #rt.schedule, got 32 : i64}}
func.func @schedule() attributes {rt.schedule = 32 : i64} {
  return
}
