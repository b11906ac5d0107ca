// RUN: rt-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(rt-expand-elements)))" -split-input-file -verify-diagnostics

gpu.module @kernels {
  gpu.func @sums(%d: memref<1x?x?xf32>, %s: memref<1x?x2xf32>, %k: memref<1x?x8xf32>, %tau: memref<f32>, %g: memref<0xf32>, %f: memref<1x?x0xf32>, %p: memref<1x?x0xi32>, %sum: memref<1x1x?x8xf32>) kernel {
    %c0 = arith.constant 0 : index
    rt_tile.compute ins(%d, %s, %k, %tau, %g : memref<1x?x?xf32>, memref<1x?x2xf32>, memref<1x?x8xf32>, memref<f32>, memref<0xf32>) outs(%f, %p, %sum : memref<1x?x0xf32>, memref<1x?x0xi32>, memref<1x1x?x8xf32>) {
    ^bb0(%td: tensor<1x?x?xf32>, %ts: tensor<1x?x2xf32>, %tk: tensor<1x?x8xf32>, %tt: tensor<f32>, %tg: tensor<0xf32>, %tf: tensor<1x?x0xf32>, %tp: tensor<1x?x0xi32>, %tsum: tensor<1x1x?x8xf32>):
      // expected-error @+1 {{expected a sweep without weighted sums in a kernel (run --rt-fuse-channels)}}
      %0:3 = rt.reduce_sweep [#rt.centroid] ins(%td, %ts, %tt, %tg : tensor<1x?x?xf32>, tensor<1x?x2xf32>, tensor<f32>, tensor<0xf32>) keys(%tk : tensor<1x?x8xf32>) at(%c0, %c0) outs(%tf, %tp : tensor<1x?x0xf32>, tensor<1x?x0xi32>) sums(%tsum : tensor<1x1x?x8xf32>) -> tensor<1x1x?x8xf32>
      rt_tile.yield %0#0, %0#1, %0#2 : tensor<1x?x0xf32>, tensor<1x?x0xi32>, tensor<1x1x?x8xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @other_op(%x: memref<4xf32>) kernel {
    // expected-error @+1 {{is not supported in a kernel}}
    memref.assume_alignment %x, 16 : memref<4xf32>
    gpu.return
  }
}

// -----

// A store outside of a loop over threads would be done by all of them.
gpu.module @kernels {
  gpu.func @store(%x: memref<4xf32>) kernel {
    %c0 = arith.constant 0 : index
    %cst = arith.constant 1.0 : f32
    // expected-error @+1 {{got a store that every thread of a block would do}}
    memref.store %cst, %x[%c0] : memref<4xf32>
    gpu.return
  }
}
