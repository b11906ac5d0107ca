// RUN: rt-opt %s --rt-to-sweeps --rt-fuse-channels --rt-tile-tasks=query-tile=4 | FileCheck %s
// RUN: rt-opt %s --rt-to-sweeps --rt-fuse-channels --rt-tile-tasks=query-tile=4 --rt-tile-tasks=query-tile=8 | FileCheck %s
// RUN: rt-opt %s --rt-to-sweeps --canonicalize --rt-fuse-channels --canonicalize --rt-tile-tasks=query-tile=4 --canonicalize | FileCheck %s --check-prefix=CANON
// RUN: rt-opt %s --rt-to-sweeps --rt-fuse-channels --rt-tile-tasks --canonicalize --rt-tile-tasks=query-tile=2 | FileCheck %s --check-prefix=AGAIN
// RUN: rt-opt %s --rt-to-sweeps --rt-fuse-channels --rt-tile-tasks | FileCheck %s --check-prefix=SIZE

// The size from rt.schedule of the function, or 32.
// SIZE-LABEL: func.func @lengths
// SIZE: scf.forall {{.*}} step (1, %c32)
// SIZE-LABEL: func.func @static
// SIZE: scf.forall {{.*}} step (1, %c6)

// CHECK-LABEL: func.func @lengths
// CHECK-SAME: %[[Q:[a-z0-9]*]]: tensor<?x?x4xf32>, %[[TABLE:[a-z0-9]*]]: tensor<?x4xf32>, %[[IDS:[a-z0-9]*]]: tensor<?x?xi32>, %{{.*}}: tensor<f32>, %{{.*}}: tensor<1xf32>, %[[OFF:[a-z0-9]*]]: index, %[[LEN:[a-z0-9]*]]: tensor<?xi64>
// CANON-LABEL: func.func @lengths
// CANON: scf.forall (%{{.*}}, %{{.*}}) = (0, 0) to (%{{.*}}, %{{.*}}) step (1, 4)
// CANON: rt.score_sweep
// CANON: linalg.contract
// CANON: rt.finalize
func.func @lengths(%q: tensor<?x?x4xf32>, %table: tensor<?x4xf32>, %ids: tensor<?x?xi32>, %tau: tensor<f32>, %g: tensor<1xf32>, %off: index, %len: tensor<?xi64>) -> tensor<?x?x5xf32> {
  // CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
  // CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
  // CHECK-DAG: %[[TQ:.*]] = tensor.dim %[[Q]], %c1
  // CHECK-DAG: %[[T:.*]] = tensor.dim %[[IDS]], %c1
  // CHECK-NOT: rt.
  // CHECK: scf.forall (%[[B:.*]], %[[I:.*]]) = (0, 0) to (%{{.*}}, %[[TQ]]) step (1, %[[C4]]) shared_outs(%[[Y:.*]] = %{{.*}}, %{{.*}} = %{{.*}})
  // CHECK: %[[LEFT:.*]] = arith.subi %[[TQ]], %[[I]]
  // CHECK: %[[ROWS:.*]] = arith.minsi %[[LEFT]], %[[C4]]
  // CHECK: %[[ROW:.*]] = arith.addi %[[OFF]], %[[I]]
  // CHECK: %[[OWN:.*]] = tensor.extract %[[LEN]][%[[B]]]
  // CHECK: %[[LENGTH:.*]] = arith.index_cast %[[OWN]]
  // CHECK: %[[BOUND:.*]] = arith.minsi %[[LENGTH]], %[[T]]
  // CHECK: %[[END:.*]] = arith.addi %[[ROW]], %[[ROWS]]
  // CHECK: %[[SEEN:.*]] = arith.minsi %[[END]], %[[BOUND]]
  // CHECK: %[[HI:.*]] = arith.maxsi %[[SEEN]], %[[C0]]
  // CHECK: %[[F0:.*]], %[[P0:.*]] = rt.init <score> {{.*}}(%c1, %[[ROWS]])
  // CHECK: %[[QT:.*]] = tensor.extract_slice %[[Q]][%[[B]], %[[I]], 0] [1, %[[ROWS]], 4]
  // CHECK: %[[IDST:.*]] = tensor.extract_slice %[[IDS]][%[[B]], 0] [1, %[[HI]]]
  // CHECK: %[[K:.*]] = rt.lookup %[[TABLE]][%[[IDST]]]
  // CHECK: %[[D:.*]] = rt.distance %[[QT]], %[[K]]
  // The range stands for the lengths.
  // CHECK: %[[F:.*]], %{{.*}} = rt.score_sweep {{.*}} ins(%[[D]], {{.*}}) at(%[[ROW]], %[[C0]]) outs(%[[F0]], %[[P0]]
  // CHECK: %[[RF:.*]], %{{.*}} = rt.reduce_sweep {{.*}} ins(%[[D]], %[[F]], {{.*}}) at(%[[ROW]], %[[C0]]) outs
  // CHECK: %[[W:.*]] = rt.weigh {{.*}} ins(%[[D]], %[[F]], {{.*}}) at(%[[ROW]], %[[C0]]) -> tensor<1x1x?x?xf32>
  // CHECK: %[[S:.*]] = linalg.contract {{.*}} ins(%[[W]], %[[K]] : tensor<1x1x?x?xf32>, tensor<1x?x4xf32>)
  // CHECK-NOT: rt.{{lookup|distance|weigh}}
  // CHECK: %[[YT:.*]], %{{.*}}, %{{.*}} = rt.finalize {{.*}} score(%[[F]], {{.*}} reduce(%[[RF]], %{{.*}}, %[[S]] {{.*}} at(%[[ROW]]) lengths(%{{.*}} : tensor<1xi64>)
  // CHECK: tensor.parallel_insert_slice %[[YT]] into %[[Y]][%[[B]], %[[I]], 0] [1, %[[ROWS]], 5]
  %y = rt.attend [#rt.centroid, #rt.entropy]
    queries(%q : tensor<?x?x4xf32>) lookup(%table[%ids] : tensor<?x4xf32>, tensor<?x?xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) offset(%off) lengths(%len : tensor<?xi64>) -> tensor<?x?x5xf32>
  return %y : tensor<?x?x5xf32>
}

// CHECK-LABEL: func.func @static
// CANON-LABEL: func.func @static
// CANON: scf.forall (%{{.*}}, %{{.*}}) = (0, 0) to (2, 8) step (1, 4)
func.func @static(%q: tensor<2x8x4xf32>, %table: tensor<9x4xf32>, %ids: tensor<2x8xi32>, %tau: tensor<f32>, %g: tensor<1xf32>) -> tensor<2x8x5xf32> attributes {rt.schedule = #rt.schedule<query_tile = 6, key_chunk = 3, split_keys = 1, scores = keep>} {
  // CHECK: %[[T:.*]] = arith.constant 8 : index
  // CHECK: scf.forall (%{{.*}}, %[[I:.*]]) = (0, 0) to (2, 8) step (1, %{{.*}})
  // CHECK: %[[ROWS:.*]] = arith.minsi
  // CHECK: %[[END:.*]] = arith.addi %[[I]], %[[ROWS]]
  // CHECK: arith.minsi %[[END]], %[[T]]
  // CHECK: rt.finalize {{.*}} at(%[[I]]) outs
  %y = rt.attend [#rt.centroid, #rt.entropy]
    queries(%q : tensor<2x8x4xf32>) lookup(%table[%ids] : tensor<9x4xf32>, tensor<2x8xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) -> tensor<2x8x5xf32>
  return %y : tensor<2x8x5xf32>
}

// One tile only: canonicalisation removes its loop and leaves casts, and tiling
// again stays within the keys that are left.
// CANON-LABEL: func.func @single
// CANON-NOT: scf.forall
// CANON: rt.finalize
// AGAIN-LABEL: func.func @single
// AGAIN: %[[ALL:.*]] = arith.maxsi
// AGAIN-NOT: rt.
// AGAIN: scf.forall {{.*}} step (1, %c2)
// AGAIN-NOT: tensor.cast
// AGAIN: %[[SEEN:.*]] = arith.minsi %{{.*}}, %[[ALL]]
// AGAIN: %[[HI:.*]] = arith.maxsi %[[SEEN]],
// AGAIN: tensor.extract_slice %{{.*}}[%{{.*}}, 0] [1, %[[HI]]]
// AGAIN-NOT: tensor.cast
// AGAIN: linalg.contract {{.*}} tensor<1x1x?x?xf32>, tensor<1x?x4xf32>
// AGAIN-NOT: tensor.cast
// AGAIN: scf.forall.in_parallel
func.func @single(%q: tensor<1x3x4xf32>, %table: tensor<9x4xf32>, %ids: tensor<1x8xi32>, %tau: tensor<f32>, %g: tensor<1xf32>, %off: index) -> tensor<1x3x4xf32> {
  %y = rt.attend [#rt.centroid]
    queries(%q : tensor<1x3x4xf32>) lookup(%table[%ids] : tensor<9x4xf32>, tensor<1x8xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) offset(%off) -> tensor<1x3x4xf32>
  return %y : tensor<1x3x4xf32>
}
