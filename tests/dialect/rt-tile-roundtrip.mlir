// RUN: rt-opt %s | rt-opt | FileCheck %s
// RUN: rt-opt %s --mlir-print-op-generic | rt-opt | FileCheck %s

// CHECK-LABEL: func.func @distance
// CHECK: rt_tile.compute ins(%{{.*}}, %{{.*}} : memref<1x?x8xf32>, memref<1x?x8xf32, strided<[?, 8, 1], offset: ?>>) outs(%{{.*}} : memref<1x?x?xf32>) {
// CHECK-NEXT: ^bb0(%[[Q:.*]]: tensor<1x?x8xf32>, %[[K:.*]]: tensor<1x?x8xf32>, %{{.*}}: tensor<1x?x?xf32>):
// CHECK-NEXT: %[[D:.*]] = rt.distance %[[Q]], %[[K]]
// CHECK-NEXT: rt_tile.yield %[[D]] : tensor<1x?x?xf32>
func.func @distance(%q: memref<1x?x8xf32>, %k: memref<1x?x8xf32, strided<[?, 8, 1], offset: ?>>, %d: memref<1x?x?xf32>) {
  rt_tile.compute ins(%q, %k : memref<1x?x8xf32>, memref<1x?x8xf32, strided<[?, 8, 1], offset: ?>>) outs(%d : memref<1x?x?xf32>) {
  ^bb0(%tq: tensor<1x?x8xf32>, %tk: tensor<1x?x8xf32>, %td: tensor<1x?x?xf32>):
    %0 = rt.distance %tq, %tk : tensor<1x?x8xf32>, tensor<1x?x8xf32> -> tensor<1x?x?xf32>
    rt_tile.yield %0 : tensor<1x?x?xf32>
  }
  return
}

// Sizes come from around the op; an op may read no buffer.
// CHECK-LABEL: func.func @init
// CHECK-SAME: %[[ROWS:.*]]: index
// CHECK: rt_tile.compute outs(
// CHECK: rt.init <reduce> [#rt.entropy](%{{.*}}, %[[ROWS]])
func.func @init(%rows: index, %f: memref<1x?x2xf32>, %p: memref<1x?x0xi32>) {
  %c1 = arith.constant 1 : index
  rt_tile.compute outs(%f, %p : memref<1x?x2xf32>, memref<1x?x0xi32>) {
  ^bb0(%tf: tensor<1x?x2xf32>, %tp: tensor<1x?x0xi32>):
    %0, %1 = rt.init <reduce> [#rt.entropy](%c1, %rows) : tensor<1x?x2xf32>, tensor<1x?x0xi32>
    rt_tile.yield %0, %1 : tensor<1x?x2xf32>, tensor<1x?x0xi32>
  }
  return
}
