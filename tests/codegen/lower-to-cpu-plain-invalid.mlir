// RUN: rt-opt %s --rt-bufferize --rt-lower-to-cpu -split-input-file -verify-diagnostics

// All rows at once have no bound.
func.func @unbounded(%d: tensor<1x?x?xf32>, %tau: tensor<f32>, %g: tensor<0xf32>) -> tensor<1x?x2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %d, %c1 : tensor<1x?x?xf32>
  %empty = tensor.empty(%n) : tensor<1x?x2xf32>
  %y = scf.forall (%b) = (0) to (1) step (1) shared_outs(%ff = %empty) -> (tensor<1x?x2xf32>) {
    %f, %x = rt.init <score> [#rt.centroid] (%c1, %n) : tensor<1x?x2xf32>, tensor<1x?x0xi32>
    // expected-error @+1 {{expected axis 2 of 'tensor<1x?x?xf32>' to be bounded by a constant}}
    %f1, %x1 = rt.score_sweep [#rt.centroid] ins(%d, %tau, %g : tensor<1x?x?xf32>, tensor<f32>, tensor<0xf32>) at(%c0, %c0) outs(%f, %x : tensor<1x?x2xf32>, tensor<1x?x0xi32>)
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %f1 into %ff[0, 0, 0] [1, %n, 2] [1, 1, 1] : tensor<1x?x2xf32> into tensor<1x?x2xf32>
    }
  }
  return %y : tensor<1x?x2xf32>
}

// -----

// More rows than the loop steps over.
func.func @wide(%d: tensor<1x64x32xf32>, %tau: tensor<f32>, %g: tensor<0xf32>) -> tensor<1x64x2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %empty = tensor.empty() : tensor<1x64x2xf32>
  %y = scf.forall (%b, %i) = (0, 0) to (1, 64) step (1, 32) shared_outs(%ff = %empty) -> (tensor<1x64x2xf32>) {
    %f, %x = rt.init <score> [#rt.centroid] (%c1, %c64) : tensor<1x64x2xf32>, tensor<1x64x0xi32>
    // expected-error @+1 {{expected at most 32 rows, the step of the loop, got 64}}
    %f1, %x1 = rt.score_sweep [#rt.centroid] ins(%d, %tau, %g : tensor<1x64x32xf32>, tensor<f32>, tensor<0xf32>) at(%c0, %c0) outs(%f, %x : tensor<1x64x2xf32>, tensor<1x64x0xi32>)
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %f1 into %ff[0, 0, 0] [1, 64, 2] [1, 1, 1] : tensor<1x64x2xf32> into tensor<1x64x2xf32>
    }
  }
  return %y : tensor<1x64x2xf32>
}

// -----

// Two widths in one task.
func.func @widths(%t: tensor<9x8xf32>, %u: tensor<9x16xf32>, %ids: tensor<1x64xi32>) -> (tensor<1x64x8xf32>, tensor<1x64x16xf32>) {
  %a = tensor.empty() : tensor<1x64x8xf32>
  %c = tensor.empty() : tensor<1x64x16xf32>
  // expected-error @+1 {{expected rows of one static width, got 8 and 16}}
  %y:2 = scf.forall (%b, %i) = (0, 0) to (1, 64) step (1, 32) shared_outs(%aa = %a, %cc = %c) -> (tensor<1x64x8xf32>, tensor<1x64x16xf32>) {
    %chunk = tensor.extract_slice %ids[0, %i] [1, 32] [1, 1] : tensor<1x64xi32> to tensor<1x32xi32>
    %k = rt.lookup %t[%chunk] : tensor<9x8xf32>, tensor<1x32xi32> -> tensor<1x32x8xf32>
    %l = rt.lookup %u[%chunk] : tensor<9x16xf32>, tensor<1x32xi32> -> tensor<1x32x16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %k into %aa[0, %i, 0] [1, 32, 8] [1, 1, 1] : tensor<1x32x8xf32> into tensor<1x64x8xf32>
      tensor.parallel_insert_slice %l into %cc[0, %i, 0] [1, 32, 16] [1, 1, 1] : tensor<1x32x16xf32> into tensor<1x64x16xf32>
    }
  }
  return %y#0, %y#1 : tensor<1x64x8xf32>, tensor<1x64x16xf32>
}
