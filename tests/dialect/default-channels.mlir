// RUN: rt-opt %s | rt-opt | FileCheck %s

// The default channels of RayTention, with all saved results.
// CHECK-LABEL: @attend
// CHECK: rt.attend
// CHECK-SAME: -> tensor<?x?x642xf32> saves tensor<?x?xf32>, tensor<?x?x4xi32>
func.func @attend(%q: tensor<?x?x64xf32>, %table: tensor<?x64xf32>, %ids: tensor<?x?xi32>, %tau: tensor<f32>, %g: tensor<5xf32>, %off: index, %len: tensor<?xi64>) -> (tensor<?x?x642xf32>, tensor<?x?xf32>, tensor<?x?x4xi32>) {
  %y:3 = rt.attend [#rt.centroid, #rt.decay<forward, 0>, #rt.decay<backward, 1>, #rt.decay<backward, 2>, #rt.decay<backward, 3>, #rt.predecessor, #rt.top<1>, #rt.top<2>, #rt.decay<backward, 4>, #rt.antitop, #rt.spread, #rt.entropy]
    queries(%q : tensor<?x?x64xf32>) lookup(%table[%ids] : tensor<?x64xf32>, tensor<?x?xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<5xf32>) offset(%off) lengths(%len : tensor<?xi64>)
    {saves = [#rt.saved<norm>, #rt.saved<indices>], decay_origin = #rt.decay_origin<query>} -> tensor<?x?x642xf32> saves tensor<?x?xf32>, tensor<?x?x4xi32>
  return %y#0, %y#1, %y#2 : tensor<?x?x642xf32>, tensor<?x?xf32>, tensor<?x?x4xi32>
}
