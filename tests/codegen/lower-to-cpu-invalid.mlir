// RUN: rt-opt %s --rt-bufferize --rt-lower-to-cpu -split-input-file -verify-diagnostics

// No tasks.
func.func @untiled(%table: tensor<?x16xf32>, %ids: tensor<1x?xi32>) -> tensor<1x?x16xf32> {
  // expected-error @+1 {{'rt.lookup' op has no lowering to the CPU; expected the tiled stage (--rt-tile-tasks)}}
  %k = rt.lookup %table[%ids] : tensor<?x16xf32>, tensor<1x?xi32> -> tensor<1x?x16xf32>
  return %k : tensor<1x?x16xf32>
}

// -----

// An edited task: the weighted sums are still inside the sweep.
func.func @unfused(%q: tensor<1x8x16xf32>, %table: tensor<?x16xf32>, %ids: tensor<1x16xi32>, %tau: tensor<f32>, %g: tensor<0xf32>, %y: tensor<1x8x16xf32>, %norm: tensor<1x8xf32>) -> tensor<1x8x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %r:2 = scf.forall (%b, %i) = (0, 0) to (1, 8) step (1, 8) shared_outs(%ya = %y, %na = %norm) -> (tensor<1x8x16xf32>, tensor<1x8xf32>) {
    %k = rt.lookup %table[%ids] : tensor<?x16xf32>, tensor<1x16xi32> -> tensor<1x16x16xf32>
    %qt = tensor.extract_slice %q[%b, %i, 0] [1, 8, 16] [1, 1, 1] : tensor<1x8x16xf32> to tensor<1x8x16xf32>
    %d = rt.distance %qt, %k : tensor<1x8x16xf32>, tensor<1x16x16xf32> -> tensor<1x8x16xf32>
    %f, %p = rt.init <score> [#rt.centroid] (%c1, %c8) : tensor<1x8x2xf32>, tensor<1x8x0xi32>
    %rf, %rp = rt.init <reduce> [#rt.centroid] (%c1, %c8) : tensor<1x8x0xf32>, tensor<1x8x0xi32>
    %e = tensor.empty() : tensor<1x1x8x16xf32>
    %s = linalg.fill ins(%zero : f32) outs(%e : tensor<1x1x8x16xf32>) -> tensor<1x1x8x16xf32>
    // expected-error @+1 {{'rt.reduce_sweep' op expected weighted sums as a product of their own (--rt-fuse-channels)}}
    %rs:3 = rt.reduce_sweep [#rt.centroid] ins(%d, %f, %tau, %g : tensor<1x8x16xf32>, tensor<1x8x2xf32>, tensor<f32>, tensor<0xf32>)
      keys(%k : tensor<1x16x16xf32>) at(%i, %c0) outs(%rf, %rp : tensor<1x8x0xf32>, tensor<1x8x0xi32>)
      sums(%s : tensor<1x1x8x16xf32>) -> tensor<1x1x8x16xf32>
    %y0 = tensor.extract_slice %ya[%b, %i, 0] [1, 8, 16] [1, 1, 1] : tensor<1x8x16xf32> to tensor<1x8x16xf32>
    %n0 = tensor.extract_slice %na[%b, %i] [1, 8] [1, 1] : tensor<1x8xf32> to tensor<1x8xf32>
    %x0 = tensor.empty() : tensor<1x8x0xi32>
    %yt, %nt, %xt = rt.finalize [#rt.centroid] of [#rt.centroid] score(%f, %p : tensor<1x8x2xf32>, tensor<1x8x0xi32>)
      reduce(%rs#0, %rs#1, %rs#2 : tensor<1x8x0xf32>, tensor<1x8x0xi32>, tensor<1x1x8x16xf32>)
      lookup(%table[%ids] : tensor<?x16xf32>, tensor<1x16xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>)
      at(%i) outs(%y0, %n0, %x0 : tensor<1x8x16xf32>, tensor<1x8xf32>, tensor<1x8x0xi32>)
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %yt into %ya[%b, %i, 0] [1, 8, 16] [1, 1, 1] : tensor<1x8x16xf32> into tensor<1x8x16xf32>
      tensor.parallel_insert_slice %nt into %na[%b, %i] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<1x8xf32>
    }
  }
  return %r#0 : tensor<1x8x16xf32>
}

// -----

// An edited task: lengths, where its keys should end with them.
func.func @lengths(%q: tensor<1x8x16xf32>, %table: tensor<?x16xf32>, %ids: tensor<1x16xi32>, %tau: tensor<f32>, %g: tensor<0xf32>, %len: tensor<1xi64>, %y: tensor<1x8x16xf32>, %norm: tensor<1x8xf32>) -> tensor<1x8x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %r:2 = scf.forall (%b, %i) = (0, 0) to (1, 8) step (1, 8) shared_outs(%ya = %y, %na = %norm) -> (tensor<1x8x16xf32>, tensor<1x8xf32>) {
    %k = rt.lookup %table[%ids] : tensor<?x16xf32>, tensor<1x16xi32> -> tensor<1x16x16xf32>
    %qt = tensor.extract_slice %q[%b, %i, 0] [1, 8, 16] [1, 1, 1] : tensor<1x8x16xf32> to tensor<1x8x16xf32>
    %d = rt.distance %qt, %k : tensor<1x8x16xf32>, tensor<1x16x16xf32> -> tensor<1x8x16xf32>
    %f, %p = rt.init <score> [#rt.centroid] (%c1, %c8) : tensor<1x8x2xf32>, tensor<1x8x0xi32>
    %rf, %rp = rt.init <reduce> [#rt.centroid] (%c1, %c8) : tensor<1x8x0xf32>, tensor<1x8x0xi32>
    %e = tensor.empty() : tensor<1x1x8x16xf32>
    %s = linalg.fill ins(%zero : f32) outs(%e : tensor<1x1x8x16xf32>) -> tensor<1x1x8x16xf32>
    // expected-error @+1 {{'rt.score_sweep' op expected keys restricted to the visible range instead of lengths (--rt-tile-tasks)}}
    %f1, %p1 = rt.score_sweep [#rt.centroid] ins(%d, %tau, %g : tensor<1x8x16xf32>, tensor<f32>, tensor<0xf32>)
      at(%i, %c0) lengths(%len : tensor<1xi64>) outs(%f, %p : tensor<1x8x2xf32>, tensor<1x8x0xi32>)
    %y0 = tensor.extract_slice %ya[%b, %i, 0] [1, 8, 16] [1, 1, 1] : tensor<1x8x16xf32> to tensor<1x8x16xf32>
    %n0 = tensor.extract_slice %na[%b, %i] [1, 8] [1, 1] : tensor<1x8xf32> to tensor<1x8xf32>
    %x0 = tensor.empty() : tensor<1x8x0xi32>
    %yt, %nt, %xt = rt.finalize [#rt.centroid] of [#rt.centroid] score(%f1, %p1 : tensor<1x8x2xf32>, tensor<1x8x0xi32>)
      reduce(%rf, %rp, %s : tensor<1x8x0xf32>, tensor<1x8x0xi32>, tensor<1x1x8x16xf32>)
      lookup(%table[%ids] : tensor<?x16xf32>, tensor<1x16xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>)
      at(%i) outs(%y0, %n0, %x0 : tensor<1x8x16xf32>, tensor<1x8xf32>, tensor<1x8x0xi32>)
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %yt into %ya[%b, %i, 0] [1, 8, 16] [1, 1, 1] : tensor<1x8x16xf32> into tensor<1x8x16xf32>
      tensor.parallel_insert_slice %nt into %na[%b, %i] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<1x8xf32>
    }
  }
  return %r#0 : tensor<1x8x16xf32>
}
