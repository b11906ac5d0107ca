// RUN: rt-opt %s --canonicalize | FileCheck %s

// A constant decay base of 1 is the centroid; other bases stay as they are.
// CHECK-LABEL: @constant_gammas
func.func @constant_gammas(%q: tensor<1x?x8xf32>, %table: tensor<?x8xf32>, %ids: tensor<1x?xi32>, %tau: tensor<f32>) -> tensor<1x?x24xf32> {
  // CHECK: rt.attend [#rt.centroid, #rt.decay<backward, 1>, #rt.centroid]
  %g = arith.constant dense<[1.0, 0.5]> : tensor<2xf32>
  %y = rt.attend [#rt.decay<forward, 0>, #rt.decay<backward, 1>, #rt.decay<backward, 0>]
    queries(%q : tensor<1x?x8xf32>) lookup(%table[%ids] : tensor<?x8xf32>, tensor<1x?xi32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<2xf32>) -> tensor<1x?x24xf32>
  return %y : tensor<1x?x24xf32>
}

// A learnable base keeps its channel: its gradient needs it.
// CHECK-LABEL: @learnable_gammas
func.func @learnable_gammas(%q: tensor<1x?x8xf32>, %table: tensor<?x8xf32>, %ids: tensor<1x?xi32>, %tau: tensor<f32>, %g: tensor<1xf32>) -> tensor<1x?x8xf32> {
  // CHECK: rt.attend [#rt.decay<forward, 0>]
  %y = rt.attend [#rt.decay<forward, 0>]
    queries(%q : tensor<1x?x8xf32>) lookup(%table[%ids] : tensor<?x8xf32>, tensor<1x?xi32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) -> tensor<1x?x8xf32>
  return %y : tensor<1x?x8xf32>
}
