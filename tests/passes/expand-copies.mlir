// RUN: rt-opt %s --rt-expand-copies | FileCheck %s

// CHECK-LABEL: @contiguous
func.func @contiguous(%a: memref<?x4xf32>, %b: memref<?x4xf32>) {
  // CHECK: memref.copy
  memref.copy %a, %b : memref<?x4xf32> to memref<?x4xf32>
  return
}

// CHECK-LABEL: @strided
func.func @strided(%a: memref<?x4xf32>, %b: memref<?x4xf32, strided<[9, 1]>>) {
  // CHECK-NOT: memref.copy
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK: %[[V:.*]] = memref.load
  // CHECK: memref.store %[[V]]
  memref.copy %a, %b : memref<?x4xf32> to memref<?x4xf32, strided<[9, 1]>>
  return
}
