// RUN: rt-opt %s --rt-to-linalg -split-input-file -verify-diagnostics

func.func @attend(%q: tensor<1x4x8xf32>, %t: tensor<9x8xf32>, %ids: tensor<1x4xi32>, %tau: tensor<f32>, %g: tensor<0xf32>) -> tensor<1x4x8xf32> {
  // expected-error @+1 {{expected reference ops only, got rt.attend, which rt-to-linalg does not lower}}
  %y = rt.attend [#rt.centroid] queries(%q : tensor<1x4x8xf32>) lookup(%t[%ids] : tensor<9x8xf32>, tensor<1x4xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) -> tensor<1x4x8xf32>
  return %y : tensor<1x4x8xf32>
}

// -----

func.func @streaming(%b: index) -> tensor<?x?x3xf32> {
  // expected-error @+1 {{expected reference ops only, got rt.init, which rt-to-linalg does not lower}}
  %f, %i = rt.init <score> [#rt.top<1>] (%b, %b) : tensor<?x?x3xf32>, tensor<?x?x1xi32>
  return %f : tensor<?x?x3xf32>
}
