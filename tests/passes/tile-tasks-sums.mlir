// RUN: rt-opt %s --rt-tile-tasks | FileCheck %s

// Sums of keys that an edit has left: a product alone, and sums that two
// finishes read, or one and nobody.
#left = affine_map<(b, c, i, j, d) -> (b, c, i, j)>
#right = affine_map<(b, c, i, j, d) -> (b, c, i, d)>
#out = affine_map<(b, c, i, j, d) -> (b, j, d)>

// Tasks share the product's keys, and see all rows of the chunk.
// CHECK-LABEL: func.func @product(
// CHECK: %[[T:.*]] = tensor.dim %arg0, %c3
// CHECK: scf.for %{{.*}} step %c16
// CHECK: scf.forall {{.*}} to (%{{.*}}, %[[T]]) step (1, %c8)
// CHECK: linalg.contract
// CHECK: scf.yield
// CHECK: scf.forall
// CHECK: rt.key_grad
func.func @product(%w: tensor<?x2x?x?xf32>, %stack: tensor<?x2x?x8xf32>, %zeros: tensor<?x?x8xf32>, %empty: tensor<?x?x8xf32>, %tau: tensor<f32>, %g: tensor<0xf32>, %keys: index) -> tensor<?x?x8xf32>
    attributes {rt.schedule = #rt.schedule<query_tile = 8, key_chunk = 8, split_keys = 1, scores = keep, family = stored, query_chunk = 16>} {
  %c0 = arith.constant 0 : index
  %s = linalg.contract indexing_maps = [#left, #right, #out] ins(%w, %stack : tensor<?x2x?x?xf32>, tensor<?x2x?x8xf32>) outs(%zeros : tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %dk = rt.key_grad [#rt.centroid](%s : tensor<?x?x8xf32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) at(%c0) of %keys outs(%empty : tensor<?x?x8xf32>)
  return %dk : tensor<?x?x8xf32>
}

// One loop over rows, and a finish for each.
// CHECK-LABEL: func.func @twice(
// CHECK: scf.for
// CHECK-COUNT-2: rt.sum_differences
// CHECK-NOT: rt.sum_differences
// CHECK-COUNT-2: rt.key_grad
// CHECK-NOT: rt.key_grad
func.func @twice(%c: tensor<?x?x?xf32>, %q: tensor<?x?x8xf32>, %k: tensor<?x?x8xf32>, %d: tensor<?x?x?xf32>, %zeros: tensor<?x?x8xf32>, %empty: tensor<?x?x8xf32>, %tau: tensor<f32>, %g: tensor<0xf32>, %keys: index, %other: index) -> (tensor<?x?x8xf32>, tensor<?x?x8xf32>)
    attributes {rt.schedule = #rt.schedule<query_tile = 8, key_chunk = 8, split_keys = 1, scores = keep, family = stored, query_chunk = 16>} {
  %c0 = arith.constant 0 : index
  %one = rt.sum_differences <key>(%c, %q, %k : tensor<?x?x?xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) near(%d : tensor<?x?x?xf32>) outs(%zeros : tensor<?x?x8xf32>)
  %s = rt.sum_differences <key>(%c, %q, %k : tensor<?x?x?xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) near(%d : tensor<?x?x?xf32>) outs(%one : tensor<?x?x8xf32>)
  %unread = rt.sum_differences <key>(%c, %q, %k : tensor<?x?x?xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) near(%d : tensor<?x?x?xf32>) outs(%one : tensor<?x?x8xf32>)
  %a = rt.key_grad [#rt.centroid](%s : tensor<?x?x8xf32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) at(%c0) of %keys outs(%empty : tensor<?x?x8xf32>)
  %b = rt.key_grad [#rt.centroid](%s : tensor<?x?x8xf32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) at(%c0) of %other outs(%empty : tensor<?x?x8xf32>)
  return %a, %b : tensor<?x?x8xf32>, tensor<?x?x8xf32>
}
