// RUN: rt-opt %s --rt-fuse-gradient -split-input-file -verify-diagnostics

// Differences are of the rows and keys that distances are between: these say not
// of which.
func.func @query_side(%d: tensor<1x?x?xf32>, %rows: tensor<1x?x9xf32>, %stack: tensor<1x1x?x4xf32>, %q: tensor<1x?x4xf32>, %k: tensor<1x?x4xf32>, %y: tensor<1x?x4xf32>, %x: tensor<1x?x0xi32>, %tau: tensor<f32>, %g: tensor<0xf32>, %row: index, %key: index, %len: tensor<1xi64>, %f: tensor<1x?x1xf32>, %s: tensor<1x?x4xf32>, %t: tensor<1x?x4xf32>) -> tensor<1x?x4xf32> {
  // expected-error @+1 {{'rt.query_grad_sweep' op expected its distances from rt.distance}}
  %r:2 = rt.query_grad_sweep [#rt.centroid] ins(%d, %rows, %stack, %k : tensor<1x?x?xf32>, tensor<1x?x9xf32>, tensor<1x1x?x4xf32>, tensor<1x?x4xf32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) at(%row, %key) outs(%f, %s : tensor<1x?x1xf32>, tensor<1x?x4xf32>)
  return %r#1 : tensor<1x?x4xf32>
}

// -----

func.func @key_side(%d: tensor<1x?x?xf32>, %rows: tensor<1x?x9xf32>, %stack: tensor<1x1x?x4xf32>, %q: tensor<1x?x4xf32>, %k: tensor<1x?x4xf32>, %y: tensor<1x?x4xf32>, %x: tensor<1x?x0xi32>, %tau: tensor<f32>, %g: tensor<0xf32>, %row: index, %key: index, %len: tensor<1xi64>, %f: tensor<1x?x1xf32>, %s: tensor<1x?x4xf32>, %t: tensor<1x?x4xf32>) -> tensor<1x?x4xf32> {
  // expected-error @+1 {{'rt.key_grad_sweep' op expected its distances from rt.distance}}
  %r = rt.key_grad_sweep [#rt.centroid] ins(%d, %rows, %stack, %q : tensor<1x?x?xf32>, tensor<1x?x9xf32>, tensor<1x1x?x4xf32>, tensor<1x?x4xf32>)
    copies(%y, %y, %x : tensor<1x?x4xf32>, tensor<1x?x4xf32>, tensor<1x?x0xi32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) at(%row, %key) outs(%t : tensor<1x?x4xf32>)
  return %r : tensor<1x?x4xf32>
}
