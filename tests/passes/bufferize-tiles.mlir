// RUN: rt-opt %s --rt-bufferize | FileCheck %s

// What a function is given is copied into what it returns, whatever its rank.
// CHECK-LABEL: func.func @scalar
// CHECK-SAME: (%[[FROM:.*]]: memref<f32>, %[[TO:.*]]: memref<f32>)
// CHECK: memref.copy %[[FROM]], %[[TO]]
func.func @scalar(%t: tensor<f32>) -> tensor<f32> {
  return %t : tensor<f32>
}

// What nobody reads has no buffer.
// CHECK-LABEL: func.func @unused
// CHECK-NOT: rt_tile.compute
// CHECK: return
func.func @unused(%table: tensor<9x8xf32>, %ids: tensor<1x4xi32>) -> tensor<9x8xf32> {
  %k = rt.lookup %table[%ids] : tensor<9x8xf32>, tensor<1x4xi32> -> tensor<1x4x8xf32>
  return %table : tensor<9x8xf32>
}

// A tile that is written elsewhere than it was taken from is not updated there:
// another block may hold that place.
// CHECK-LABEL: func.func @moved
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: memref<8xf32>)
// CHECK: scf.forall (%[[I:.*]]) in (4)
// CHECK: %[[AT:.*]] = arith.subi %{{.*}}, %[[I]]
// CHECK: %[[PLACE:.*]] = memref.subview %[[OUT]][%[[AT]]]
// CHECK: linalg.fill {{.*}} outs(%[[PLACE]]
func.func @moved(%x: f32) -> tensor<8xf32> {
  %c3 = arith.constant 3 : index
  %empty = tensor.empty() : tensor<8xf32>
  %y = scf.forall (%i) in (4) shared_outs(%out = %empty) -> (tensor<8xf32>) {
    %tile = tensor.extract_slice %out[%i] [2] [1] : tensor<8xf32> to tensor<2xf32>
    %new = linalg.fill ins(%x : f32) outs(%tile : tensor<2xf32>) -> tensor<2xf32>
    %at = arith.subi %c3, %i : index
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %new into %out[%at] [2] [1] : tensor<2xf32> into tensor<8xf32>
    }
  }
  return %y : tensor<8xf32>
}

// What stood there before is copied to where a block may change it.
// CHECK-LABEL: func.func @copied
// CHECK: scf.forall (%[[I:.*]]) in (4)
// CHECK: %[[TILE:.*]] = memref.alloc() {{.*}}: memref<2xf32>
// CHECK: memref.copy %{{.*}}, %[[TILE]]
// CHECK: memref.store %{{.*}}, %[[TILE]]
func.func @copied(%x: f32) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %empty = tensor.empty() : tensor<8xf32>
  %old = linalg.fill ins(%x : f32) outs(%empty : tensor<8xf32>) -> tensor<8xf32>
  %y = scf.forall (%i) in (4) shared_outs(%out = %old) -> (tensor<8xf32>) {
    %tile = tensor.extract_slice %out[%i] [2] [1] : tensor<8xf32> to tensor<2xf32>
    %new = tensor.insert %x into %tile[%c0] : tensor<2xf32>
    %at = arith.subi %c3, %i : index
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %new into %out[%at] [2] [1] : tensor<2xf32> into tensor<8xf32>
    }
  }
  return %y : tensor<8xf32>
}
