// RUN: rt-opt %s --rt-to-sweeps | FileCheck %s
// RUN: rt-opt %s --rt-to-sweeps --rt-to-sweeps | FileCheck %s

// CHECK-LABEL: func.func @all
// CHECK-SAME: %[[Q:.*]]: tensor<?x?x4xf32>, %[[TABLE:.*]]: tensor<?x4xf32>, %[[IDS:.*]]: tensor<?x?xi32>, %[[TAU:.*]]: tensor<f32>, %[[G:.*]]: tensor<1xf32>, %[[OFF:.*]]: index, %[[LEN:.*]]: tensor<?xi64>
func.func @all(%q: tensor<?x?x4xf32>, %table: tensor<?x4xf32>, %ids: tensor<?x?xi32>, %tau: tensor<f32>, %g: tensor<1xf32>, %off: index, %len: tensor<?xi64>) -> (tensor<?x?x13xf32>, tensor<?x?x1xi32>, tensor<?x?xf32>) {
  // CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
  // CHECK: %[[K:.*]] = rt.lookup %[[TABLE]][%[[IDS]]]
  // CHECK: %[[D:.*]] = rt.distance %[[Q]], %[[K]] {metric = #rt.metric<l2>, precision = #rt.precision<exact>}
  // CHECK: %[[F0:.*]], %[[P0:.*]] = rt.init <score> [#rt.decay<backward, 0>, #rt.entropy, #rt.top<1>]
  // CHECK: %[[F:.*]], %[[P:.*]] = rt.score_sweep {{.*}} ins(%[[D]], %[[TAU]], %[[G]] : {{.*}}) at(%[[OFF]], %{{.*}}) lengths(%[[LEN]] : {{.*}}) outs(%[[F0]], %[[P0]]
  // CHECK: %[[RF0:.*]], %[[RP0:.*]] = rt.init <reduce>
  // CHECK: %[[S0:.*]] = linalg.fill {{.*}} -> tensor<?x1x?x4xf32>
  // CHECK: %[[RF:.*]], %[[RP:.*]], %[[S:.*]] = rt.reduce_sweep {{.*}} ins(%[[D]], %[[F]], {{.*}}) keys(%[[K]] {{.*}}) at(%[[OFF]], %{{.*}}) lengths(%[[LEN]] {{.*}}) outs(%[[RF0]], %[[RP0]] {{.*}}) sums(%[[S0]]
  // The full list of channels, of the distinct ones; saved values by kind.
  // CHECK: %[[Y:.*]], %[[N:.*]], %[[X:.*]] = rt.finalize [#rt.decay<backward, 0>, #rt.entropy, #rt.decay<backward, 0>, #rt.top<1>] of [#rt.decay<backward, 0>, #rt.entropy, #rt.top<1>]
  // CHECK-SAME: decay_origin = #rt.decay_origin<query>
  // CHECK: return %[[Y]], %[[X]], %[[N]]
  %y:3 = rt.attend [#rt.decay<backward, 0>, #rt.entropy, #rt.decay<backward, 0>, #rt.top<1>]
    queries(%q : tensor<?x?x4xf32>) lookup(%table[%ids] : tensor<?x4xf32>, tensor<?x?xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) offset(%off) lengths(%len : tensor<?xi64>)
    {saves = [#rt.saved<indices>, #rt.saved<norm>], decay_origin = #rt.decay_origin<query>, metric = #rt.metric<l2>, precision = #rt.precision<exact>} -> tensor<?x?x13xf32> saves tensor<?x?x1xi32>, tensor<?x?xf32>
  return %y#0, %y#1, %y#2 : tensor<?x?x13xf32>, tensor<?x?x1xi32>, tensor<?x?xf32>
}

// Without offset and lengths, static, no weighted channel, bf16 in.
// CHECK-LABEL: func.func @plain
func.func @plain(%q: tensor<2x5x4xbf16>, %table: tensor<9x4xbf16>, %ids: tensor<2x5xi64>, %tau: tensor<f32>, %g: tensor<0xf32>) -> tensor<2x5x4xf32> {
  // CHECK: %[[C0:.*]] = arith.constant 0 : index
  // CHECK: rt.lookup {{.*}} -> tensor<2x5x4xbf16>
  // CHECK: rt.distance {{.*}} : tensor<2x5x4xbf16>, tensor<2x5x4xbf16> -> tensor<2x5x5xf32>
  // CHECK: rt.score_sweep {{.*}} at(%[[C0]], %[[C0]]) outs
  // CHECK: linalg.fill {{.*}} -> tensor<2x0x5x4xf32>
  // CHECK: rt.finalize {{.*}} at(%[[C0]]) outs
  %y = rt.attend [#rt.predecessor]
    queries(%q : tensor<2x5x4xbf16>) lookup(%table[%ids] : tensor<9x4xbf16>, tensor<2x5xi64>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) -> tensor<2x5x4xf32>
  return %y : tensor<2x5x4xf32>
}
