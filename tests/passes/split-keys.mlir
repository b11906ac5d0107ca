// RUN: rt-opt %s --rt-to-sweeps --rt-fuse-channels --rt-tile-tasks=query-tile=4 --rt-split-keys=ways=3 | FileCheck %s
// RUN: rt-opt %s --rt-to-sweeps --rt-fuse-channels --rt-tile-tasks=query-tile=4 --rt-split-keys=ways=3 --rt-split-keys=ways=2 | FileCheck %s
// RUN: rt-opt %s --rt-to-sweeps --rt-fuse-channels --rt-tile-tasks=query-tile=4 --canonicalize --rt-split-keys=ways=3 --canonicalize | FileCheck %s --check-prefix=CANON
// RUN: rt-opt %s --rt-to-sweeps --rt-fuse-channels --rt-tile-tasks=query-tile=4 --rt-split-keys | FileCheck %s --check-prefix=ONE

// CANON: rt.init <score> {{.*}} parts(%c3)
// CANON: scf.forall (%{{.*}}) in (3)
// CANON: rt.merge <score>
// CANON: rt.merge <reduce>
// ONE-NOT: rt.merge

// CHECK-LABEL: func.func @split
func.func @split(%q: tensor<?x?x4xf32>, %table: tensor<?x4xf32>, %ids: tensor<?x?xi32>, %tau: tensor<f32>, %g: tensor<1xf32>, %off: index, %len: tensor<?xi64>) -> tensor<?x?x5xf32> {
  // CHECK-DAG: %[[WAYS:.*]] = arith.constant 3 : index
  // CHECK: %[[ROWS:.*]] = arith.minsi
  // CHECK: %[[HI:.*]] = arith.maxsi
  // The products' keys and distances.
  // CHECK: %[[K0:.*]] = rt.lookup
  // CHECK: %[[D0:.*]] = rt.distance %{{.*}}, %[[K0]]
  // CHECK: %[[LEN:.*]] = arith.ceildivsi %[[HI]], %[[WAYS]]
  // As many parts as ways, empty or not; a state without fields passes by.
  // CHECK: %[[PF0:.*]], %[[PP0:.*]] = rt.init <score> {{.*}}(%c1, %[[ROWS]]) parts(%[[WAYS]]) : tensor<1x?x?x2xf32>
  // CHECK: %[[PART:.*]] = scf.forall (%[[S:.*]]) in (%[[WAYS]]) shared_outs(%[[PF:.*]] = %[[PF0]])
  // CHECK: %[[START:.*]] = arith.muli %[[S]], %[[LEN]]
  // CHECK: %[[LO:.*]] = arith.minsi %[[START]], %[[HI]]
  // CHECK: %[[LEFT:.*]] = arith.subi %[[HI]], %[[LO]]
  // CHECK: %[[SIZE:.*]] = arith.minsi %[[LEFT]], %[[LEN]]
  // CHECK: %[[F0:.*]] = tensor.extract_slice %[[PF]][0, %[[S]], 0, 0] [1, 1, %[[ROWS]], 2]
  // CHECK: %[[IDS:.*]] = tensor.extract_slice %{{.*}}[%{{.*}}, %[[LO]]] [1, %[[SIZE]]]
  // CHECK: %[[K:.*]] = rt.lookup %{{.*}}[%[[IDS]]]
  // CHECK: %[[D:.*]] = rt.distance %{{.*}}, %[[K]]
  // CHECK: %[[F1:.*]], %{{.*}} = rt.score_sweep {{.*}} ins(%[[D]], {{.*}} at(%{{.*}}, %[[LO]]) outs(%[[F0]],
  // CHECK: tensor.parallel_insert_slice %[[F1]] into %[[PF]][0, %[[S]], 0, 0] [1, 1, %[[ROWS]], 2]
  // CHECK: %[[F:.*]], %{{.*}} = rt.merge <score> {{.*}}(%[[PART]], %[[PP0]]
  // CHECK: %[[RF0:.*]], %[[RP0:.*]] = rt.init <reduce> {{.*}} parts(%[[WAYS]]) : tensor<1x?x?x2xf32>
  // CHECK: %[[RPART:.*]] = scf.forall (%[[S2:.*]]) in (%[[WAYS]]) shared_outs(%{{.*}} = %[[RF0]])
  // CHECK: %[[START2:.*]] = arith.muli %[[S2]], %[[LEN]]
  // CHECK: %[[LO2:.*]] = arith.minsi %[[START2]], %[[HI]]
  // CHECK: rt.reduce_sweep {{.*}} ins(%{{.*}}, %[[F]], {{.*}} at(%{{.*}}, %[[LO2]])
  // CHECK: %[[RF:.*]], %{{.*}} = rt.merge <reduce> {{.*}}(%[[RPART]], %[[RP0]]
  // Weighted sums are over all keys.
  // CHECK: %[[W:.*]] = rt.weigh {{.*}} ins(%[[D0]], %[[F]], {{.*}} at(%{{.*}}, %c0)
  // CHECK: %[[SUMS:.*]] = linalg.contract {{.*}} ins(%[[W]], %[[K0]]
  // CHECK: rt.finalize {{.*}} score(%[[F]], {{.*}} reduce(%[[RF]], %{{.*}}, %[[SUMS]]
  %y = rt.attend [#rt.centroid, #rt.entropy]
    queries(%q : tensor<?x?x4xf32>) lookup(%table[%ids] : tensor<?x4xf32>, tensor<?x?xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) offset(%off) lengths(%len : tensor<?xi64>) -> tensor<?x?x5xf32>
  return %y : tensor<?x?x5xf32>
}

// Sums alone: no state to reduce, nothing of a reduce sweep to split.
// CHECK-LABEL: func.func @weighted
func.func @weighted(%q: tensor<2x8x4xf32>, %table: tensor<9x4xf32>, %ids: tensor<2x8xi32>, %tau: tensor<f32>, %g: tensor<1xf32>) -> tensor<2x8x4xf32> {
  // CHECK: rt.merge <score>
  // CHECK-NOT: scf.forall
  // CHECK-NOT: rt.merge
  // CHECK: linalg.contract
  // CHECK: rt.finalize
  %y = rt.attend [#rt.centroid]
    queries(%q : tensor<2x8x4xf32>) lookup(%table[%ids] : tensor<9x4xf32>, tensor<2x8xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) -> tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}

// CHECK-LABEL: func.func @copies
func.func @copies(%q: tensor<2x8x4xf32>, %table: tensor<9x4xf32>, %ids: tensor<2x8xi32>, %tau: tensor<f32>, %g: tensor<1xf32>) -> tensor<2x8x4xf32> {
  // CHECK: rt.merge <score>
  // CHECK-NOT: rt.merge <reduce>
  %y = rt.attend [#rt.top<1>]
    queries(%q : tensor<2x8x4xf32>) lookup(%table[%ids] : tensor<9x4xf32>, tensor<2x8xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) -> tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}
