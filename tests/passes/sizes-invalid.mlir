// Sizes that no index of a key has: products of them would wrap around.
// RUN: not rt-opt %s --rt-stream=query-tile=2147483648 2>&1 | FileCheck %s --check-prefix=TILE
// RUN: not rt-opt %s --rt-stream=key-chunk=576460752303423488 2>&1 | FileCheck %s --check-prefix=CHUNK
// RUN: not rt-opt %s --rt-stream=split-keys=9223372036854775807 2>&1 | FileCheck %s --check-prefix=WAYS
// RUN: not rt-opt %s --rt-differentiate --rt-to-sweeps --rt-fuse-channels --rt-fuse-gradient --rt-tile-tasks=key-chunk=2147483648 2>&1 | FileCheck %s --check-prefix=KEYS
// RUN: not rt-opt %s --rt-differentiate --rt-to-sweeps --rt-fuse-channels --rt-fuse-gradient --rt-tile-tasks --rt-chunk-keys=query-tile=2147483648 2>&1 | FileCheck %s --check-prefix=ROWS

// TILE: error: {{.*}}expected a query-tile of at most 2147483647, got 2147483648
// CHUNK: error: {{.*}}expected a key-chunk of at most 2147483647, got 576460752303423488
// WAYS: error: {{.*}}expected a ways of at most 2147483647, got 9223372036854775807
// ROWS: error: {{.*}}expected a query-tile of at most 2147483647, got 2147483648
// KEYS: error: {{.*}}expected a key-chunk of at most 2147483647, got 2147483648
func.func @f(%q: tensor<2x8x4xf32>, %table: tensor<9x4xf32>, %ids: tensor<2x8xi32>, %tau: tensor<f32>, %g: tensor<0xf32>) -> tensor<2x8x5xf32> {
  %y = rt.attend [#rt.centroid, #rt.entropy]
    queries(%q : tensor<2x8x4xf32>) lookup(%table[%ids] : tensor<9x4xf32>, tensor<2x8xi32>) tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) -> tensor<2x8x5xf32>
  return %y : tensor<2x8x5xf32>
}
