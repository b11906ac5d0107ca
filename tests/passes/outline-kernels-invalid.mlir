// RUN: rt-opt %s --rt-outline-kernels -split-input-file -verify-diagnostics

func.func @tensors(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected a loop on buffers}}
  %y = scf.forall (%i) in (4) shared_outs(%o = %x) -> (tensor<4xf32>) {
    %t = tensor.extract_slice %o[%i] [1] [1] : tensor<4xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
    }
  }
  return %y : tensor<4xf32>
}

// -----

func.func @view(%x: memref<4xf32, strided<[2]>>) {
  %cst = arith.constant 1.0 : f32
  // expected-error @+1 {{expected buffers that are not views, got 'memref<4xf32, strided<[2]>>'}}
  scf.forall (%i) in (4) {
    memref.store %cst, %x[%i] : memref<4xf32, strided<[2]>>
  }
  return
}
