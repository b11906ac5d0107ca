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

// -----

// A sum in a branch: its loop would be made outside, for the other branch too.
#left = affine_map<(b, c, i, d, j) -> (b, c, i, j)>
#right = affine_map<(b, c, i, d, j) -> (b, j, d)>
#out = affine_map<(b, c, i, d, j) -> (b, c, i, d)>
func.func @branch(%w: tensor<?x1x?x?xf32>, %k: tensor<?x?x8xf32>, %zeros: tensor<?x1x?x8xf32>, %holds: i1) -> tensor<?x1x?x8xf32> {
  %sums = scf.if %holds -> (tensor<?x1x?x8xf32>) {
    // expected-error @+1 {{'linalg.contract' op cannot be tiled in a branch; expected it outside of scf.if, or in a parallel loop}}
    %s = linalg.contract indexing_maps = [#left, #right, #out] ins(%w, %k : tensor<?x1x?x?xf32>, tensor<?x?x8xf32>) outs(%zeros : tensor<?x1x?x8xf32>) -> tensor<?x1x?x8xf32>
    scf.yield %s : tensor<?x1x?x8xf32>
  } else {
    scf.yield %zeros : tensor<?x1x?x8xf32>
  }
  return %sums : tensor<?x1x?x8xf32>
}
