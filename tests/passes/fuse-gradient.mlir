// RUN: rt-opt %s --rt-to-sweeps --rt-fuse-gradient | FileCheck %s
// RUN: rt-opt %s --rt-to-sweeps --rt-fuse-gradient --rt-fuse-gradient | FileCheck %s
// RUN: rt-opt %s --rt-to-sweeps --canonicalize --rt-fuse-gradient --canonicalize | FileCheck %s

// One stacked product and one op that weighs for both sides; the copies come last.
// CHECK-DAG: #[[STACK:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
// CHECK-DAG: #[[KEYS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d4)>
// CHECK-DAG: #[[PAIRS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
// CHECK-LABEL: @attend_backward
// CHECK: %[[K:.*]] = rt.lookup
// CHECK: %[[D:.*]] = rt.distance %[[Q:.*]], %[[K]]
// CHECK: %[[ROWS:.*]], %[[STK:.*]] = rt.grad_rows
// CHECK: %[[P:.*]] = linalg.contract indexing_maps = [#[[STACK]], #[[KEYS]], #[[PAIRS]]] ins(%[[STK]], %[[K]]
// CHECK: %[[W:.*]], %[[C:.*]], %[[F:.*]] = rt.weigh_grad {{.*}} ins(%[[D]], %[[ROWS]], %[[P]] {{.*}} at(%arg5, %c0{{.*}}) lengths(%arg6 : tensor<?xi64>) outs(
// CHECK: %[[S:.*]] = rt.sum_differences <query>(%[[C]], %[[Q]], %[[K]] {{.*}} near(%[[D]]
// CHECK: rt.query_grad {{.*}}(%[[F]], %[[S]], %[[ROWS]]
// CHECK-NOT: rt.weigh_grad
// CHECK: %[[S1:.*]] = linalg.contract indexing_maps = [#[[PAIRS]], #[[STACK]], #[[KEYS]]] ins(%[[W]], %[[STK]]
// CHECK: %[[S2:.*]] = rt.sum_differences <key>(%[[C]], %[[Q]], %[[K]] {{.*}} near(%[[D]] {{.*}} outs(%[[S1]]
// CHECK: %[[S3:.*]] = rt.copy_grad {{.*}}(%[[ROWS]], {{.*}} outs(%[[S2]]
// CHECK: rt.key_grad {{.*}}(%[[S3]]
func.func @attend_backward(%q: tensor<?x?x4xf32>, %t: tensor<?x4xf32>, %ids: tensor<?x?xi32>, %tau: tensor<f32>, %g: tensor<1xf32>, %off: index, %len: tensor<?xi64>, %y: tensor<?x?x9xf32>, %n: tensor<?x?xf32>, %x: tensor<?x?x1xi32>, %l: tensor<?x?x5xf32>, %dy: tensor<?x?x9xf32>) -> (tensor<?x?x4xf32>, tensor<?x4xf32>, tensor<f32>, tensor<1xf32>) {
  %r:4 = rt.attend_grad [#rt.decay<backward, 0>, #rt.top<1>, #rt.entropy]
    queries(%q : tensor<?x?x4xf32>) lookup(%t[%ids] : tensor<?x4xf32>, tensor<?x?xi32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) offset(%off) lengths(%len : tensor<?xi64>)
    saved(%y, %n, %x, %l : tensor<?x?x9xf32>, tensor<?x?xf32>, tensor<?x?x1xi32>, tensor<?x?x5xf32>)
    gradient(%dy : tensor<?x?x9xf32>) -> tensor<?x?x4xf32>, tensor<?x4xf32>, tensor<f32>, tensor<1xf32>
  return %r#0, %r#1, %r#2, %r#3 : tensor<?x?x4xf32>, tensor<?x4xf32>, tensor<f32>, tensor<1xf32>
}

// Rows and keys of another range are other pairs, though at the same distances;
// those of keys alone have no accumulators.
// CHECK-LABEL: @other_pairs
func.func @other_pairs(%rows: tensor<1x?x9xf32>, %stack: tensor<1x1x?x4xf32>, %q: tensor<1x?x4xf32>, %k: tensor<1x?x4xf32>, %y: tensor<1x?x4xf32>, %x: tensor<1x?x0xi32>, %tau: tensor<f32>, %g: tensor<0xf32>, %row: index, %key: index, %len: tensor<1xi64>, %f: tensor<1x?x1xf32>, %s: tensor<1x?x4xf32>, %t: tensor<1x?x4xf32>) -> (tensor<1x?x1xf32>, tensor<1x?x4xf32>, tensor<1x?x4xf32>) {
  // CHECK: linalg.contract
  // CHECK: %{{.*}}, %[[C:.*]], %{{.*}} = rt.weigh_grad {{.*}} outs(
  // CHECK: rt.sum_differences <query>(%[[C]],
  // CHECK: linalg.contract
  // CHECK: %[[W:.*]], %[[C:.*]] = rt.weigh_grad {{.*}} lengths(%{{.*}} : tensor<1xi64>){{$}}
  // CHECK: %[[S:.*]] = linalg.contract {{.*}} ins(%[[W]],
  // CHECK: rt.sum_differences <key>(%[[C]], {{.*}} outs(%[[S]]
  // CHECK-NOT: rt.copy_grad
  // CHECK: return
  %d = rt.distance %q, %k : tensor<1x?x4xf32>, tensor<1x?x4xf32> -> tensor<1x?x?xf32>
  %r:2 = rt.query_grad_sweep [#rt.centroid] ins(%d, %rows, %stack, %k : tensor<1x?x?xf32>, tensor<1x?x9xf32>, tensor<1x1x?x4xf32>, tensor<1x?x4xf32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) at(%row, %key) outs(%f, %s : tensor<1x?x1xf32>, tensor<1x?x4xf32>)
  %u = rt.key_grad_sweep [#rt.centroid] ins(%d, %rows, %stack, %q : tensor<1x?x?xf32>, tensor<1x?x9xf32>, tensor<1x1x?x4xf32>, tensor<1x?x4xf32>)
    copies(%y, %y, %x : tensor<1x?x4xf32>, tensor<1x?x4xf32>, tensor<1x?x0xi32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) at(%row, %key) lengths(%len : tensor<1xi64>) outs(%t : tensor<1x?x4xf32>)
  return %r#0, %r#1, %u : tensor<1x?x1xf32>, tensor<1x?x4xf32>, tensor<1x?x4xf32>
}

// No weighted channel: no products, coefficients alone.
// CHECK-LABEL: @entropy
// CHECK-NOT: linalg.contract
// CHECK: rt.weigh_grad {{.*}} tensor<1x0x?x?xf32>)
// CHECK: rt.sum_differences <query>
// CHECK: rt.sum_differences <key>
// CHECK-NOT: rt.copy_grad
// CHECK: rt.key_grad
func.func @entropy(%q: tensor<1x?x4xf32>, %t: tensor<?x4xf32>, %ids: tensor<1x?xi32>, %tau: tensor<f32>, %g: tensor<0xf32>, %y: tensor<1x?x1xf32>, %n: tensor<1x?xf32>, %x: tensor<1x?x0xi32>, %l: tensor<1x?x3xf32>, %dy: tensor<1x?x1xf32>) -> (tensor<1x?x4xf32>, tensor<?x4xf32>) {
  %r:4 = rt.attend_grad [#rt.entropy]
    queries(%q : tensor<1x?x4xf32>) lookup(%t[%ids] : tensor<?x4xf32>, tensor<1x?xi32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>)
    saved(%y, %n, %x, %l : tensor<1x?x1xf32>, tensor<1x?xf32>, tensor<1x?x0xi32>, tensor<1x?x3xf32>)
    gradient(%dy : tensor<1x?x1xf32>) -> tensor<1x?x4xf32>, tensor<?x4xf32>, tensor<f32>, tensor<0xf32>
  return %r#0, %r#1 : tensor<1x?x4xf32>, tensor<?x4xf32>
}
