// RUN: rt-opt %s --rt-to-sweeps --rt-tile-queries --rt-tile-keys --rt-chunk-keys --rt-fuse-gradient | FileCheck %s
// One stacked product per chunk and side; the copies come last.

// CHECK-LABEL: @attend_backward
// CHECK: %[[ROWS:.*]], %[[STACK:.*]] = rt.grad_rows
// CHECK: %[[K:.*]] = rt.lookup
// CHECK: %[[D:.*]] = rt.distance %[[Q:.*]], %[[K]]
// CHECK: %[[P:.*]] = linalg.contract {{.*}} ins(%[[STACK]], %[[K]]
// CHECK: %{{.*}}, %[[C:.*]], %[[F:.*]] = rt.weigh_grad <query> {{.*}} ins(%[[D]], %[[ROWS]], %[[P]]
// CHECK: %[[S:.*]] = rt.sum_differences <query>(%[[C]], %[[Q]], %[[K]] {{.*}} near(%[[D]]
// CHECK: scf.yield %[[F]], %[[S]]
// CHECK: %[[K:.*]] = rt.lookup
// CHECK: %[[Q:.*]] = tensor.extract_slice %arg0
// CHECK: %[[D:.*]] = rt.distance %[[Q]], %[[K]]
// CHECK: %[[ROWS:.*]], %[[STACK:.*]] = rt.grad_rows
// CHECK: %[[P:.*]] = linalg.contract {{.*}} ins(%[[STACK]], %[[K]]
// CHECK: %[[W:.*]], %[[C:.*]] = rt.weigh_grad <key> {{.*}} ins(%[[D]], %[[ROWS]], %[[P]]
// CHECK: %[[S1:.*]] = linalg.contract {{.*}} ins(%[[W]], %[[STACK]]
// CHECK: %[[S2:.*]] = rt.sum_differences <key>(%[[C]], %[[Q]], %[[K]] {{.*}} near(%[[D]] {{.*}} outs(%[[S1]]
// CHECK: %[[S3:.*]] = rt.copy_grad {{.*}} outs(%[[S2]]
// CHECK: scf.yield %[[S3]]
func.func @attend_backward(%q: tensor<?x?x4xf32>, %t: tensor<?x4xf32>, %ids: tensor<?x?xi32>, %tau: tensor<f32>, %g: tensor<1xf32>, %off: index, %len: tensor<?xi64>, %y: tensor<?x?x9xf32>, %n: tensor<?x?xf32>, %x: tensor<?x?x1xi32>, %l: tensor<?x?x5xf32>, %dy: tensor<?x?x9xf32>) -> (tensor<?x?x4xf32>, tensor<?x4xf32>, tensor<f32>, tensor<1xf32>) {
  %r:4 = rt.attend_grad [#rt.decay<backward, 0>, #rt.top<1>, #rt.entropy]
    queries(%q : tensor<?x?x4xf32>) lookup(%t[%ids] : tensor<?x4xf32>, tensor<?x?xi32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) offset(%off) lengths(%len : tensor<?xi64>)
    saved(%y, %n, %x, %l : tensor<?x?x9xf32>, tensor<?x?xf32>, tensor<?x?x1xi32>, tensor<?x?x5xf32>)
    gradient(%dy : tensor<?x?x9xf32>) -> tensor<?x?x4xf32>, tensor<?x4xf32>, tensor<f32>, tensor<1xf32>
  return %r#0, %r#1, %r#2, %r#3 : tensor<?x?x4xf32>, tensor<?x4xf32>, tensor<f32>, tensor<1xf32>
}
