// RUN: rt-opt %s --rt-stream | FileCheck %s
// RUN: rt-opt %s --rt-differentiate --rt-stream | FileCheck %s --check-prefixes=CHECK,GRAD
// Keys and queries keep their storage type until a product: nothing widens them
// before the distance, the weighted sums and the differences that read them.

// CHECK-LABEL: func.func @attend(
// CHECK: %[[K:.*]] = rt.lookup {{.*}} -> tensor<1x?x8xbf16>
// CHECK: rt.distance %{{.*}}, %[[K]] : tensor<1x?x8xbf16>, tensor<1x?x8xbf16> -> tensor<1x?x?xf32>
// CHECK: %[[W:.*]] = rt.weigh {{.*}} -> tensor<1x1x?x?xf32>
// CHECK: %[[K2:.*]] = rt.lookup {{.*}} -> tensor<1x?x8xbf16>
// CHECK: linalg.contract {{.*}} ins(%[[W]], %[[K2]] : tensor<1x1x?x?xf32>, tensor<1x?x8xbf16>)
// GRAD-LABEL: func.func @attend_backward(
// GRAD: %[[K:.*]] = rt.lookup {{.*}} -> tensor<1x?x8xbf16>
// GRAD: linalg.contract {{.*}} ins(%{{.*}}, %[[K]] : tensor<1x1x?x8xf32>, tensor<1x?x8xbf16>)
// GRAD: rt.sum_differences <query>(%{{.*}}, %{{.*}}, %[[K]] : tensor<1x?x?xf32>, tensor<1x?x8xbf16>, tensor<1x?x8xbf16>)
// GRAD: %[[K:.*]] = rt.lookup {{.*}} -> tensor<1x?x8xbf16>
// GRAD: rt.sum_differences <key>(%{{.*}}, %{{.*}}, %[[K]] : tensor<1x?x?xf32>, tensor<1x?x8xbf16>, tensor<1x?x8xbf16>)
func.func @attend(%q: tensor<1x?x8xbf16>, %table: tensor<?x8xbf16>, %ids: tensor<1x?xi32>, %tau: tensor<f32>, %g: tensor<0xf32>) -> tensor<1x?x8xf32> {
  %y = rt.attend [#rt.centroid]
    queries(%q : tensor<1x?x8xbf16>) lookup(%table[%ids] : tensor<?x8xbf16>, tensor<1x?xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) -> tensor<1x?x8xf32>
  return %y : tensor<1x?x8xf32>
}
