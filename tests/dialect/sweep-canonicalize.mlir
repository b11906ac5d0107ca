// RUN: rt-opt %s --canonicalize | FileCheck %s

// The sweeps carry the distinct channels that are finished: rt.top<1> is dead,
// rt.centroid is computed once.
// CHECK-LABEL: @used_channels
func.func @used_channels(%d: tensor<1x?x?xf32>, %k: tensor<1x?x8xf32>, %table: tensor<?x8xf32>, %ids: tensor<1x?xi32>, %tau: tensor<f32>, %g: tensor<0xf32>, %b: index, %n: index, %y: tensor<1x?x17xf32>, %norm: tensor<1x?xf32>, %at: tensor<1x?x0xi32>) -> tensor<1x?x17xf32> {
  // CHECK: rt.init <score> [#rt.centroid, #rt.entropy]{{.*}} : tensor<1x?x2xf32>, tensor<1x?x0xi32>
  // CHECK: rt.score_sweep [#rt.centroid, #rt.entropy]
  // CHECK: rt.init <reduce> [#rt.centroid, #rt.entropy]{{.*}} : tensor<1x?x2xf32>, tensor<1x?x0xi32>
  // CHECK: rt.reduce_sweep [#rt.centroid, #rt.entropy]{{.*}} -> tensor<1x1x?x8xf32>
  // CHECK: rt.finalize [#rt.centroid, #rt.entropy, #rt.centroid] of [#rt.centroid, #rt.entropy]
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %f0, %i0 = rt.init <score> [#rt.top<1>, #rt.centroid, #rt.entropy, #rt.centroid] (%b, %n) : tensor<1x?x3xf32>, tensor<1x?x1xi32>
  %f, %i = rt.score_sweep [#rt.top<1>, #rt.centroid, #rt.entropy, #rt.centroid]
    ins(%d, %tau, %g : tensor<1x?x?xf32>, tensor<f32>, tensor<0xf32>) at(%c0, %c0)
    outs(%f0, %i0 : tensor<1x?x3xf32>, tensor<1x?x1xi32>)
  %r0, %j0 = rt.init <reduce> [#rt.top<1>, #rt.centroid, #rt.entropy, #rt.centroid] (%b, %n) : tensor<1x?x2xf32>, tensor<1x?x0xi32>
  %empty = tensor.empty(%n) : tensor<1x2x?x8xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x2x?x8xf32>) -> tensor<1x2x?x8xf32>
  %r:3 = rt.reduce_sweep [#rt.top<1>, #rt.centroid, #rt.entropy, #rt.centroid]
    ins(%d, %f, %tau, %g : tensor<1x?x?xf32>, tensor<1x?x3xf32>, tensor<f32>, tensor<0xf32>)
    keys(%k : tensor<1x?x8xf32>) at(%c0, %c0)
    outs(%r0, %j0 : tensor<1x?x2xf32>, tensor<1x?x0xi32>) sums(%s0 : tensor<1x2x?x8xf32>) -> tensor<1x2x?x8xf32>
  %o:3 = rt.finalize [#rt.centroid, #rt.entropy, #rt.centroid] of [#rt.top<1>, #rt.centroid, #rt.entropy, #rt.centroid]
    score(%f, %i : tensor<1x?x3xf32>, tensor<1x?x1xi32>)
    reduce(%r#0, %r#1, %r#2 : tensor<1x?x2xf32>, tensor<1x?x0xi32>, tensor<1x2x?x8xf32>)
    lookup(%table[%ids] : tensor<?x8xf32>, tensor<1x?xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>)
    at(%c0) outs(%y, %norm, %at : tensor<1x?x17xf32>, tensor<1x?xf32>, tensor<1x?x0xi32>)
  return %o#0 : tensor<1x?x17xf32>
}
