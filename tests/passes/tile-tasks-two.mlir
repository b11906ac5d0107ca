// RUN: rt-opt %s --rt-to-sweeps --rt-fuse-channels --rt-tile-tasks | FileCheck %s

// Each attention has a loop over its own rows.
// CHECK: scf.for %{{.*}} to %c40 step %c64
// CHECK: scf.for %{{.*}} to %c100 step %c64

module {
func.func @two(%q: tensor<1x40x8xf32>, %q2: tensor<1x100x8xf32>, %table: tensor<?x8xf32>, %ids: tensor<1x100xi32>, %tau: tensor<f32>, %g: tensor<0xf32>, %off: index) -> (tensor<1x40x9xf32>, tensor<1x100x9xf32>) attributes {rt.schedule = #rt.schedule<query_tile = 16, key_chunk = 32, split_keys = 1, scores = keep, family = stored, threads = 128, query_chunk = 64>} {
  %y = rt.attend [#rt.centroid, #rt.entropy]
    queries(%q : tensor<1x40x8xf32>) lookup(%table[%ids] : tensor<?x8xf32>, tensor<1x100xi32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) -> tensor<1x40x9xf32>
  %z = rt.attend [#rt.centroid, #rt.entropy]
    queries(%q2 : tensor<1x100x8xf32>) lookup(%table[%ids] : tensor<?x8xf32>, tensor<1x100xi32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) -> tensor<1x100x9xf32>
  return %y, %z : tensor<1x40x9xf32>, tensor<1x100x9xf32>
}
}
