// RUN: rt-opt %s --rt-place | FileCheck %s

module attributes {gpu.container_module} {
  // CHECK-LABEL: func.func @host
  // CHECK: %[[BYTES:.*]] = arith.constant 1280 : i32
  // CHECK: gpu.launch_func @kernels::@lifetimes {{.*}} dynamic_shared_memory_size %[[BYTES]]
  // CHECK: %[[LOOP:.*]] = arith.constant 1536 : i32
  // CHECK: gpu.launch_func @kernels::@in_loop {{.*}} dynamic_shared_memory_size %[[LOOP]]
  // CHECK-NOT: dynamic_shared_memory_size
  func.func @host(%x: memref<64xf32>, %n: index) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@lifetimes blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<64xf32>, %n : index)
    gpu.launch_func @kernels::@in_loop blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<64xf32>)
    gpu.launch_func @kernels::@none blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<64xf32>)
    return
  }
  gpu.module @kernels {
    // 64 floats, then at most 256 of them, then again 64 where the first stood.
    // CHECK-LABEL: gpu.func @lifetimes
    // CHECK: %[[SHARED:.*]] = gpu.dynamic_shared_memory
    // CHECK: memref.view %[[SHARED]][%c0{{.*}}][]
    // CHECK: memref.view %[[SHARED]][%c256{{.*}}][%{{.*}}]
    // CHECK: memref.view %[[SHARED]][%c0{{.*}}][]
    gpu.func @lifetimes(%x: memref<64xf32>, %n: index) kernel {
      %c0 = arith.constant 0 : index
      %c256 = arith.constant 256 : index
      %a = memref.alloc() : memref<64xf32>
      %size = arith.minsi %n, %c256 : index
      %b = memref.alloc(%size) : memref<?xf32>
      %0 = memref.load %a[%c0] : memref<64xf32>
      memref.store %0, %b[%c0] : memref<?xf32>
      %c = memref.alloc() : memref<64xf32>
      %1 = memref.load %b[%c0] : memref<?xf32>
      memref.store %1, %c[%c0] : memref<64xf32>
      gpu.return
    }

    // What a loop reads, if by a view, it needs until it ends: the buffers of
    // its body stand apart from it and from each other.
    // CHECK-LABEL: gpu.func @in_loop
    // CHECK: %[[SHARED:.*]] = gpu.dynamic_shared_memory
    // CHECK: %[[A:.*]] = memref.view %[[SHARED]][%c0{{.*}}][]
    // CHECK: memref.subview %[[A]][64] [64] [1] : memref<128xf32, #gpu.address_space<workgroup>> to memref<64xf32, strided<[1], offset: 64>, #gpu.address_space<workgroup>>
    // CHECK: scf.for
    // CHECK: memref.view %[[SHARED]][%c512{{.*}}][]
    // CHECK: memref.view %[[SHARED]][%c1024{{.*}}][]
    gpu.func @in_loop(%x: memref<64xf32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %a = memref.alloc() : memref<128xf32>
      %v = memref.subview %a[64] [64] [1] : memref<128xf32> to memref<64xf32, strided<[1], offset: 64>>
      scf.for %k = %c0 to %c4 step %c1 {
        %b = memref.alloc() : memref<128xf32>
        %0 = memref.load %v[%k] : memref<64xf32, strided<[1], offset: 64>>
        %c = memref.alloc() : memref<128xf32>
        memref.store %0, %b[%k] : memref<128xf32>
        memref.store %0, %c[%k] : memref<128xf32>
      }
      gpu.return
    }

    // CHECK-LABEL: gpu.func @none
    // CHECK-NOT: gpu.dynamic_shared_memory
    gpu.func @none(%x: memref<64xf32>) kernel {
      gpu.return
    }
  }
}
