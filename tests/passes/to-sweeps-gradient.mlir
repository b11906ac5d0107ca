// RUN: rt-opt %s --rt-to-sweeps | FileCheck %s
// Queries and parameters from a sweep over the keys, keys from one over the
// queries, the table by id.

// CHECK-LABEL: @attend_backward
// CHECK: %[[K:.*]] = rt.lookup
// CHECK: %[[D:.*]] = rt.distance %{{.*}}, %[[K]]
// CHECK: %[[ROWS:.*]], %[[STACK:.*]] = rt.grad_rows {{.*}} lengths
// CHECK: %[[F:.*]], %[[S:.*]] = rt.query_grad_sweep {{.*}} ins(%[[D]], %[[ROWS]], %[[STACK]], %[[K]]
// CHECK: %[[DQ:.*]], %[[PARTS:.*]] = rt.query_grad {{.*}}(%[[F]], %[[S]], %[[ROWS]] :
// CHECK: %[[DTAU:.*]], %[[DG:.*]] = rt.parameter_grad %[[PARTS]]
// CHECK: %[[KS:.*]] = rt.key_grad_sweep {{.*}} ins(%[[D]], %[[ROWS]], %[[STACK]], %arg0
// CHECK-SAME: copies(%arg7, %arg11, %arg9
// CHECK: %[[DK:.*]] = rt.key_grad {{.*}}(%[[KS]] :
// CHECK: %[[DT:.*]] = rt.scatter_add %[[DK]] into %{{.*}}[%arg2]
// CHECK: return %[[DQ]], %[[DT]], %[[DTAU]], %[[DG]]
func.func @attend_backward(%q: tensor<?x?x4xf32>, %t: tensor<?x4xf32>, %ids: tensor<?x?xi32>, %tau: tensor<f32>, %g: tensor<1xf32>, %off: index, %len: tensor<?xi64>, %y: tensor<?x?x9xf32>, %n: tensor<?x?xf32>, %x: tensor<?x?x1xi32>, %l: tensor<?x?x5xf32>, %dy: tensor<?x?x9xf32>) -> (tensor<?x?x4xf32>, tensor<?x4xf32>, tensor<f32>, tensor<1xf32>) {
  %r:4 = rt.attend_grad [#rt.decay<backward, 0>, #rt.top<1>, #rt.entropy]
    queries(%q : tensor<?x?x4xf32>) lookup(%t[%ids] : tensor<?x4xf32>, tensor<?x?xi32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) offset(%off) lengths(%len : tensor<?xi64>)
    saved(%y, %n, %x, %l : tensor<?x?x9xf32>, tensor<?x?xf32>, tensor<?x?x1xi32>, tensor<?x?x5xf32>)
    gradient(%dy : tensor<?x?x9xf32>) -> tensor<?x?x4xf32>, tensor<?x4xf32>, tensor<f32>, tensor<1xf32>
  return %r#0, %r#1, %r#2, %r#3 : tensor<?x?x4xf32>, tensor<?x4xf32>, tensor<f32>, tensor<1xf32>
}
