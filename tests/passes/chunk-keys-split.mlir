// RUN: rt-opt %s --rt-stream=split-keys=2 | FileCheck %s
// RUN: rt-opt %s --rt-stream=split-keys=2 --rt-bufferize --rt-lower-to-cpu -o /dev/null
// Where the sweeps of a task are split, its weighted sums are no longer found.

// Weighted sums are not split: they are one more loop of the task, in which what
// they read is computed once.
// CHECK-LABEL: func.func @attend(
// CHECK: rt.merge <reduce>
// CHECK: scf.for %
// CHECK: rt.lookup
// CHECK-NOT: rt.lookup
// CHECK: rt.distance
// CHECK-NOT: rt.{{lookup|distance}}
// CHECK: rt.weigh
// CHECK-NOT: rt.{{lookup|distance|weigh}}
// CHECK: linalg.contract
// CHECK-NEXT: scf.yield
// CHECK-NOT: rt.{{lookup|distance|weigh}}
// CHECK-NOT: scf.for %
// CHECK: rt.finalize
func.func @attend(%q: tensor<?x?x4xf32>, %table: tensor<?x4xf32>, %ids: tensor<?x?xi32>, %tau: tensor<f32>, %g: tensor<1xf32>, %off: index, %len: tensor<?xi64>) -> tensor<?x?x14xf32> {
  %y = rt.attend [#rt.centroid, #rt.decay<backward, 0>, #rt.top<1>, #rt.entropy, #rt.spread]
    queries(%q : tensor<?x?x4xf32>) lookup(%table[%ids] : tensor<?x4xf32>, tensor<?x?xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) offset(%off) lengths(%len : tensor<?xi64>) -> tensor<?x?x14xf32>
  return %y : tensor<?x?x14xf32>
}
