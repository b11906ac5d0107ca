// RUN: rt-opt %s --rt-differentiate --rt-to-sweeps --rt-fuse-channels --rt-fuse-gradient --rt-tile-tasks | FileCheck %s
// RUN: rt-opt %s --rt-differentiate --rt-to-sweeps --rt-fuse-channels --rt-fuse-gradient --rt-tile-tasks=leaves-stored | FileCheck %s --check-prefix=LEFT

// RUN: rt-opt %s --rt-differentiate --rt-stream --rt-bufferize | FileCheck %s --check-prefix=BUFFERS

// LEFT-NOT: scf.forall

// BUFFERS-LABEL: func.func @stored_backward(
// BUFFERS: rt_tile.compute ins(%[[TILE:[a-z0-9_]+]], {{.*}} outs(%[[TILE]] :
// BUFFERS-NEXT: ^bb0
// BUFFERS-NEXT: rt.key_grad

// The scores are one loop, what reads their states the next.
// CHECK-LABEL: func.func @stored(
// CHECK: %[[S:.*]]:2 = scf.forall
// CHECK: rt.distance
// CHECK: rt.score_sweep
// CHECK-NOT: rt.weigh
// CHECK: scf.forall.in_parallel
// CHECK: scf.forall
// CHECK-NOT: rt.distance
// CHECK-DAG: tensor.extract_slice %[[S]]#0
// CHECK-DAG: tensor.extract_slice %[[S]]#1
// CHECK: rt.weigh
// CHECK: rt.finalize

// Rows in chunks; in each, the loop over queries stores the rows it prepares and
// what the pairs give, with zeros where nobody sees, and the loop over keys reads
// it and goes on with its sums, whose place the gradients take at the end.
// CHECK-LABEL: func.func @stored_backward(
// CHECK: %[[ZEROS:.*]] = linalg.fill {{.*}} : tensor<?x?x8xf32>)
// CHECK: %[[ALL:.*]]:3 = scf.for %{{.*}} step %c64 iter_args(%{{.*}}, %{{.*}}, %[[SUMS:.*]] = %[[ZEROS]])
// CHECK: %[[PAIRS:.*]]:6 = scf.forall
// CHECK: rt.grad_rows
// CHECK: linalg.fill {{.*}} : tensor<1x1x?x?xf32>)
// CHECK: linalg.contract
// CHECK: rt.weigh_grad
// CHECK: rt.sum_differences <query>
// CHECK: rt.query_grad
// CHECK: scf.forall {{.*}} shared_outs(%{{.*}} = %[[SUMS]])
// CHECK-NOT: rt.distance
// CHECK-NOT: rt.grad_rows
// CHECK-NOT: rt.weigh_grad
// CHECK-DAG: tensor.extract_slice %[[PAIRS]]#{{[2345]}}
// CHECK: linalg.contract
// CHECK: rt.sum_differences <key>
// CHECK: scf.yield
// CHECK: scf.forall {{.*}} shared_outs(%[[PLACE:.*]] = %[[ALL]]#2)
// CHECK: %[[TILE:.*]] = tensor.extract_slice %[[PLACE]]
// CHECK: rt.key_grad {{.*}}(%[[TILE]] : {{.*}} outs(%[[TILE]] :
func.func @stored(%q: tensor<?x?x8xf32>, %table: tensor<?x8xf32>, %ids: tensor<?x?xi32>, %tau: tensor<f32>, %g: tensor<0xf32>) -> tensor<?x?x9xf32>
    attributes {rt.schedule = #rt.schedule<query_tile = 16, key_chunk = 32, split_keys = 1, scores = keep, family = stored>,
                rt.backward_schedule = #rt.schedule<query_tile = 16, key_chunk = 32, split_keys = 1, scores = keep, family = stored, query_chunk = 64>} {
  %y = rt.attend [#rt.centroid, #rt.entropy]
    queries(%q : tensor<?x?x8xf32>) lookup(%table[%ids] : tensor<?x8xf32>, tensor<?x?xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) -> tensor<?x?x9xf32>
  return %y : tensor<?x?x9xf32>
}
