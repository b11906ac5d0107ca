// RUN: rt-opt %s | rt-opt | FileCheck %s
// RUN: rt-opt %s --mlir-print-op-generic | rt-opt | FileCheck %s

// CHECK-LABEL: @plain
func.func @plain(%q: tensor<1x?x64xf32>, %table: tensor<?x64xf32>, %ids: tensor<1x?xi32>, %tau: tensor<f32>, %g: tensor<1xf32>) -> tensor<1x?x129xf32> {
  // CHECK: rt.attend [#rt.centroid, #rt.decay<backward, 0>, #rt.entropy] queries(%{{.*}} : tensor<1x?x64xf32>)
  // CHECK-SAME: lookup(%{{.*}}[%{{.*}}] : tensor<?x64xf32>, tensor<1x?xi32>) tau(%{{.*}} : tensor<f32>)
  // CHECK-SAME: gammas(%{{.*}} : tensor<1xf32>) -> tensor<1x?x129xf32>
  %y = rt.attend [#rt.centroid, #rt.decay<backward, 0>, #rt.entropy]
    queries(%q : tensor<1x?x64xf32>)
    lookup(%table[%ids] : tensor<?x64xf32>, tensor<1x?xi32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) -> tensor<1x?x129xf32>
  return %y : tensor<1x?x129xf32>
}

// CHECK-LABEL: @everything
func.func @everything(%q: tensor<2x?x8xbf16>, %table: tensor<?x8xbf16>, %ids: tensor<2x?xi64>, %tau: tensor<f32>, %g: tensor<2xf32>, %off: index, %len: tensor<2xi64>) -> tensor<2x?x41xf32> {
  // CHECK: rt.attend [#rt.decay<forward, 1>, #rt.predecessor, #rt.top<2>, #rt.antitop, #rt.spread, #rt.centroid]
  // CHECK-SAME: offset(%{{.*}}) lengths(%{{.*}} : tensor<2xi64>)
  // CHECK-SAME: decay_origin = #rt.decay_origin<query>
  // CHECK-SAME: mask = #rt.causal
  // CHECK-SAME: metric = #rt.metric<l2>
  // CHECK-SAME: precision = #rt.precision<exact>
  // CHECK-SAME: saves = [#rt.saved<indices>, #rt.saved<norm>]
  // CHECK-SAME: saves tensor<2x?x3xi32>, tensor<2x?xf32>
  %y:3 = rt.attend [#rt.decay<forward, 1>, #rt.predecessor, #rt.top<2>, #rt.antitop, #rt.spread, #rt.centroid]
    queries(%q : tensor<2x?x8xbf16>)
    lookup(%table[%ids] : tensor<?x8xbf16>, tensor<2x?xi64>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<2xf32>)
    offset(%off) lengths(%len : tensor<2xi64>)
    {metric = #rt.metric<l2>, precision = #rt.precision<exact>, mask = #rt.causal,
     decay_origin = #rt.decay_origin<query>,
     saves = [#rt.saved<indices>, #rt.saved<norm>]}
    -> tensor<2x?x41xf32> saves tensor<2x?x3xi32>, tensor<2x?xf32>
  return %y#0 : tensor<2x?x41xf32>
}

// CHECK-LABEL: @max_score
func.func @max_score(%q: tensor<1x?x8xf32>, %table: tensor<?x8xf32>, %ids: tensor<1x?xi32>, %tau: tensor<f32>, %g: tensor<0xf32>) -> tensor<1x?x1xf32> {
  // CHECK: rt.attend [#rt.max_score]
  %y = rt.attend [#rt.max_score]
    queries(%q : tensor<1x?x8xf32>)
    lookup(%table[%ids] : tensor<?x8xf32>, tensor<1x?xi32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) -> tensor<1x?x1xf32>
  return %y : tensor<1x?x1xf32>
}

// CHECK-LABEL: @moment
func.func @moment(%q: tensor<1x?x8xf32>, %table: tensor<?x8xf32>, %ids: tensor<1x?xi32>, %tau: tensor<f32>, %g: tensor<0xf32>) -> tensor<1x?x2xf32> {
  // CHECK: rt.attend [#rt.moment<2>, #rt.moment<4>]
  %y = rt.attend [#rt.moment<2>, #rt.moment<4>]
    queries(%q : tensor<1x?x8xf32>)
    lookup(%table[%ids] : tensor<?x8xf32>, tensor<1x?xi32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) -> tensor<1x?x2xf32>
  return %y : tensor<1x?x2xf32>
}

// CHECK-LABEL: @schedule
// CHECK-SAME: rt.schedule = #rt.schedule<query_tile = 32, key_chunk = 192, split_keys = 1, scores = keep>
func.func private @schedule() attributes {rt.schedule = #rt.schedule<query_tile = 32, key_chunk = 192, split_keys = 1, scores = keep>}
