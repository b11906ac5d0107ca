// RUN: rt-opt %s --rt-to-sweeps --rt-fuse-channels --rt-tile-kernels | FileCheck %s
// RUN: rt-opt %s --rt-cuda -o /dev/null

// What has no elements is no result of a kernel's loop and is not sliced.

#schedule = #rt.schedule<query_tile = 8, key_chunk = 8, split_keys = 1, scores = keep, family = stored>

// No sums: nothing is weighted.
// CHECK-LABEL: func @copies
// CHECK-NOT: slice {{.*}}x0x
// CHECK: rt.finalize
func.func @copies(%q: tensor<?x?x8xf32>, %table: tensor<?x8xf32>, %ids: tensor<?x?xi32>, %tau: tensor<f32>, %gammas: tensor<0xf32>, %off: index) -> tensor<?x?x8xf32> attributes {rt.schedule = #schedule} {
  %y = rt.attend [#rt.top<1>]
    queries(%q : tensor<?x?x8xf32>) lookup(%table[%ids] : tensor<?x8xf32>, tensor<?x?xi32>)
    tau(%tau : tensor<f32>) gammas(%gammas : tensor<0xf32>) offset(%off)
    -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// No positions: nothing is copied.
// CHECK-LABEL: func @numbers
// CHECK-NOT: slice {{.*}}x0x
// CHECK: rt.reduce_sweep
// CHECK-NOT: slice {{.*}}x0x
// CHECK: rt.finalize
func.func @numbers(%q: tensor<?x?x8xf32>, %table: tensor<?x8xf32>, %ids: tensor<?x?xi32>, %tau: tensor<f32>, %gammas: tensor<0xf32>, %off: index) -> tensor<?x?x9xf32> attributes {rt.schedule = #schedule} {
  %y = rt.attend [#rt.centroid, #rt.entropy]
    queries(%q : tensor<?x?x8xf32>) lookup(%table[%ids] : tensor<?x8xf32>, tensor<?x?xi32>)
    tau(%tau : tensor<f32>) gammas(%gammas : tensor<0xf32>) offset(%off)
    -> tensor<?x?x9xf32>
  return %y : tensor<?x?x9xf32>
}
