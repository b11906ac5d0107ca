// RUN: rt-opt %s --rt-to-sweeps --rt-fuse-channels --rt-tile-tasks --canonicalize --rt-chunk-keys=key-chunk=5 --canonicalize | FileCheck %s --check-prefixes=ONE,KEEP
// RUN: rt-opt %s --rt-to-sweeps --rt-fuse-channels --rt-tile-tasks --canonicalize "--rt-chunk-keys=key-chunk=5 scores=recompute" --canonicalize | FileCheck %s --check-prefixes=ONE,AGAIN
// One task: canonicalisation has removed its loop and left casts.
// ONE-LABEL: func.func @single(
// ONE-NOT: scf.forall
// ONE: %[[L:.*]]:{{[23]}} = scf.for {{.*}} step %c5
// ONE: rt.distance
// ONE: rt.score_sweep
// ONE: scf.for {{.*}} step %c5
// KEEP: tensor.extract_slice %[[L]]#2[
// AGAIN: rt.distance
// ONE: rt.weigh
// ONE: linalg.contract
// ONE-NOT: scf.for
// ONE: rt.finalize
func.func @single(%q: tensor<1x3x4xf32>, %table: tensor<9x4xf32>, %ids: tensor<1x8xi32>, %tau: tensor<f32>, %g: tensor<1xf32>, %off: index) -> tensor<1x3x5xf32> {
  %y = rt.attend [#rt.centroid, #rt.entropy]
    queries(%q : tensor<1x3x4xf32>) lookup(%table[%ids] : tensor<9x4xf32>, tensor<1x8xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) offset(%off) -> tensor<1x3x5xf32>
  return %y : tensor<1x3x5xf32>
}

