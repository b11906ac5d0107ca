// RUN: rt-opt %s --rt-to-sweeps --rt-fuse-gradient --rt-tile-tasks=query-tile=16 | FileCheck %s
// RUN: rt-opt %s --rt-to-sweeps --rt-fuse-gradient --rt-tile-tasks=query-tile=16 --rt-tile-tasks | FileCheck %s
// RUN: rt-opt %s --rt-to-sweeps --rt-fuse-gradient --rt-tile-tasks=query-tile=16 --rt-chunk-keys | FileCheck %s --check-prefix=CHUNK

// A task for each tile of rows, in it the keys that they see.
// CHECK-LABEL: @attend_backward
// CHECK: scf.forall (%[[B:.*]], %[[I:.*]]) = (0, 0) to (%{{.*}}, %[[TQ:.*]]) step (1, %c16) shared_outs(%[[DQ:.*]] = %{{.*}}, %[[DP:.*]] = %{{.*}})
// CHECK: %[[LEFT:.*]] = arith.subi %[[TQ]], %[[I]]
// CHECK: %[[ROWS:.*]] = arith.minsi %[[LEFT]], %c16
// CHECK: %[[ROW:.*]] = arith.addi %arg5, %[[I]]
// CHECK: %[[HI:.*]] = arith.maxsi
// CHECK: %[[Q:.*]] = tensor.extract_slice %arg0[%[[B]], %[[I]], 0] [1, %[[ROWS]], 4]
// CHECK: %[[IDS:.*]] = tensor.extract_slice %arg2[%[[B]], 0] [1, %[[HI]]]
// CHECK: %[[K:.*]] = rt.lookup %arg1[%[[IDS]]]
// CHECK: %[[D:.*]] = rt.distance %[[Q]], %[[K]]
// CHECK: %[[R:.*]], %[[STACK:.*]] = rt.grad_rows {{.*}} at(%[[ROW]]) of %{{.*}} lengths(%{{.*}} : tensor<1xi64>)
// CHECK: %[[P:.*]] = linalg.contract {{.*}} ins(%[[STACK]], %[[K]]
// The keys' range stands for the lengths.
// CHECK: %{{.*}}, %[[C:.*]], %[[F:.*]] = rt.weigh_grad {{.*}} ins(%[[D]], %[[R]], %[[P]] {{.*}} at(%[[ROW]], %c0) outs(
// CHECK: %[[S:.*]] = rt.sum_differences <query>(%[[C]], %[[Q]], %[[K]] {{.*}} near(%[[D]]
// CHECK-NOT: rt.{{lookup|distance|grad_rows|weigh_grad}}
// CHECK: %[[DQT:.*]], %[[DPT:.*]] = rt.query_grad {{.*}}(%[[F]], %[[S]], %[[R]] {{.*}} at(%[[ROW]]) of %{{.*}} lengths(%{{.*}} : tensor<1xi64>)
// CHECK-DAG: tensor.parallel_insert_slice %[[DQT]] into %[[DQ]][%[[B]], %[[I]], 0] [1, %[[ROWS]], 4]
// CHECK-DAG: tensor.parallel_insert_slice %[[DPT]] into %[[DP]][%[[B]], %[[I]], 0] [1, %[[ROWS]], 2]

// Rows are prepared once per tile; keys stream by chunk by chunk.
// CHUNK-LABEL: @attend_backward
// CHUNK: scf.forall {{.*}} step (1, %c16)
// CHUNK: %[[R:.*]], %[[STACK:.*]] = rt.grad_rows
// CHUNK: %[[S:.*]]:2 = scf.for %{{.*}} = %c0 to %{{.*}} step %c192
// CHUNK-NOT: rt.grad_rows
// CHUNK: linalg.contract {{.*}} ins(%[[STACK]],
// CHUNK: rt.weigh_grad {{.*}} ins(%{{.*}}, %[[R]],
// CHUNK: rt.query_grad {{.*}}(%[[S]]#0, %[[S]]#1, %[[R]]
func.func @attend_backward(%q: tensor<?x?x4xf32>, %t: tensor<?x4xf32>, %ids: tensor<?x?xi32>, %tau: tensor<f32>, %g: tensor<1xf32>, %off: index, %len: tensor<?xi64>, %y: tensor<?x?x9xf32>, %n: tensor<?x?xf32>, %x: tensor<?x?x1xi32>, %l: tensor<?x?x5xf32>, %dy: tensor<?x?x9xf32>) -> (tensor<?x?x4xf32>, tensor<?x4xf32>, tensor<f32>, tensor<1xf32>) {
  %r:4 = rt.attend_grad [#rt.decay<backward, 0>, #rt.top<1>, #rt.entropy]
    queries(%q : tensor<?x?x4xf32>) lookup(%t[%ids] : tensor<?x4xf32>, tensor<?x?xi32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) offset(%off) lengths(%len : tensor<?xi64>)
    saved(%y, %n, %x, %l : tensor<?x?x9xf32>, tensor<?x?xf32>, tensor<?x?x1xi32>, tensor<?x?x5xf32>)
    gradient(%dy : tensor<?x?x9xf32>) -> tensor<?x?x4xf32>, tensor<?x4xf32>, tensor<f32>, tensor<1xf32>
  return %r#0, %r#1, %r#2, %r#3 : tensor<?x?x4xf32>, tensor<?x4xf32>, tensor<f32>, tensor<1xf32>
}
