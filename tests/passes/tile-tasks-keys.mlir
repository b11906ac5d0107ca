// RUN: rt-opt %s --rt-to-sweeps --rt-fuse-gradient --rt-tile-tasks=key-chunk=64 | FileCheck %s
// RUN: rt-opt %s --rt-to-sweeps --rt-fuse-gradient --rt-tile-tasks=key-chunk=64 --rt-tile-tasks | FileCheck %s
// RUN: rt-opt %s --rt-to-sweeps --canonicalize --rt-fuse-gradient --canonicalize --rt-tile-tasks=key-chunk=64 --canonicalize | FileCheck %s
// RUN: rt-opt %s --rt-to-sweeps --rt-fuse-gradient --rt-tile-tasks | FileCheck %s --check-prefix=SIZE

// SIZE: rt.query_grad
// SIZE: scf.forall {{.*}} step (1, %c192)
// SIZE: rt.key_grad

// One task per chunk of keys, in it the queries from the first that sees the
// chunk to the end of the sequence.
// CHECK-LABEL: @attend_backward
// CHECK: rt.parameter_grad
// CHECK: scf.forall (%[[B:.*]], %[[J:.*]]) = (0, 0) to (%{{.*}}, %[[T:.*]]) step (1, {{%c64|64}}) shared_outs(%[[DK:.*]] = %{{.*}})
// CHECK-DAG: %[[LEFT:.*]] = arith.subi %[[T]], %[[J]]
// CHECK-DAG: %[[N:.*]] = arith.minsi %[[LEFT]], %c64
// CHECK-DAG: %[[AHEAD:.*]] = arith.subi %[[J]], %arg5
// CHECK-DAG: %[[BEGIN:.*]] = arith.maxsi %[[AHEAD]], %c0
// CHECK-DAG: %[[OWN:.*]] = tensor.extract %arg6[%[[B]]]
// CHECK-DAG: %[[LENGTH:.*]] = arith.index_cast %[[OWN]]
// CHECK-DAG: %[[BOUND:.*]] = arith.minsi %[[LENGTH]], %[[T]]
// CHECK-DAG: %[[INSIDE:.*]] = arith.subi %[[BOUND]], %arg5
// CHECK-DAG: %[[END:.*]] = arith.minsi %[[INSIDE]], %{{.*}}
// CHECK-DAG: %[[SEEING:.*]] = arith.subi %[[END]], %[[BEGIN]]
// CHECK-DAG: %[[ROWS:.*]] = arith.maxsi %[[SEEING]], %c0
// CHECK-DAG: %[[ROW:.*]] = arith.addi %arg5, %[[BEGIN]]
// CHECK: %[[R:.*]], %[[STACK:.*]] = rt.grad_rows {{.*}} at(%[[ROW]]) of %[[T]] lengths(%{{.*}} : tensor<1xi64>)
// CHECK: %[[Q:.*]] = tensor.extract_slice %arg0[%[[B]], %[[BEGIN]], 0] [1, %[[ROWS]], 4]
// CHECK: %[[IDS:.*]] = tensor.extract_slice %arg2[%[[B]], %[[J]]] [1, %[[N]]]
// CHECK: %[[K:.*]] = rt.lookup %arg1[%[[IDS]]]
// CHECK: %[[D:.*]] = rt.distance %[[Q]], %[[K]]
// CHECK: %[[P:.*]] = linalg.contract {{.*}} ins(%[[STACK]], %[[K]]
// The rows stand for the lengths; what only the query side reads is not there.
// CHECK: %[[W:.*]], %[[C:.*]] = rt.weigh_grad {{.*}} ins(%[[D]], %[[R]], %[[P]] {{.*}} at(%[[ROW]], %[[J]]){{$}}
// CHECK: %[[S1:.*]] = linalg.contract {{.*}} ins(%[[W]], %[[STACK]]
// CHECK: %[[S2:.*]] = rt.sum_differences <key>(%[[C]], %[[Q]], %[[K]] {{.*}} near(%[[D]] {{.*}} outs(%[[S1]]
// CHECK: %[[S3:.*]] = rt.copy_grad {{.*}}(%[[R]], {{.*}} at(%[[J]]) outs(%[[S2]]
// CHECK-NOT: rt.{{lookup|distance|grad_rows|weigh_grad}}
// CHECK: %[[PART:.*]] = rt.key_grad {{.*}}(%[[S3]] {{.*}} at(%[[J]]) of %{{.*}} lengths(%{{.*}} : tensor<1xi64>)
// CHECK: tensor.parallel_insert_slice %[[PART]] into %[[DK]][%[[B]], %[[J]], 0] [1, %[[N]], 4]
func.func @attend_backward(%q: tensor<?x?x4xf32>, %t: tensor<?x4xf32>, %ids: tensor<?x?xi32>, %tau: tensor<f32>, %g: tensor<1xf32>, %off: index, %len: tensor<?xi64>, %y: tensor<?x?x9xf32>, %n: tensor<?x?xf32>, %x: tensor<?x?x1xi32>, %l: tensor<?x?x5xf32>, %dy: tensor<?x?x9xf32>) -> (tensor<?x?x4xf32>, tensor<?x4xf32>, tensor<f32>, tensor<1xf32>) {
  %r:4 = rt.attend_grad [#rt.decay<backward, 0>, #rt.top<1>, #rt.entropy]
    queries(%q : tensor<?x?x4xf32>) lookup(%t[%ids] : tensor<?x4xf32>, tensor<?x?xi32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) offset(%off) lengths(%len : tensor<?xi64>)
    saved(%y, %n, %x, %l : tensor<?x?x9xf32>, tensor<?x?xf32>, tensor<?x?x1xi32>, tensor<?x?x5xf32>)
    gradient(%dy : tensor<?x?x9xf32>) -> tensor<?x?x4xf32>, tensor<?x4xf32>, tensor<f32>, tensor<1xf32>
  return %r#0, %r#1, %r#2, %r#3 : tensor<?x?x4xf32>, tensor<?x4xf32>, tensor<f32>, tensor<1xf32>
}
