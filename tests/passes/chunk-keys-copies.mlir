// RUN: rt-opt %s --rt-to-sweeps --rt-fuse-gradient --rt-tile-tasks --rt-chunk-keys | FileCheck %s
// Copies get a loop of their own, and rows are prepared once more in it: the size
// asked of the sums is taken for one more reader of them.

// A copy's gradient goes on with the sums of its level, and reads their rows.
// CHECK-LABEL: @attend_backward
// CHECK: rt.parameter_grad
// CHECK: scf.for %
// CHECK: %[[R:.*]], %{{.*}} = rt.grad_rows
// CHECK: %[[S:.*]] = rt.sum_differences <key>
// CHECK-NOT: rt.grad_rows
// CHECK: %[[S1:.*]] = rt.copy_grad {{.*}}(%[[R]], {{.*}} outs(%[[S]]
// CHECK: scf.yield %[[S1]]
// CHECK-NOT: scf.for %
// CHECK: rt.key_grad
func.func @attend_backward(%q: tensor<?x?x4xf32>, %t: tensor<?x4xf32>, %ids: tensor<?x?xi32>, %tau: tensor<f32>, %g: tensor<1xf32>, %off: index, %len: tensor<?xi64>, %y: tensor<?x?x9xf32>, %n: tensor<?x?xf32>, %x: tensor<?x?x1xi32>, %l: tensor<?x?x5xf32>, %dy: tensor<?x?x9xf32>) -> (tensor<?x?x4xf32>, tensor<?x4xf32>, tensor<f32>, tensor<1xf32>) {
  %r:4 = rt.attend_grad [#rt.decay<backward, 0>, #rt.top<1>, #rt.entropy]
    queries(%q : tensor<?x?x4xf32>) lookup(%t[%ids] : tensor<?x4xf32>, tensor<?x?xi32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) offset(%off) lengths(%len : tensor<?xi64>)
    saved(%y, %n, %x, %l : tensor<?x?x9xf32>, tensor<?x?xf32>, tensor<?x?x1xi32>, tensor<?x?x5xf32>)
    gradient(%dy : tensor<?x?x9xf32>) -> tensor<?x?x4xf32>, tensor<?x4xf32>, tensor<f32>, tensor<1xf32>
  return %r#0, %r#1, %r#2, %r#3 : tensor<?x?x4xf32>, tensor<?x4xf32>, tensor<f32>, tensor<1xf32>
}
