// RUN: rt-opt %s --rt-to-sweeps -split-input-file -verify-diagnostics

// What the sweeps cannot compute is refused at rt.attend, by name.
func.func @window(%q: tensor<2x5x4xf32>, %table: tensor<9x4xf32>, %ids: tensor<2x5xi32>, %tau: tensor<f32>, %g: tensor<0xf32>) -> tensor<2x5x4xf32> {
  // expected-error @+1 {{C11}}
  %y = rt.attend [#rt.centroid]
    queries(%q : tensor<2x5x4xf32>) lookup(%table[%ids] : tensor<9x4xf32>, tensor<2x5xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) {mask = #rt.window<3>} -> tensor<2x5x4xf32>
  return %y : tensor<2x5x4xf32>
}

// -----

func.func @dot(%q: tensor<2x5x4xf32>, %table: tensor<9x4xf32>, %ids: tensor<2x5xi32>, %tau: tensor<f32>, %g: tensor<0xf32>) -> tensor<2x5x4xf32> {
  // expected-error @+1 {{C11: the metric dot is not supported yet}}
  %y = rt.attend [#rt.centroid]
    queries(%q : tensor<2x5x4xf32>) lookup(%table[%ids] : tensor<9x4xf32>, tensor<2x5xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) {metric = #rt.metric<dot>} -> tensor<2x5x4xf32>
  return %y : tensor<2x5x4xf32>
}
