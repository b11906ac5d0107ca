// RUN: rt-opt %s --rt-fold-vocabulary=chunk=16 -verify-diagnostics

// The finish of something else than two sweeps over one lookup.
func.func @states(%f: tensor<1x4x2xf32>, %p: tensor<1x4x0xi32>, %rf: tensor<1x4x0xf32>, %rp: tensor<1x4x0xi32>, %s: tensor<1x1x4x8xf32>,
    %table: tensor<5x8xf32>, %ids: tensor<1x4xi32>, %tau: tensor<f32>, %g: tensor<0xf32>, %y0: tensor<1x4x8xf32>, %n0: tensor<1x4xf32>, %x0: tensor<1x4x0xi32>) -> tensor<1x4x8xf32> {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected the finish of two sweeps over the keys of one lookup from position 0 on (--rt-to-sweeps)}}
  %y, %n, %x = rt.finalize [#rt.centroid] of [#rt.centroid]
    score(%f, %p : tensor<1x4x2xf32>, tensor<1x4x0xi32>) reduce(%rf, %rp, %s : tensor<1x4x0xf32>, tensor<1x4x0xi32>, tensor<1x1x4x8xf32>)
    lookup(%table[%ids] : tensor<5x8xf32>, tensor<1x4xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) at(%c0)
    outs(%y0, %n0, %x0 : tensor<1x4x8xf32>, tensor<1x4xf32>, tensor<1x4x0xi32>)
  return %y : tensor<1x4x8xf32>
}
