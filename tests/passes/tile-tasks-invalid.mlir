// RUN: rt-opt %s --rt-to-sweeps --rt-tile-tasks -split-input-file -verify-diagnostics

// expected-error @+1 {{expected rt.schedule to be #rt.schedule, got 32 : i64}}
func.func @schedule(%q: tensor<2x8x4xf32>, %table: tensor<9x4xf32>, %ids: tensor<2x8xi32>, %tau: tensor<f32>, %g: tensor<1xf32>) -> tensor<2x8x5xf32> attributes {rt.schedule = 32 : i64} {
  %y = rt.attend [#rt.centroid, #rt.entropy]
    queries(%q : tensor<2x8x4xf32>) lookup(%table[%ids] : tensor<9x4xf32>, tensor<2x8xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) -> tensor<2x8x5xf32>
  return %y : tensor<2x8x5xf32>
}

// -----

// Products first: loops have no place for a sweep that adds up two things.
func.func @whole(%q: tensor<2x8x4xf32>, %table: tensor<9x4xf32>, %ids: tensor<2x8xi32>, %tau: tensor<f32>, %g: tensor<1xf32>) -> tensor<2x8x5xf32> {
  // expected-error @+1 {{'rt.reduce_sweep' op cannot be tiled; expected its products apart (--rt-fuse-channels, --rt-fuse-gradient)}}
  %y = rt.attend [#rt.centroid, #rt.entropy]
    queries(%q : tensor<2x8x4xf32>) lookup(%table[%ids] : tensor<9x4xf32>, tensor<2x8xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) -> tensor<2x8x5xf32>
  return %y : tensor<2x8x5xf32>
}

// -----

func.func @whole_gradient(%q: tensor<?x?x4xf32>, %t: tensor<?x4xf32>, %ids: tensor<?x?xi32>, %tau: tensor<f32>, %g: tensor<1xf32>, %off: index, %len: tensor<?xi64>, %y: tensor<?x?x9xf32>, %n: tensor<?x?xf32>, %x: tensor<?x?x1xi32>, %l: tensor<?x?x5xf32>, %dy: tensor<?x?x9xf32>) -> (tensor<?x?x4xf32>, tensor<?x4xf32>, tensor<f32>, tensor<1xf32>) {
  // expected-error @+1 {{'rt.query_grad_sweep' op cannot be tiled; expected its products apart (--rt-fuse-channels, --rt-fuse-gradient)}}
  %r:4 = rt.attend_grad [#rt.decay<backward, 0>, #rt.top<1>, #rt.entropy]
    queries(%q : tensor<?x?x4xf32>) lookup(%t[%ids] : tensor<?x4xf32>, tensor<?x?xi32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) offset(%off) lengths(%len : tensor<?xi64>)
    saved(%y, %n, %x, %l : tensor<?x?x9xf32>, tensor<?x?xf32>, tensor<?x?x1xi32>, tensor<?x?x5xf32>)
    gradient(%dy : tensor<?x?x9xf32>) -> tensor<?x?x4xf32>, tensor<?x4xf32>, tensor<f32>, tensor<1xf32>
  return %r#0, %r#1, %r#2, %r#3 : tensor<?x?x4xf32>, tensor<?x4xf32>, tensor<f32>, tensor<1xf32>
}
