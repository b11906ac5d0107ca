// RUN: rt-opt %s | rt-opt | FileCheck %s
// RUN: rt-opt %s --mlir-print-op-generic | rt-opt | FileCheck %s

// CHECK-LABEL: @distinct
func.func @distinct(%ids: tensor<?x?xi64>, %v: index) {
  // CHECK: rt.distinct %{{.*}} of %{{.*}} : tensor<?x?xi64> -> tensor<?x?xi32>, tensor<?x?xi64>, tensor<?xi32>
  %slots, %tokens, %seen = rt.distinct %ids of %v : tensor<?x?xi64> -> tensor<?x?xi32>, tensor<?x?xi64>, tensor<?xi32>
  return
}

// CHECK-LABEL: @fold_keys
func.func @fold_keys(%slots: tensor<?x?xi32>, %g: tensor<1xf32>, %begin: index, %end: index, %len: tensor<?xi64>, %p0: tensor<?x3x?xi32>, %m0: tensor<?x2x?xf32>) {
  // CHECK: rt.fold_keys [#rt.top<2>, #rt.decay<backward, 0>] ins({{.*}} : tensor<?x?xi32>, tensor<1xf32>) from %{{.*}} to %{{.*}} outs({{.*}} : tensor<?x3x?xi32>, tensor<?x2x?xf32>)
  %p1, %m1 = rt.fold_keys [#rt.top<2>, #rt.decay<backward, 0>] ins(%slots, %g : tensor<?x?xi32>, tensor<1xf32>)
    from %begin to %end outs(%p0, %m0 : tensor<?x3x?xi32>, tensor<?x2x?xf32>)
  // CHECK: rt.fold_keys {{.*}} lengths({{.*}} : tensor<?xi64>) outs(
  %p2, %m2 = rt.fold_keys [#rt.top<2>, #rt.decay<backward, 0>] ins(%slots, %g : tensor<?x?xi32>, tensor<1xf32>)
    from %begin to %end lengths(%len : tensor<?xi64>) outs(%p1, %m1 : tensor<?x3x?xi32>, tensor<?x2x?xf32>)
  return
}

// Keys in a list, once each or as often as their masses say.
// CHECK-LABEL: @lists
func.func @lists(%d: tensor<1x?x?xf32>, %tau: tensor<f32>, %g: tensor<0xf32>, %c0: index, %once: tensor<1x1x?xi32>, %at: tensor<1x2x?xi32>, %of: tensor<1x1x?xf32>, %f0: tensor<1x?x2xf32>, %i0: tensor<1x?x0xi32>, %r0: tensor<1x?x2xf32>) {
  // CHECK: rt.score_sweep {{.*}} positions({{.*}} : tensor<1x1x?xi32>) outs(
  %f1, %i1 = rt.score_sweep [#rt.spread] ins(%d, %tau, %g : tensor<1x?x?xf32>, tensor<f32>, tensor<0xf32>)
    at(%c0, %c0) positions(%once : tensor<1x1x?xi32>) outs(%f0, %i0 : tensor<1x?x2xf32>, tensor<1x?x0xi32>)
  // CHECK: rt.reduce_sweep {{.*}} positions({{.*}} : tensor<1x2x?xi32>) masses({{.*}} : tensor<1x1x?xf32>) outs(
  %r1, %x1 = rt.reduce_sweep [#rt.spread] ins(%d, %f1, %tau, %g : tensor<1x?x?xf32>, tensor<1x?x2xf32>, tensor<f32>, tensor<0xf32>)
    at(%c0, %c0) positions(%at : tensor<1x2x?xi32>) masses(%of : tensor<1x1x?xf32>) outs(%r0, %i0 : tensor<1x?x2xf32>, tensor<1x?x0xi32>)
  // CHECK: rt.weigh {{.*}} positions({{.*}} : tensor<1x2x?xi32>) masses({{.*}} : tensor<1x1x?xf32>) ->
  %w = rt.weigh [#rt.centroid] of [#rt.centroid, #rt.spread] ins(%d, %f1, %tau, %g : tensor<1x?x?xf32>, tensor<1x?x2xf32>, tensor<f32>, tensor<0xf32>)
    at(%c0, %c0) positions(%at : tensor<1x2x?xi32>) masses(%of : tensor<1x1x?xf32>) -> tensor<1x1x?x?xf32>
  return
}
