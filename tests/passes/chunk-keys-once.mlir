// RUN: rt-opt %s --rt-differentiate --rt-stream=scores=keep | FileCheck %s --check-prefixes=CHECK,KEEP
// RUN: rt-opt %s --rt-differentiate --rt-stream=scores=recompute | FileCheck %s --check-prefixes=CHECK,AGAIN
// RUN: rt-opt %s --rt-differentiate "--rt-stream=query-tile=16 key-chunk=64" | FileCheck %s --check-prefix=SIZE

// Keys pass by rows in chunks of keys, rows pass by keys in tiles of rows.
// SIZE-LABEL: func.func @attend_backward(
// SIZE: scf.forall {{.*}} step (1, %c16)
// SIZE: scf.for %{{.*}} step %c64
// SIZE: rt.query_grad
// SIZE: scf.forall {{.*}} step (1, %c64)
// SIZE: scf.for %{{.*}} step %c16
// SIZE: rt.key_grad

// Each sum of a level reads what was computed for the chunk once: there is one
// loop per level, and in it one lookup, one distance, one op that weighs.

// CHECK-LABEL: func.func @attend(
// CHECK: scf.forall
// CHECK-NOT: rt.{{lookup|distance|weigh}}
// CHECK: scf.for %
// CHECK: rt.lookup
// CHECK-NOT: rt.lookup
// CHECK: rt.distance
// CHECK-NOT: rt.{{lookup|distance|weigh}}
// CHECK: rt.score_sweep
// CHECK-NOT: rt.{{lookup|distance|weigh|score_sweep}}
// CHECK: scf.yield
// CHECK-NOT: rt.{{lookup|distance|weigh}}
// CHECK: %[[L:.*]]:3 = scf.for %
// AGAIN: rt.lookup
// AGAIN: %[[D:.*]] = rt.distance
// KEEP: %[[D:.*]] = tensor.extract_slice %{{.*}}#2[0, 0,
// CHECK-NOT: rt.{{lookup|distance|weigh}}
// CHECK: rt.reduce_sweep {{.*}} ins(%[[D]],
// CHECK: %[[W:.*]] = rt.weigh {{.*}} ins(%[[D]],
// KEEP: rt.lookup
// CHECK-NOT: rt.{{lookup|distance|weigh|reduce_sweep}}
// CHECK: linalg.contract {{.*}} ins(%[[W]],
// CHECK-NOT: rt.{{lookup|distance|weigh|reduce_sweep}}
// CHECK: scf.yield
// CHECK-NOT: rt.{{lookup|distance|weigh}}
// CHECK-NOT: scf.for %
// CHECK: rt.finalize

// The side of queries: the accumulators of the parameters and the sums of the
// queries' gradient are of one level.
// CHECK-LABEL: func.func @attend_backward(
// CHECK: scf.forall
// CHECK: %[[R:.*]], %[[STACK:.*]] = rt.grad_rows
// CHECK-NOT: rt.{{lookup|distance|weigh_grad|grad_rows}}
// CHECK: scf.for %
// CHECK: %[[K:.*]] = rt.lookup
// CHECK-NOT: rt.{{lookup|grad_rows}}
// CHECK: %[[D:.*]] = rt.distance %{{.*}}, %[[K]]
// CHECK-NOT: rt.{{lookup|distance|weigh_grad|grad_rows}}
// CHECK: %[[P:.*]] = linalg.contract {{.*}} ins(%[[STACK]], %[[K]]
// CHECK-NOT: linalg.contract
// CHECK: %{{.*}}, %[[C:.*]], %[[F:.*]] = rt.weigh_grad {{.*}} ins(%[[D]], %[[R]], %[[P]]
// CHECK-NOT: rt.{{lookup|distance|weigh_grad|grad_rows}}
// CHECK: %[[S:.*]] = rt.sum_differences <query>(%[[C]], %{{.*}}, %[[K]] {{.*}} near(%[[D]]
// CHECK-NEXT: scf.yield %[[F]], %[[S]]
// CHECK-NOT: rt.{{lookup|distance|weigh_grad|grad_rows}}
// CHECK-NOT: scf.for %
// CHECK: rt.query_grad

// The side of keys: they are looked up in front of the loop, and weights and
// coefficients, of one op, meet one accumulator.
// CHECK: scf.forall
// CHECK: %[[K:.*]] = rt.lookup
// CHECK: scf.for %{{.*}} iter_args(%[[SUM:.*]] = %{{[^,]*}}) ->
// CHECK-NOT: rt.{{lookup|weigh_grad}}
// CHECK: %[[D:.*]] = rt.distance %{{.*}}, %[[K]]
// CHECK-NOT: rt.{{lookup|distance|weigh_grad}}
// CHECK: %[[R:.*]], %[[STACK:.*]] = rt.grad_rows
// CHECK-NOT: rt.{{lookup|distance|weigh_grad|grad_rows}}
// CHECK: %[[P:.*]] = linalg.contract {{.*}} ins(%[[STACK]], %[[K]]
// CHECK: %[[W:.*]], %[[C:.*]] = rt.weigh_grad {{.*}} ins(%[[D]], %[[R]], %[[P]]
// CHECK-NOT: rt.{{lookup|distance|weigh_grad|grad_rows}}
// CHECK: %[[S1:.*]] = linalg.contract {{.*}} ins(%[[W]], %[[STACK]] {{.*}} outs(%[[SUM]]
// CHECK: %[[S2:.*]] = rt.sum_differences <key>(%[[C]], %{{.*}}, %[[K]] {{.*}} near(%[[D]] {{.*}} outs(%[[S1]]
// CHECK: scf.yield
// CHECK-NOT: rt.{{lookup|distance|weigh_grad}}
// CHECK: rt.key_grad
func.func @attend(%q: tensor<?x?x4xf32>, %table: tensor<?x4xf32>, %ids: tensor<?x?xi32>, %tau: tensor<f32>, %g: tensor<1xf32>, %off: index, %len: tensor<?xi64>) -> tensor<?x?x14xf32> {
  %y = rt.attend [#rt.centroid, #rt.decay<backward, 0>, #rt.top<1>, #rt.entropy, #rt.spread]
    queries(%q : tensor<?x?x4xf32>) lookup(%table[%ids] : tensor<?x4xf32>, tensor<?x?xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) offset(%off) lengths(%len : tensor<?xi64>) -> tensor<?x?x14xf32>
  return %y : tensor<?x?x14xf32>
}
