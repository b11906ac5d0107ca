// RUN: rt-opt %s --rt-verify-resources -split-input-file -verify-diagnostics

module attributes {gpu.container_module} {
  func.func @shared() {
    %c1 = arith.constant 1 : index
    %fits = arith.constant 101376 : i32
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) dynamic_shared_memory_size %fits args()
    %bytes = arith.constant 101377 : i32
    // expected-error @+1 {{expected at most 101376 bytes of shared memory per block, got 101377; use a smaller query tile or key chunk, or the family stored}}
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) dynamic_shared_memory_size %bytes args()
    return
  }
  gpu.module @kernels {
    gpu.func @kernel() kernel {
      gpu.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  func.func @threads() {
    %c1 = arith.constant 1 : index
    %c1024 = arith.constant 1024 : index
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1024, %c1, %c1) args()
    %c1025 = arith.constant 1025 : index
    // expected-error @+1 {{expected at most 1024 threads per block, got 1025}}
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1025, %c1, %c1) args()
    return
  }
  gpu.module @kernels {
    gpu.func @kernel() kernel {
      gpu.return
    }
  }
}
