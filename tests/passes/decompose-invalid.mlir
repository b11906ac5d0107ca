// RUN: rt-opt %s --rt-decompose -split-input-file -verify-diagnostics

// What the op can say but nothing computes is named before any pass runs.
func.func @dot(%q: tensor<1x4x8xf32>, %t: tensor<9x8xf32>, %ids: tensor<1x4xi32>, %tau: tensor<f32>, %g: tensor<0xf32>) -> tensor<1x4x8xf32> {
  // expected-error @+1 {{C11: the metric dot is not supported yet}}
  %y = rt.attend [#rt.centroid] queries(%q : tensor<1x4x8xf32>) lookup(%t[%ids] : tensor<9x8xf32>, tensor<1x4xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) {metric = #rt.metric<dot>} -> tensor<1x4x8xf32>
  return %y : tensor<1x4x8xf32>
}

// -----

// The reference computes log-sums again instead of keeping them.
func.func @log_sums(%q: tensor<1x4x8xf32>, %t: tensor<9x8xf32>, %ids: tensor<1x4xi32>, %tau: tensor<f32>, %g: tensor<0xf32>) -> tensor<1x4x2xf32> {
  // expected-error @+2 {{saves log_sums, which the reference does not keep}}
  // expected-error @+1 {{failed to legalize operation 'rt.attend' that was explicitly marked illegal}}
  %y, %l = rt.attend [#rt.centroid] queries(%q : tensor<1x4x8xf32>) lookup(%t[%ids] : tensor<9x8xf32>, tensor<1x4xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) {saves = [#rt.saved<log_sums>]} -> tensor<1x4x8xf32> saves tensor<1x4x2xf32>
  return %l : tensor<1x4x2xf32>
}
