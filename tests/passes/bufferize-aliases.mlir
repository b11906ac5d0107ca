// RUN: rt-opt %s --rt-bufferize | FileCheck %s

// What is copied at last is not written there at first where one of several
// buffers is read in between.
// CHECK-LABEL: func.func @choice
// CHECK: %[[X:.*]] = memref.alloc()
// CHECK: rt_tile.compute {{.*}} outs(%[[X]]
// CHECK: linalg.copy
// CHECK: memref.copy %[[X]]
func.func @choice(%c: i1, %t: memref<8x16xf32>, %i: memref<1x4xi32>, %a: memref<1x4x16xf32>, %b: memref<1x4x16xf32>, %out: memref<1x4x16xf32>) {
  %tensors = tensor.empty() : tensor<4xf32>
  %one = arith.select %c, %a, %b : memref<1x4x16xf32>
  %x = memref.alloc() : memref<1x4x16xf32>
  rt_tile.compute ins(%t, %i : memref<8x16xf32>, memref<1x4xi32>) outs(%x : memref<1x4x16xf32>) {
  ^bb0(%table: tensor<8x16xf32>, %ids: tensor<1x4xi32>, %o: tensor<1x4x16xf32>):
    %l = rt.lookup %table[%ids] : tensor<8x16xf32>, tensor<1x4xi32> -> tensor<1x4x16xf32>
    rt_tile.yield %l : tensor<1x4x16xf32>
  }
  linalg.copy ins(%one : memref<1x4x16xf32>) outs(%out : memref<1x4x16xf32>)
  memref.copy %x, %a : memref<1x4x16xf32> to memref<1x4x16xf32>
  return
}
