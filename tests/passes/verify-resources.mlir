// RUN: rt-opt %s "--rt-verify-resources=shared-bytes=2000 max-threads=64" | FileCheck %s
// RUN: not rt-opt %s --rt-verify-resources=shared-bytes=1999 2>&1 | FileCheck %s --check-prefix=BYTES
// RUN: not rt-opt %s --rt-verify-resources=max-threads=63 2>&1 | FileCheck %s --check-prefix=THREADS

// What a target has is an option of the pass.
// CHECK: gpu.launch_func
// BYTES: expected at most 1999 bytes of shared memory per block, got 2000
// THREADS: expected at most 63 threads per block, got 64
module attributes {gpu.container_module} {
  func.func @fits() {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %bytes = arith.constant 2000 : i32
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) dynamic_shared_memory_size %bytes args()
    return
  }
  gpu.module @kernels {
    gpu.func @kernel() kernel {
      gpu.return
    }
  }
}
