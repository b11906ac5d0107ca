// RUN: rt-opt %s --rt-to-sweeps --rt-tile-keys=key-chunk=64 | FileCheck %s
// RUN: rt-opt %s --rt-to-sweeps --rt-tile-keys="key-chunk=64 query-tile=16" --rt-tile-keys | FileCheck %s --check-prefix=TILE

// One task per chunk of keys, in it the queries that see it; the chunk is
// looked up once, in front of the inner loop.
// CHECK-LABEL: @attend_backward
// CHECK: scf.forall (%[[B:.*]], %[[J:.*]]) = (0, 0) to (%{{.*}}, %[[T:.*]]) step (1, %c64)
// CHECK: %[[LEFT:.*]] = arith.subi %[[T]], %[[J]]
// CHECK: %[[N:.*]] = arith.minsi %[[LEFT]], %c64
// CHECK: %[[AHEAD:.*]] = arith.subi %[[J]], %arg5
// CHECK: %[[BEGIN:.*]] = arith.maxsi %[[AHEAD]], %c0
// CHECK: %[[IDS:.*]] = tensor.extract_slice %arg2[%[[B]], %[[J]]] [1, %[[N]]]
// CHECK: %[[K:.*]] = rt.lookup %arg1[%[[IDS]]]
// CHECK: %[[S:.*]] = scf.for %[[I:.*]] = %[[BEGIN]] to %{{.*}} step %c32
// CHECK: rt.distance %{{.*}}, %[[K]]
// CHECK: rt.grad_rows
// CHECK-NOT: lengths(%arg6
// CHECK: rt.key_grad_sweep
// CHECK: rt.key_grad {{.*}}(%[[S]] :
// CHECK: tensor.parallel_insert_slice
// TILE: step (1, %c64)
// TILE: scf.for {{.*}} step %c16
func.func @attend_backward(%q: tensor<?x?x4xf32>, %t: tensor<?x4xf32>, %ids: tensor<?x?xi32>, %tau: tensor<f32>, %g: tensor<1xf32>, %off: index, %len: tensor<?xi64>, %y: tensor<?x?x9xf32>, %n: tensor<?x?xf32>, %x: tensor<?x?x1xi32>, %l: tensor<?x?x5xf32>, %dy: tensor<?x?x9xf32>) -> (tensor<?x?x4xf32>, tensor<?x4xf32>, tensor<f32>, tensor<1xf32>) {
  %r:4 = rt.attend_grad [#rt.decay<backward, 0>, #rt.top<1>, #rt.entropy]
    queries(%q : tensor<?x?x4xf32>) lookup(%t[%ids] : tensor<?x4xf32>, tensor<?x?xi32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) offset(%off) lengths(%len : tensor<?xi64>)
    saved(%y, %n, %x, %l : tensor<?x?x9xf32>, tensor<?x?xf32>, tensor<?x?x1xi32>, tensor<?x?x5xf32>)
    gradient(%dy : tensor<?x?x9xf32>) -> tensor<?x?x4xf32>, tensor<?x4xf32>, tensor<f32>, tensor<1xf32>
  return %r#0, %r#1, %r#2, %r#3 : tensor<?x?x4xf32>, tensor<?x4xf32>, tensor<f32>, tensor<1xf32>
}
