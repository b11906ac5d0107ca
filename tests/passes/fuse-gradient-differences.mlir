// RUN: rt-opt %s --rt-to-sweeps --rt-tile-queries --rt-tile-keys --rt-chunk-keys --rt-fuse-gradient | FileCheck %s
// Under l2 coefficients meet differences of queries and keys.

// CHECK-LABEL: @attend_backward
// CHECK: %[[K:.*]] = rt.lookup
// CHECK: %[[D:.*]] = rt.distance %[[Q:.*]], %[[K]]
// CHECK: %{{.*}}, %[[C:.*]], %{{.*}} = rt.weigh_grad <query> {{.*}} {differences
// CHECK: rt.sum_differences <query>(%[[C]], %[[Q]], %[[K]] {{.*}} near(%[[D]]
// CHECK: %[[K:.*]] = rt.lookup
// CHECK: %[[D:.*]] = rt.distance %[[Q:.*]], %[[K]]
// CHECK: %[[W:.*]], %[[C:.*]], %{{.*}} = rt.weigh_grad <key> {{.*}} {differences
// CHECK: %[[S1:.*]] = linalg.contract {{.*}} ins(%[[W]]
// CHECK: %[[S2:.*]] = rt.sum_differences <key>(%[[C]], %[[Q]], %[[K]] {{.*}} near(%[[D]] {{.*}} outs(%[[S1]]
// CHECK: rt.copy_grad {{.*}} outs(%[[S2]]
func.func @attend_backward(%q: tensor<?x?x4xf32>, %t: tensor<?x4xf32>, %ids: tensor<?x?xi32>, %tau: tensor<f32>, %g: tensor<1xf32>, %off: index, %len: tensor<?xi64>, %y: tensor<?x?x9xf32>, %n: tensor<?x?xf32>, %x: tensor<?x?x1xi32>, %l: tensor<?x?x5xf32>, %dy: tensor<?x?x9xf32>) -> (tensor<?x?x4xf32>, tensor<?x4xf32>, tensor<f32>, tensor<1xf32>) {
  %r:4 = rt.attend_grad [#rt.decay<backward, 0>, #rt.top<1>, #rt.entropy]
    queries(%q : tensor<?x?x4xf32>) lookup(%t[%ids] : tensor<?x4xf32>, tensor<?x?xi32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) offset(%off) lengths(%len : tensor<?xi64>)
    saved(%y, %n, %x, %l : tensor<?x?x9xf32>, tensor<?x?xf32>, tensor<?x?x1xi32>, tensor<?x?x5xf32>)
    gradient(%dy : tensor<?x?x9xf32>) {metric = #rt.metric<l2>} -> tensor<?x?x4xf32>, tensor<?x4xf32>, tensor<f32>, tensor<1xf32>
  return %r#0, %r#1, %r#2, %r#3 : tensor<?x?x4xf32>, tensor<?x4xf32>, tensor<f32>, tensor<1xf32>
}
