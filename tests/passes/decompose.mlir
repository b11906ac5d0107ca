// RUN: rt-opt %s --rt-decompose -split-input-file | FileCheck %s

// Channels decompose themselves and stand beside each other in list order.
// CHECK-LABEL: @channels
// CHECK-SAME: (%[[Q:.*]]: tensor<1x?x8xf32>, %[[TABLE:.*]]: tensor<?x8xf32>, %[[IDS:.*]]: tensor<1x?xi32>, %[[TAU:.*]]: tensor<f32>, %[[G:.*]]: tensor<1xf32>)
func.func @channels(%q: tensor<1x?x8xf32>, %table: tensor<?x8xf32>, %ids: tensor<1x?xi32>, %tau: tensor<f32>, %g: tensor<1xf32>) -> tensor<1x?x25xf32> {
  // CHECK: %[[K:.*]] = rt.lookup %[[TABLE]][%[[IDS]]]
  // CHECK: %[[D:.*]] = rt.distance %[[Q]], %[[K]] : tensor<1x?x8xf32>, tensor<1x?x8xf32> -> tensor<1x?x?xf32>
  // CHECK: %[[Z:.*]], %[[W:.*]] = rt.softmax %[[D]] tau(%[[TAU]] : tensor<f32>) : tensor<1x?x?xf32>
  // CHECK: %[[A:.*]] = rt.decay %[[W]] by %[[G]][0] :
  // CHECK: %[[DECAYED:.*]] = rt.reduce %[[A]] of %[[K]] {floor = 1.000000e-08 : f64}
  // CHECK: %[[AT:.*]] = rt.arg_select %[[Z]] {rank = 2 : i64}
  // CHECK: %[[COPY:.*]] = rt.lookup %[[K]][%[[AT]]]
  // CHECK: %[[SPREAD:.*]] = rt.reduce %{{.*}} -> tensor<1x?xf32>
  // CHECK: %[[CENTROID:.*]] = rt.reduce %[[W]] of %[[K]]
  // CHECK: %[[X0:.*]] = tensor.insert_slice %[[DECAYED]] into %{{.*}}[0, 0, 0] [1, %{{.*}}, 8]
  // CHECK: %[[X1:.*]] = tensor.insert_slice %[[COPY]] into %[[X0]][0, 0, 8]
  // CHECK: %[[COLUMN:.*]] = tensor.expand_shape %[[SPREAD]] {{\[\[}}0], [1, 2]]
  // CHECK: %[[X2:.*]] = tensor.insert_slice %[[COLUMN]] into %[[X1]][0, 0, 16] [1, %{{.*}}, 1]
  // CHECK: %[[X3:.*]] = tensor.insert_slice %[[CENTROID]] into %[[X2]][0, 0, 17]
  // CHECK: %[[Y:.*]], %{{.*}} = rt.normalize %[[X3]] : tensor<1x?x25xf32> -> tensor<1x?xf32>
  // CHECK: return %[[Y]]
  %y = rt.attend [#rt.decay<backward, 0>, #rt.top<2>, #rt.spread, #rt.centroid]
    queries(%q : tensor<1x?x8xf32>) lookup(%table[%ids] : tensor<?x8xf32>, tensor<1x?xi32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) -> tensor<1x?x25xf32>
  return %y : tensor<1x?x25xf32>
}

// -----

// Metric, precision, mask, origin, offset and lengths reach the ops that use
// them; bf16 queries are not widened first. What padding holds is cleared, and
// keys that no row sees.
// CHECK-LABEL: @options
// CHECK-SAME: %[[OFF:[a-z0-9]*]]: index, %[[LEN:[a-z0-9]*]]: tensor<2xi64>)
func.func @options(%q: tensor<2x?x8xbf16>, %table: tensor<?x8xbf16>, %ids: tensor<2x?xi64>, %tau: tensor<f32>, %g: tensor<1xf32>, %off: index, %len: tensor<2xi64>) -> tensor<2x?x8xf32> {
  // CHECK: rt.lookup %{{.*}} : tensor<?x8xbf16>, tensor<2x?xi64> -> tensor<2x?x8xf32>
  // CHECK: %[[LAST:.*]] = arith.addi %[[OFF]], %{{.*}} : index
  // CHECK: %[[END:.*]] = arith.minsi %[[LAST]], %{{.*}} : index
  // CHECK: %[[SEEN:.*]] = linalg.generic {{.*}} ins(%[[LEN]] : tensor<2xi64>)
  // CHECK: %[[K:.*]] = rt.clear_padding %{{.*}} lengths(%[[SEEN]] : tensor<2xi64>) : tensor<2x?x8xf32>
  // CHECK: %[[Q:.*]] = rt.clear_padding %{{.*}} offset(%[[OFF]]) lengths(%[[LEN]] : tensor<2xi64>) : tensor<2x?x8xbf16>
  // CHECK: rt.distance %[[Q]], %[[K]] {metric = #rt.metric<l2>, precision = #rt.precision<exact>} : tensor<2x?x8xbf16>, tensor<2x?x8xf32>
  // CHECK: rt.softmax %{{.*}} offset(%[[OFF]]) lengths(%[[LEN]] : tensor<2xi64>) {mask = #rt.causal}
  // CHECK: rt.decay %{{.*}} offset(%[[OFF]]) lengths(%[[LEN]] : tensor<2xi64>) {direction = #rt.direction<forward>, origin = #rt.decay_origin<query>}
  // CHECK: %[[Y:.*]], %{{.*}} = rt.normalize %{{.*}} offset(%[[OFF]]) lengths(%[[LEN]] : tensor<2xi64>)
  // CHECK: rt.clear_padding %[[Y]] offset(%[[OFF]]) lengths(%[[LEN]] : tensor<2xi64>)
  %y = rt.attend [#rt.decay<forward, 0>]
    queries(%q : tensor<2x?x8xbf16>) lookup(%table[%ids] : tensor<?x8xbf16>, tensor<2x?xi64>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) offset(%off) lengths(%len : tensor<2xi64>)
    {metric = #rt.metric<l2>, precision = #rt.precision<exact>, mask = #rt.causal,
     decay_origin = #rt.decay_origin<query>} -> tensor<2x?x8xf32>
  return %y : tensor<2x?x8xf32>
}

// -----

// Saved results come in the order of `saves`; types may say more or less.
// CHECK-LABEL: @saved
func.func @saved(%q: tensor<?x3x4xf64>, %table: tensor<9x4xf64>, %ids: tensor<?x3xi32>, %tau: tensor<f64>, %g: tensor<0xf64>) -> (tensor<2x3x8xf64>, tensor<?x3x2xi32>, tensor<?x3xf64>) {
  // CHECK: %[[LAST:.*]] = rt.arg_select %{{.*}} {order = #rt.order<last>}
  // CHECK: %[[LOW:.*]] = rt.arg_select %{{.*}} where(%{{.*}}) {order = #rt.order<smallest>}
  // CHECK: %[[Y:.*]], %[[NORM:.*]] = rt.normalize
  // CHECK: %[[FIRST:.*]] = tensor.expand_shape %[[LAST]]
  // CHECK: %[[I0:.*]] = tensor.insert_slice %[[FIRST]] into %{{.*}}[0, 0, 0]
  // CHECK: %[[SECOND:.*]] = tensor.expand_shape %[[LOW]]
  // CHECK: %[[I1:.*]] = tensor.insert_slice %[[SECOND]] into %[[I0]][0, 0, 1]
  // CHECK: %[[CAST:.*]] = tensor.cast %[[Y]] : tensor<?x3x8xf64> to tensor<2x3x8xf64>
  // CHECK: return %[[CAST]], %[[I1]], %[[NORM]]
  %y:3 = rt.attend [#rt.predecessor, #rt.antitop]
    queries(%q : tensor<?x3x4xf64>) lookup(%table[%ids] : tensor<9x4xf64>, tensor<?x3xi32>)
    tau(%tau : tensor<f64>) gammas(%g : tensor<0xf64>)
    {saves = [#rt.saved<indices>, #rt.saved<norm>]}
    -> tensor<2x3x8xf64> saves tensor<?x3x2xi32>, tensor<?x3xf64>
  return %y#0, %y#1, %y#2 : tensor<2x3x8xf64>, tensor<?x3x2xi32>, tensor<?x3xf64>
}
