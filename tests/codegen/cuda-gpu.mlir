// RUN: rt-translate %s --rt-emit-cuda | FileCheck %s --implicit-check-not=evil

// What it was made for stands above a kernel: its own or its module's.
module attributes {gpu.container_module, rt.problem = "a problem\0Aevil();", rt.schedule = 3 : i64} {
// CHECK: #include "prelude.cuh"
gpu.module @kernels attributes {rt.schedule = {chunk = 16 : i64}} {

// CHECK:      // @ids
// CHECK-NEXT: // rt.problem: "a problem\0Ae{{vil}}();"
// CHECK-NEXT: // rt.schedule: {chunk = 16 : i64}
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(128)
// CHECK-NEXT: ids(
// CHECK-NEXT: long long *out) {
gpu.func @ids(%out: memref<4xindex>) kernel
    attributes {known_block_size = array<i32: 32, 4, 1>} {
  // CHECK-NEXT: long long t = threadIdx.x;
  %t = gpu.thread_id x
  // CHECK-NEXT: long long b = blockIdx.y;
  %b = gpu.block_id y
  // CHECK-NEXT: long long d = blockDim.z;
  %d = gpu.block_dim z
  // CHECK-NEXT: long long g = gridDim.x;
  %g = gpu.grid_dim x
  // CHECK-NEXT: __syncthreads();
  gpu.barrier
  // CHECK-NEXT: }
  gpu.return
}

// CHECK:      // @other
// CHECK-NEXT: // rt.problem: "mine"
// CHECK:      other() {
// CHECK-NEXT: }
gpu.func @other() kernel
    attributes {known_block_size = array<i32: 1, 1, 1>, rt.problem = "mine"} {
  gpu.return
}

}
}
