// RUN: rt-opt %s --canonicalize | FileCheck %s

// Accumulators that nobody reads are dropped, and with them what they start
// from; all else stays.
// CHECK-LABEL: @unread
func.func @unread(%d: tensor<1x?x?xf32>, %rows: tensor<1x?x9xf32>, %p: tensor<1x1x?x?xf32>, %tau: tensor<f32>, %g: tensor<0xf32>, %row: index, %key: index, %len: tensor<1xi64>, %n: index) -> (tensor<1x1x?x?xf32>, tensor<1x?x?xf32>) {
  // CHECK-NOT: linalg.fill
  // CHECK: %[[W:.*]], %[[C:.*]] = rt.weigh_grad [#rt.centroid] ins(%arg0, %arg1, %arg2 : {{.*}}) tau(%arg3 : tensor<f32>) gammas(%arg4 : tensor<0xf32>) at(%arg5, %arg6) lengths(%arg7 : tensor<1xi64>) {metric = #rt.metric<l2>}{{$}}
  // CHECK-NEXT: return %[[W]], %[[C]]
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<1x?x1xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e : tensor<1x?x1xf32>) -> tensor<1x?x1xf32>
  %w, %c, %f = rt.weigh_grad [#rt.centroid]
    ins(%d, %rows, %p : tensor<1x?x?xf32>, tensor<1x?x9xf32>, tensor<1x1x?x?xf32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) at(%row, %key) lengths(%len : tensor<1xi64>)
    outs(%f0 : tensor<1x?x1xf32>) {metric = #rt.metric<l2>} -> tensor<1x?x1xf32>
  return %w, %c : tensor<1x1x?x?xf32>, tensor<1x?x?xf32>
}

// CHECK-LABEL: @read
func.func @read(%d: tensor<1x?x?xf32>, %rows: tensor<1x?x9xf32>, %p: tensor<1x1x?x?xf32>, %tau: tensor<f32>, %g: tensor<0xf32>, %row: index, %key: index, %f0: tensor<1x?x1xf32>) -> tensor<1x?x1xf32> {
  // CHECK: %{{.*}}, %{{.*}}, %[[F:.*]] = rt.weigh_grad {{.*}} outs(%arg7 : tensor<1x?x1xf32>) -> tensor<1x?x1xf32>
  // CHECK-NEXT: return %[[F]]
  %w, %c, %f = rt.weigh_grad [#rt.centroid]
    ins(%d, %rows, %p : tensor<1x?x?xf32>, tensor<1x?x9xf32>, tensor<1x1x?x?xf32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) at(%row, %key)
    outs(%f0 : tensor<1x?x1xf32>) -> tensor<1x?x1xf32>
  return %f : tensor<1x?x1xf32>
}
