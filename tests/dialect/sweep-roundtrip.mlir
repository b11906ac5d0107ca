// RUN: rt-opt %s | rt-opt | FileCheck %s
// RUN: rt-opt %s --mlir-print-op-generic | rt-opt | FileCheck %s

// CHECK-LABEL: @init
func.func @init(%b: index, %n: index, %p: index) {
  // CHECK: rt.init <score> [#rt.top<1>](%{{.*}}, %{{.*}}) : tensor<?x?x3xf32>, tensor<?x?x1xi32>
  %f, %i = rt.init <score> [#rt.top<1>] (%b, %n) : tensor<?x?x3xf32>, tensor<?x?x1xi32>
  // CHECK: rt.init <reduce> [#rt.spread](%{{.*}}, %{{.*}}) parts(%{{.*}}) : tensor<?x?x?x2xf32>, tensor<?x?x?x0xi32>
  %g, %j = rt.init <reduce> [#rt.spread] (%b, %n) parts(%p) : tensor<?x?x?x2xf32>, tensor<?x?x?x0xi32>
  return
}

// CHECK-LABEL: @score_sweep
func.func @score_sweep(%d: tensor<1x?x?xf32>, %tau: tensor<f32>, %g: tensor<0xf32>, %c0: index, %len: tensor<1xi64>, %f0: tensor<1x?x3xf32>, %i0: tensor<1x?x1xi32>) {
  // CHECK: rt.score_sweep [#rt.top<1>] ins({{[^:]*}} : tensor<1x?x?xf32>, tensor<f32>, tensor<0xf32>) at({{[^)]*}})
  // CHECK-SAME: lengths({{[^:]*}} : tensor<1xi64>) outs({{[^:]*}} : tensor<1x?x3xf32>, tensor<1x?x1xi32>)
  %f1, %i1 = rt.score_sweep [#rt.top<1>] ins(%d, %tau, %g : tensor<1x?x?xf32>, tensor<f32>, tensor<0xf32>)
    at(%c0, %c0) lengths(%len : tensor<1xi64>) outs(%f0, %i0 : tensor<1x?x3xf32>, tensor<1x?x1xi32>)
  // CHECK: rt.score_sweep [#rt.top<1>] ins(
  // CHECK-NOT: lengths
  %f2, %i2 = rt.score_sweep [#rt.top<1>] ins(%d, %tau, %g : tensor<1x?x?xf32>, tensor<f32>, tensor<0xf32>)
    at(%c0, %c0) outs(%f0, %i0 : tensor<1x?x3xf32>, tensor<1x?x1xi32>)
  return
}

// Without channels, a score sweep is the softmax's maximum and log-sum.
// CHECK-LABEL: @log_sum
func.func @log_sum(%d: tensor<1x?x?xf32>, %tau: tensor<f32>, %g: tensor<0xf32>, %c0: index, %b: index, %n: index) {
  // CHECK: rt.init <score> []({{.*}}) : tensor<?x?x2xf32>, tensor<?x?x0xi32>
  %f0, %i0 = rt.init <score> [] (%b, %n) : tensor<?x?x2xf32>, tensor<?x?x0xi32>
  // CHECK: rt.score_sweep [] ins(
  %f1, %i1 = rt.score_sweep [] ins(%d, %tau, %g : tensor<1x?x?xf32>, tensor<f32>, tensor<0xf32>)
    at(%c0, %c0) outs(%f0, %i0 : tensor<?x?x2xf32>, tensor<?x?x0xi32>)
  return
}

// CHECK-LABEL: @reduce_sweep
func.func @reduce_sweep(%d: tensor<1x?x?xf32>, %s: tensor<1x?x2xf32>, %tau: tensor<f32>, %g: tensor<0xf32>, %k: tensor<1x?x64xf32>, %c0: index, %f0: tensor<1x?x2xf32>, %i0: tensor<1x?x0xi32>, %n0: tensor<1x1x?x64xf32>) {
  // CHECK: rt.reduce_sweep [#rt.centroid, #rt.entropy] ins(
  // CHECK-SAME: keys({{[^:]*}} : tensor<1x?x64xf32>) at({{[^)]*}})
  // CHECK-SAME: sums({{[^:]*}} : tensor<1x1x?x64xf32>) -> tensor<1x1x?x64xf32>
  %r:3 = rt.reduce_sweep [#rt.centroid, #rt.entropy]
    ins(%d, %s, %tau, %g : tensor<1x?x?xf32>, tensor<1x?x2xf32>, tensor<f32>, tensor<0xf32>)
    keys(%k : tensor<1x?x64xf32>) at(%c0, %c0)
    outs(%f0, %i0 : tensor<1x?x2xf32>, tensor<1x?x0xi32>) sums(%n0 : tensor<1x1x?x64xf32>) -> tensor<1x1x?x64xf32>
  // CHECK: rt.reduce_sweep [#rt.entropy] ins(
  // CHECK-NOT: sums
  %t:2 = rt.reduce_sweep [#rt.entropy]
    ins(%d, %s, %tau, %g : tensor<1x?x?xf32>, tensor<1x?x2xf32>, tensor<f32>, tensor<0xf32>)
    at(%c0, %c0) outs(%f0, %i0 : tensor<1x?x2xf32>, tensor<1x?x0xi32>)
  return
}

// CHECK-LABEL: @weigh
func.func @weigh(%d: tensor<1x?x?xf32>, %s: tensor<1x?x4xf32>, %tau: tensor<f32>, %g: tensor<1xf32>, %c0: index) {
  // CHECK: rt.weigh [#rt.centroid, #rt.decay<backward, 0>] ins(
  // CHECK-SAME: at({{[^)]*}}) -> tensor<1x2x?x?xf32>
  %w = rt.weigh [#rt.centroid, #rt.decay<backward, 0>]
    ins(%d, %s, %tau, %g : tensor<1x?x?xf32>, tensor<1x?x4xf32>, tensor<f32>, tensor<1xf32>)
    at(%c0, %c0) -> tensor<1x2x?x?xf32>
  return
}

// Some channels, with the states of another list: (m, l), (r, l) of the decay,
// the largest score and its key; the entropy keeps nothing there.
// CHECK-LABEL: @subsets
func.func @subsets(%d: tensor<1x?x?xf32>, %s: tensor<1x?x5xf32>, %si: tensor<1x?x1xi32>, %tau: tensor<f32>, %g: tensor<1xf32>, %c0: index, %f0: tensor<1x?x2xf32>, %i0: tensor<1x?x0xi32>, %n: tensor<1x1x?x64xf32>, %table: tensor<?x64xf32>, %ids: tensor<1x?xi32>, %y: tensor<1x?x65xf32>, %norm: tensor<1x?xf32>) {
  // CHECK: rt.reduce_sweep [#rt.entropy] of [#rt.top<1>, #rt.decay<backward, 0>] ins(
  %t:2 = rt.reduce_sweep [#rt.entropy] of [#rt.top<1>, #rt.decay<backward, 0>]
    ins(%d, %s, %tau, %g : tensor<1x?x?xf32>, tensor<1x?x5xf32>, tensor<f32>, tensor<1xf32>)
    at(%c0, %c0) outs(%f0, %i0 : tensor<1x?x2xf32>, tensor<1x?x0xi32>)
  // CHECK: rt.weigh [#rt.decay<backward, 0>] of [#rt.top<1>, #rt.decay<backward, 0>] ins(
  %w = rt.weigh [#rt.decay<backward, 0>] of [#rt.top<1>, #rt.decay<backward, 0>]
    ins(%d, %s, %tau, %g : tensor<1x?x?xf32>, tensor<1x?x5xf32>, tensor<f32>, tensor<1xf32>)
    at(%c0, %c0) -> tensor<1x1x?x?xf32>
  // CHECK: rt.finalize [#rt.entropy, #rt.decay<backward, 0>] of [#rt.top<1>, #rt.decay<backward, 0>, #rt.entropy] reduced [#rt.entropy] score(
  %r:3 = rt.finalize [#rt.entropy, #rt.decay<backward, 0>] of [#rt.top<1>, #rt.decay<backward, 0>, #rt.entropy] reduced [#rt.entropy]
    score(%s, %si : tensor<1x?x5xf32>, tensor<1x?x1xi32>)
    reduce(%t#0, %t#1, %n : tensor<1x?x2xf32>, tensor<1x?x0xi32>, tensor<1x1x?x64xf32>)
    lookup(%table[%ids] : tensor<?x64xf32>, tensor<1x?xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>)
    at(%c0) outs(%y, %norm, %i0 : tensor<1x?x65xf32>, tensor<1x?xf32>, tensor<1x?x0xi32>)
  return
}

// CHECK-LABEL: @merge
func.func @merge(%f: tensor<1x?x?x3xf32>, %i: tensor<1x?x?x1xi32>, %r: tensor<1x?x?x2xf32>, %j: tensor<1x?x?x0xi32>) {
  // CHECK: rt.merge <score> [#rt.top<1>](%{{.*}}, %{{.*}} : tensor<1x?x?x3xf32>, tensor<1x?x?x1xi32>) -> tensor<1x?x3xf32>, tensor<1x?x1xi32>
  %a:2 = rt.merge <score> [#rt.top<1>] (%f, %i : tensor<1x?x?x3xf32>, tensor<1x?x?x1xi32>) -> tensor<1x?x3xf32>, tensor<1x?x1xi32>
  // CHECK: rt.merge <reduce> [#rt.entropy](%{{.*}}, %{{.*}} : tensor<1x?x?x2xf32>, tensor<1x?x?x0xi32>) -> tensor<1x?x2xf32>, tensor<1x?x0xi32>
  %b:2 = rt.merge <reduce> [#rt.entropy] (%r, %j : tensor<1x?x?x2xf32>, tensor<1x?x?x0xi32>) -> tensor<1x?x2xf32>, tensor<1x?x0xi32>
  return
}

// CHECK-LABEL: @finalize
func.func @finalize(%sf: tensor<1x?x3xf32>, %si: tensor<1x?x1xi32>, %rf: tensor<1x?x0xf32>, %ri: tensor<1x?x0xi32>, %n: tensor<1x1x?x64xf32>, %table: tensor<?x64xf32>, %ids: tensor<1x?xi32>, %tau: tensor<f32>, %g: tensor<0xf32>, %c0: index, %y: tensor<1x?x128xf32>, %norm: tensor<1x?xf32>, %at: tensor<1x?x1xi32>) {
  // CHECK: rt.finalize [#rt.centroid, #rt.top<1>] of [#rt.centroid, #rt.top<1>] score(
  // CHECK-SAME: reduce(
  // CHECK-SAME: lookup(%{{.*}}[%{{.*}}] : tensor<?x64xf32>, tensor<1x?xi32>)
  // CHECK-SAME: {decay_origin = #rt.decay_origin<query>}
  %r:3 = rt.finalize [#rt.centroid, #rt.top<1>] of [#rt.centroid, #rt.top<1>]
    score(%sf, %si : tensor<1x?x3xf32>, tensor<1x?x1xi32>)
    reduce(%rf, %ri, %n : tensor<1x?x0xf32>, tensor<1x?x0xi32>, tensor<1x1x?x64xf32>)
    lookup(%table[%ids] : tensor<?x64xf32>, tensor<1x?xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>)
    at(%c0) outs(%y, %norm, %at : tensor<1x?x128xf32>, tensor<1x?xf32>, tensor<1x?x1xi32>)
    {decay_origin = #rt.decay_origin<query>}
  return
}
