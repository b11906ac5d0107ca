// RUN: rt-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(rt-distribute-threads)))" -split-input-file -verify-diagnostics

gpu.module @kernels {
  gpu.func @step(%x: memref<4xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %cst = arith.constant 1.0 : f32
    // expected-error @+1 {{expected a loop over threads on buffers, from 0 by steps of 1, in no other one}}
    scf.forall (%i) = (0) to (4) step (2) {
      memref.store %cst, %x[%i] : memref<4xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @+1 {{expected a known block size}}
  gpu.func @size(%x: memref<4xf32>) kernel {
    %cst = arith.constant 1.0 : f32
    scf.forall (%i) in (4) {
      memref.store %cst, %x[%i] : memref<4xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @nested(%x: memref<4x4xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %cst = arith.constant 1.0 : f32
    scf.forall (%i) in (4) {
      // expected-error @+1 {{in no other one}}
      scf.forall (%j) in (4) {
        memref.store %cst, %x[%i, %j] : memref<4x4xf32>
      }
    }
    gpu.return
  }
}
