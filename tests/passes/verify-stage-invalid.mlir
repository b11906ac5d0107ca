// RUN: rt-opt %s --rt-verify-stage=stage=sweeps -split-input-file -verify-diagnostics

func.func @early(%q: tensor<?x?x4xf32>, %table: tensor<?x4xf32>, %ids: tensor<?x?xi32>, %tau: tensor<f32>, %g: tensor<1xf32>, %off: index, %len: tensor<?xi64>) -> tensor<?x?x5xf32> {
  // expected-error @+1 {{'rt.attend' op is not legal at stage sweeps}}
  %y = rt.attend [#rt.centroid, #rt.entropy]
    queries(%q : tensor<?x?x4xf32>) lookup(%table[%ids] : tensor<?x4xf32>, tensor<?x?xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) offset(%off) lengths(%len : tensor<?xi64>) -> tensor<?x?x5xf32>
  return %y : tensor<?x?x5xf32>
}

// -----

func.func @other(%x: f32) -> f32 {
  // expected-error @+1 {{'math.exp' op is not legal at stage sweeps}}
  %y = math.exp %x : f32
  return %y : f32
}
