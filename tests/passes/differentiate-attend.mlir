// RUN: rt-opt %s --rt-differentiate | FileCheck %s

// The attention saves what its gradient reads, after what it saved before; the
// backward function takes it instead of computing it again.
// CHECK-LABEL: func.func @attend(
// CHECK-SAME: -> (tensor<1x?x5xf32>, tensor<1x?xf32>, tensor<1x?x0xi32>, tensor<1x?x3xf32>)
// CHECK: %[[Y:.*]], %[[S:.*]]:3 = rt.attend {{.*}} {saves = [#rt.saved<norm>, #rt.saved<indices>, #rt.saved<log_sums>]}
// CHECK: return %[[Y]], %[[S]]#0, %[[S]]#1, %[[S]]#2
// CHECK-LABEL: func.func @attend_backward(
// CHECK-NOT: rt.attend [
// CHECK: %[[DQ:.*]], %[[DT:.*]], %[[DTAU:.*]], %[[DG:.*]] = rt.attend_grad [#rt.centroid, #rt.entropy]
// CHECK-SAME: saved(%arg5, %arg6, %arg7, %arg8 {{.*}} gradient(%arg9
// CHECK: return %[[DQ]], %[[DT]], %[[DTAU]], %[[DG]]
func.func @attend(%q: tensor<1x?x4xf32>, %t: tensor<?x4xf32>, %ids: tensor<1x?xi32>, %tau: tensor<f32>, %g: tensor<1xf32>) -> (tensor<1x?x5xf32>, tensor<1x?xf32>) {
  %y, %n = rt.attend [#rt.centroid, #rt.entropy]
    queries(%q : tensor<1x?x4xf32>) lookup(%t[%ids] : tensor<?x4xf32>, tensor<1x?xi32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) {saves = [#rt.saved<norm>]} -> tensor<1x?x5xf32> saves tensor<1x?xf32>
  return %y, %n : tensor<1x?x5xf32>, tensor<1x?xf32>
}
