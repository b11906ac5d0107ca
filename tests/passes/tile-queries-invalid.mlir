// RUN: rt-opt %s --rt-to-sweeps --rt-tile-queries -split-input-file -verify-diagnostics

// expected-error @+1 {{expected rt.schedule to be #rt.schedule, got 32 : i64}}
func.func @schedule(%q: tensor<2x8x4xf32>, %table: tensor<9x4xf32>, %ids: tensor<2x8xi32>, %tau: tensor<f32>, %g: tensor<1xf32>) -> tensor<2x8x5xf32> attributes {rt.schedule = 32 : i64} {
  %y = rt.attend [#rt.centroid, #rt.entropy]
    queries(%q : tensor<2x8x4xf32>) lookup(%table[%ids] : tensor<9x4xf32>, tensor<2x8xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) -> tensor<2x8x5xf32>
  return %y : tensor<2x8x5xf32>
}

// -----

func.func @opaque(%sf: tensor<2x8x2xf32>, %sp: tensor<2x8x0xi32>, %rf: tensor<2x8x0xf32>, %rp: tensor<2x8x0xi32>, %s: tensor<2x1x8x4xf32>, %table: tensor<9x4xf32>, %ids: tensor<2x8xi32>, %tau: tensor<f32>, %g: tensor<1xf32>, %y: tensor<2x8x4xf32>, %n: tensor<2x8xf32>, %x: tensor<2x8x0xi32>, %row: index) -> tensor<2x8x4xf32> {
  // expected-error @+1 {{expected its states from rt.score_sweep and rt.reduce_sweep with sums}}
  %r:3 = rt.finalize [#rt.centroid] of [#rt.centroid] score(%sf, %sp : tensor<2x8x2xf32>, tensor<2x8x0xi32>) reduce(%rf, %rp, %s : tensor<2x8x0xf32>, tensor<2x8x0xi32>, tensor<2x1x8x4xf32>) lookup(%table[%ids] : tensor<9x4xf32>, tensor<2x8xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) at(%row) outs(%y, %n, %x : tensor<2x8x4xf32>, tensor<2x8xf32>, tensor<2x8x0xi32>)
  return %r#0 : tensor<2x8x4xf32>
}
