// RUN: rt-opt %s --rt-outline-kernels=threads=64 | FileCheck %s

// Iteration i of a dimension is offset + i step; z counts through the first
// two of four dimensions. Views and constants move into the kernel.
// CHECK: module attributes {gpu.container_module}
// CHECK-LABEL: func.func @four
// CHECK-SAME: %[[X:.*]]: memref<?x3x?x8xf32>, %[[FIRST:.*]]: index, %[[STEP:.*]]: index)
// CHECK-DAG: %[[B:.*]] = memref.dim %[[X]], %c0
// CHECK-DAG: %[[M:.*]] = memref.dim %[[X]], %c2
// CHECK: %[[GX:.*]] = arith.ceildivsi %c8, %c4
// CHECK: %[[SIZE:.*]] = arith.subi %[[M]], %[[FIRST]]
// CHECK: %[[GY:.*]] = arith.ceildivsi %[[SIZE]], %[[STEP]]
// CHECK: %[[GZ:.*]] = arith.muli %c3, %[[B]]
// CHECK: gpu.launch_func @kernels::@four_fill blocks in (%[[GX]], %[[GY]], %[[GZ]]) threads in (%c64, %c1, %c1) args(%[[X]] : memref<?x3x?x8xf32>, %[[FIRST]] : index, %[[STEP]] : index)
// CHECK-NOT: linalg.fill
// CHECK: gpu.module @kernels
// CHECK: gpu.func @four_fill(%[[A:.*]]: memref<?x3x?x8xf32>, %[[F:.*]]: index, %[[S:.*]]: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>}
// CHECK: %[[BX:.*]] = gpu.block_id x
// CHECK: %[[L:.*]] = arith.muli %[[BX]], %c4
// CHECK: %[[BY:.*]] = gpu.block_id y
// CHECK: %[[BYS:.*]] = arith.muli %[[BY]], %[[S]]
// CHECK: %[[K:.*]] = arith.addi %[[F]], %[[BYS]]
// CHECK: %[[BZ:.*]] = gpu.block_id z
// CHECK: %[[I:.*]] = arith.divui %[[BZ]], %c3
// CHECK: %[[J:.*]] = arith.remui %[[BZ]], %c3
// CHECK: %[[V:.*]] = memref.subview %[[A]][%[[I]], %[[J]], %[[K]], %[[L]]]
// CHECK: linalg.fill ins(%{{.*}}) outs(%[[V]]
// CHECK: gpu.return
func.func @four(%x: memref<?x3x?x8xf32>, %first: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %b = memref.dim %x, %c0 : memref<?x3x?x8xf32>
  %m = memref.dim %x, %c2 : memref<?x3x?x8xf32>
  %cst = arith.constant 1.0 : f32
  scf.forall (%i, %j, %k, %l) = (0, 0, %first, 0) to (%b, 3, %m, 8) step (1, 1, %n, 4) {
    %v = memref.subview %x[%i, %j, %k, %l] [1, 1, 1, 4] [1, 1, 1, 1] : memref<?x3x?x8xf32> to memref<1x1x1x4xf32, strided<[?, ?, 8, 1], offset: ?>>
    linalg.fill ins(%cst : f32) outs(%v : memref<1x1x1x4xf32, strided<[?, ?, 8, 1], offset: ?>>)
  }
  return
}

// Two kernels of one purpose have two names; a loop inside of a kernel is none.
// CHECK: gpu.func @twice_kernel(
// CHECK: scf.forall
// CHECK: gpu.func @twice_kernel_0(
func.func @twice(%x: memref<4x4xf32>) {
  %cst = arith.constant 1.0 : f32
  scf.forall (%i) in (4) {
    scf.forall (%j) in (4) {
      memref.store %cst, %x[%i, %j] : memref<4x4xf32>
    }
  }
  scf.forall (%i) in (4) {
    memref.store %cst, %x[%i, %i] : memref<4x4xf32>
  }
  return
}
