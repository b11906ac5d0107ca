// RUN: rt-opt %s --rt-to-sweeps --rt-fuse-channels --rt-tile-tasks=query-tile=4 --rt-chunk-keys=key-chunk=16 | FileCheck %s --check-prefixes=CHECK,KEEP
// RUN: rt-opt %s --rt-to-sweeps --rt-fuse-channels --rt-tile-tasks=query-tile=4 --rt-chunk-keys=key-chunk=16 --rt-chunk-keys | FileCheck %s --check-prefixes=CHECK,KEEP
// RUN: rt-opt %s --rt-to-sweeps --rt-fuse-channels --rt-tile-tasks=query-tile=4 "--rt-chunk-keys=key-chunk=16 scores=recompute" | FileCheck %s --check-prefixes=CHECK,AGAIN
// RUN: rt-opt %s --rt-to-sweeps --canonicalize --rt-fuse-channels --canonicalize --rt-tile-tasks=query-tile=4 --canonicalize --rt-chunk-keys=key-chunk=16 --canonicalize | FileCheck %s --check-prefix=CANON
// RUN: rt-opt %s --rt-to-sweeps --rt-fuse-channels --rt-tile-tasks=query-tile=4 --rt-split-keys=ways=2 --rt-chunk-keys=key-chunk=16 | FileCheck %s --check-prefix=SPLIT
// RUN: rt-opt %s --rt-to-sweeps --rt-fuse-channels --rt-tile-tasks=query-tile=4 --rt-chunk-keys=key-chunk=16 | sed "s/constant 16 :/constant 5 :/" | rt-opt --canonicalize | FileCheck %s --check-prefix=EDIT
// RUN: rt-opt %s --rt-to-sweeps --rt-fuse-channels --rt-tile-tasks --rt-chunk-keys | FileCheck %s --check-prefix=PLAN

// The chunk and the plan of rt.schedule.
// PLAN-LABEL: func.func @scheduled
// PLAN: scf.for {{.*}} step %c3
// PLAN: rt.distance
// PLAN-NOT: tensor.insert_slice
// PLAN: scf.for {{.*}} step %c3
// PLAN: rt.distance

// A chunk constant edited by hand is all it takes.
// EDIT: scf.for %[[J:.*]] = %c0 to %[[HI:.*]] step %c5
// EDIT-NEXT: %[[LEFT:.*]] = arith.subi %[[HI]], %[[J]]
// EDIT-NEXT: arith.minsi %[[LEFT]], %c5

// Canonicalisation between the stages changes nothing of the form.
// CANON-LABEL: func.func @chunk
// CANON: scf.for %{{.*}} step %c16
// CANON: rt.distance
// CANON: tensor.insert_slice
// CANON: scf.for %{{.*}} step %c16
// CANON-NOT: rt.distance
// CANON: rt.reduce_sweep
// CANON: rt.weigh
// CANON: linalg.contract
// CANON-NOT: scf.for
// CANON: rt.finalize

// With split keys the distances are recomputed, in a loop in each range.
// SPLIT-LABEL: func.func @chunk
// SPLIT: scf.forall (%{{.*}}) in (%c2)
// SPLIT: scf.for %{{.*}} step %c16
// SPLIT: rt.distance
// SPLIT: rt.score_sweep
// SPLIT-NOT: tensor.insert_slice
// SPLIT: scf.forall (%{{.*}}) in (%c2)
// SPLIT: scf.for %{{.*}} step %c16
// SPLIT: rt.distance
// SPLIT: rt.reduce_sweep
// SPLIT-NOT: tensor.insert_slice
// SPLIT: rt.merge <reduce>
// SPLIT-LABEL: func.func @copies

// CHECK-LABEL: func.func @chunk
func.func @chunk(%q: tensor<?x?x4xf32>, %table: tensor<?x4xf32>, %ids: tensor<?x?xi32>, %tau: tensor<f32>, %g: tensor<1xf32>, %off: index, %len: tensor<?xi64>) -> tensor<?x?x5xf32> {
  // CHECK-DAG: %[[C:.*]] = arith.constant 16 : index
  // CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
  // CHECK: %[[ROWS:.*]] = arith.minsi
  // CHECK: %[[HI:.*]] = arith.maxsi
  // CHECK: %[[QT:.*]] = tensor.extract_slice %{{.*}} [1, %[[ROWS]], 4]
  // CHECK-NOT: rt.lookup
  // KEEP: %[[KEPT0:.*]] = tensor.empty(%[[ROWS]], %[[HI]]) : tensor<1x?x?xf32>
  // KEEP: %[[L:.*]]:3 = scf.for %[[J:.*]] = %[[C0]] to %[[HI]] step %[[C]] iter_args(%[[F:.*]] = %{{.*}}, %[[P:.*]] = %{{.*}}, %[[KEPT:.*]] = %[[KEPT0]])
  // AGAIN: %[[L:.*]]:2 = scf.for %[[J:.*]] = %[[C0]] to %[[HI]] step %[[C]] iter_args(%[[F:.*]] = %{{.*}}, %[[P:.*]] = %{{.*}})
  // CHECK: %[[LEFT:.*]] = arith.subi %[[HI]], %[[J]]
  // CHECK: %[[N:.*]] = arith.minsi %[[LEFT]], %[[C]]
  // CHECK: %[[IDS:.*]] = tensor.extract_slice %{{.*}}[%{{.*}}, %[[J]]] [1, %[[N]]] [1, 1] : tensor<?x?xi32>
  // CHECK: %[[K:.*]] = rt.lookup %{{.*}}[%[[IDS]]]
  // CHECK: %[[D:.*]] = rt.distance %[[QT]], %[[K]]
  // CHECK: rt.score_sweep {{.*}} ins(%[[D]], {{.*}} at(%{{.*}}, %[[J]]) outs(%[[F]], %[[P]]
  // KEEP: tensor.insert_slice %[[D]] into %[[KEPT]][0, 0, %[[J]]] [1, %[[ROWS]], %[[N]]]
  // What needs the end of the first loop is one more, whatever it sums.
  // CHECK: %[[RF0:.*]], %[[RP0:.*]] = rt.init <reduce>
  // CHECK: %[[S0:.*]] = linalg.fill {{.*}} -> tensor<1x1x?x4xf32>
  // CHECK: %[[L2:.*]]:3 = scf.for %[[J2:.*]] = %[[C0]] to %[[HI]] step %[[C]] iter_args(%[[RF:.*]] = %[[RF0]], %[[RP:.*]] = %[[RP0]], %[[S:.*]] = %[[S0]])
  // CHECK: %[[N2:.*]] = arith.minsi
  // KEEP: %[[D2:.*]] = tensor.extract_slice %[[L]]#2[0, 0, %[[J2]]] [1, %[[ROWS]], %[[N2]]]
  // AGAIN: %[[K2:.*]] = rt.lookup
  // AGAIN: %[[D2:.*]] = rt.distance %[[QT]], %[[K2]]
  // CHECK-NOT: rt.distance
  // CHECK: %[[RF1:.*]], %[[RP1:.*]] = rt.reduce_sweep {{.*}} ins(%[[D2]], %[[L]]#0, {{[^)]*}}) at(%{{.*}}, %[[J2]]) outs(%[[RF]], %[[RP]] : {{[^)]*}}){{$}}
  // CHECK: %[[W:.*]] = rt.weigh {{.*}} ins(%[[D2]], %[[L]]#0, {{.*}} at(%{{.*}}, %[[J2]])
  // KEEP: %[[K2:.*]] = rt.lookup
  // AGAIN-NOT: rt.lookup
  // CHECK: %[[S1:.*]] = linalg.contract {{.*}} ins(%[[W]], %[[K2]] {{.*}} outs(%[[S]]
  // CHECK-NEXT: scf.yield %[[RF1]], %[[RP1]], %[[S1]]
  // CHECK-NOT: scf.for %
  // CHECK: rt.finalize {{.*}} score(%[[L]]#0, %[[L]]#1 {{.*}} reduce(%[[L2]]#0, %[[L2]]#1, %[[L2]]#2
  %y = rt.attend [#rt.centroid, #rt.entropy]
    queries(%q : tensor<?x?x4xf32>) lookup(%table[%ids] : tensor<?x4xf32>, tensor<?x?xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) offset(%off) lengths(%len : tensor<?xi64>) -> tensor<?x?x5xf32>
  return %y : tensor<?x?x5xf32>
}

// Nothing to reduce: no second loop, nothing kept.
// CHECK-LABEL: func.func @copies
func.func @copies(%q: tensor<2x8x4xf32>, %table: tensor<9x4xf32>, %ids: tensor<2x8xi32>, %tau: tensor<f32>, %g: tensor<1xf32>) -> tensor<2x8x4xf32> {
  // CHECK: scf.for %
  // CHECK-NOT: tensor.insert_slice
  // CHECK-NOT: scf.for %
  // CHECK-NOT: rt.reduce_sweep
  // CHECK: rt.finalize
  %y = rt.attend [#rt.top<1>]
    queries(%q : tensor<2x8x4xf32>) lookup(%table[%ids] : tensor<9x4xf32>, tensor<2x8xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) -> tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}

// A schedule on the function; options come first.
// CHECK-LABEL: func.func @scheduled
// CANON-LABEL: func.func @scheduled
// CANON: rt.score_sweep
// CANON: linalg.contract
// CANON: rt.finalize
func.func @scheduled(%q: tensor<2x8x4xf32>, %table: tensor<9x4xf32>, %ids: tensor<2x8xi32>, %tau: tensor<f32>, %g: tensor<1xf32>) -> tensor<2x8x5xf32> attributes {rt.schedule = #rt.schedule<query_tile = 32, key_chunk = 3, split_keys = 1, scores = recompute>} {
  // CHECK: scf.for %{{.*}} step %c16
  %y = rt.attend [#rt.centroid, #rt.entropy]
    queries(%q : tensor<2x8x4xf32>) lookup(%table[%ids] : tensor<9x4xf32>, tensor<2x8xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) -> tensor<2x8x5xf32>
  return %y : tensor<2x8x5xf32>
}
