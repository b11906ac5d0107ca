// RUN: rt-opt %s --rt-to-sweeps --rt-tile-queries=query-tile=4 --rt-chunk-keys=key-chunk=16 | FileCheck %s --check-prefixes=CHECK,KEEP
// RUN: rt-opt %s --rt-to-sweeps --rt-tile-queries=query-tile=4 --rt-chunk-keys=key-chunk=16 --rt-chunk-keys | FileCheck %s --check-prefixes=CHECK,KEEP
// RUN: rt-opt %s --rt-to-sweeps --rt-tile-queries=query-tile=4 "--rt-chunk-keys=key-chunk=16 scores=recompute" | FileCheck %s --check-prefixes=CHECK,AGAIN
// RUN: rt-opt %s --rt-to-sweeps --canonicalize --rt-tile-queries=query-tile=4 --canonicalize --rt-chunk-keys=key-chunk=16 --canonicalize | FileCheck %s --check-prefix=CANON
// RUN: rt-opt %s --rt-to-sweeps --rt-tile-queries=query-tile=4 --rt-split-keys=ways=2 --rt-chunk-keys=key-chunk=16 | FileCheck %s --check-prefix=SPLIT
// RUN: rt-opt %s --rt-to-sweeps --rt-tile-queries=query-tile=4 --rt-chunk-keys=key-chunk=16 | sed "s/constant 16 :/constant 5 :/" | rt-opt --rt-fuse-channels --canonicalize | FileCheck %s --check-prefix=EDIT

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

// With split keys the distances are recomputed.
// SPLIT-LABEL: func.func @chunk
// SPLIT: scf.for %
// SPLIT: rt.distance
// SPLIT-NOT: tensor.insert_slice
// SPLIT: scf.for %
// SPLIT: rt.distance
// SPLIT: rt.reduce_sweep

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
  // CHECK: scf.for %[[J2:.*]] = %[[C0]] to %[[HI]] step %[[C]]
  // CHECK: %[[N2:.*]] = arith.minsi
  // KEEP: %[[D2:.*]] = tensor.extract_slice %[[L]]#2[0, 0, %[[J2]]] [1, %[[ROWS]], %[[N2]]]
  // CHECK: %[[K2:.*]] = rt.lookup
  // KEEP-NOT: rt.distance
  // AGAIN-NOT: rt.lookup
  // AGAIN: %[[D2:.*]] = rt.distance %[[QT]], %[[K2]]
  // CHECK: rt.reduce_sweep {{.*}} ins(%[[D2]], %[[L]]#0, {{.*}} keys(%[[K2]]
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

// A schedule on the function, one tile: canonicalisation may have removed the loop.
// CHECK-LABEL: func.func @scheduled
// CANON-LABEL: func.func @scheduled
// CANON: rt.score_sweep
// CANON: rt.finalize
func.func @scheduled(%q: tensor<2x8x4xf32>, %table: tensor<9x4xf32>, %ids: tensor<2x8xi32>, %tau: tensor<f32>, %g: tensor<1xf32>) -> tensor<2x8x5xf32> attributes {rt.schedule = #rt.schedule<query_tile = 32, key_chunk = 3, split_keys = 1, scores = recompute>} {
  // CHECK: scf.for %{{.*}} step %c16
  %y = rt.attend [#rt.centroid, #rt.entropy]
    queries(%q : tensor<2x8x4xf32>) lookup(%table[%ids] : tensor<9x4xf32>, tensor<2x8xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) -> tensor<2x8x5xf32>
  return %y : tensor<2x8x5xf32>
}
