// RUN: rt-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(rt-distribute-threads)))" | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @plane
  // CHECK-DAG: %[[N:.*]] = memref.dim %[[X:.*]], %c0
  // CHECK-DAG: %[[M:.*]] = memref.dim %[[X]], %c1
  // CHECK: %[[COUNT:.*]] = arith.muli %[[N]], %[[M]]
  // CHECK: %[[THREAD:.*]] = gpu.thread_id x
  // CHECK: scf.for %[[P:.*]] = %[[THREAD]] to %[[COUNT]] step %c64
  // CHECK: %[[J:.*]] = arith.remui %[[P]], %[[M]]
  // CHECK: %[[I:.*]] = arith.divui %[[P]], %[[M]]
  // CHECK: memref.store %{{.*}}, %[[X]][%[[I]], %[[J]]]
  // CHECK: gpu.barrier
  gpu.func @plane(%x: memref<?x?xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = memref.dim %x, %c0 : memref<?x?xf32>
    %m = memref.dim %x, %c1 : memref<?x?xf32>
    %cst = arith.constant 1.0 : f32
    scf.forall (%i, %j) in (%n, %m) {
      memref.store %cst, %x[%i, %j] : memref<?x?xf32>
    } {mapping = [#gpu.thread<linear_dim_1>, #gpu.thread<linear_dim_0>]}
    gpu.return
  }

  // All threads run a loop around it, with a barrier in each step.
  // CHECK-LABEL: gpu.func @inside
  // CHECK: scf.for
  // CHECK: gpu.thread_id x
  // CHECK: scf.for
  // CHECK: memref.store
  // CHECK: }
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: }
  // CHECK-NEXT: gpu.return
  gpu.func @inside(%x: memref<4xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %cst = arith.constant 1.0 : f32
    scf.for %k = %c0 to %c4 step %c1 {
      scf.forall (%i) in (4) {
        memref.store %cst, %x[%i] : memref<4xf32>
      } {mapping = [#gpu.thread<linear_dim_0>]}
    }
    gpu.return
  }
}
