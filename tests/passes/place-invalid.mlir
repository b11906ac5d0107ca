// RUN: rt-opt %s --rt-place -split-input-file -verify-diagnostics

gpu.module @kernels {
  gpu.func @unbounded(%n: index) kernel {
    // expected-error @+1 {{expected sizes with a constant bound in shared memory, got 'memref<?xf32>'}}
    %a = memref.alloc(%n) : memref<?xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @overflow(%n: index) kernel {
    %c = arith.constant 4611686018427387904 : index
    // expected-error @+1 {{expected sizes with a constant bound in shared memory}}
    %a = memref.alloc(%c) : memref<?xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @carried(%x: memref<4xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %a = memref.alloc() : memref<4xf32>
    // expected-error @+1 {{hands on a buffer of a block, which has no place then; expected views at most}}
    %r = scf.for %k = %c0 to %c4 step %c1 iter_args(%s = %a) -> (memref<4xf32>) {
      scf.yield %s : memref<4xf32>
    }
    gpu.return
  }
}
