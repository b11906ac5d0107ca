// RUN: rt-opt %s --rt-differentiate -split-input-file | FileCheck %s

// The arguments, the results and the adjoint of the first result go in; an
// adjoint for each tensor of floats comes out, f32 for bf16, zeros where
// nothing depends on the argument. A copy of a row by its index is undone by a
// scatter.
// CHECK-LABEL: func.func @lookup(
// CHECK-LABEL: func.func @lookup_backward(
// CHECK-SAME: %[[TABLE:[^:]*]]: tensor<?x8xbf16>, %[[IDS:[^:]*]]: tensor<1x?xi32>, %[[UNUSED:[^:]*]]: tensor<3xf64>, %[[K:[^:]*]]: tensor<1x?x8xf32>, %[[IDS2:[^:]*]]: tensor<1x?xi32>, %[[DK:[^:]*]]: tensor<1x?x8xf32>) -> (tensor<?x8xf32>, tensor<3xf64>)
func.func @lookup(%table: tensor<?x8xbf16>, %ids: tensor<1x?xi32>, %unused: tensor<3xf64>) -> (tensor<1x?x8xf32>, tensor<1x?xi32>) {
  // CHECK-NOT: rt.lookup
  // CHECK: %[[ROWS:.*]] = tensor.dim %[[TABLE]]
  // CHECK: %[[EMPTY:.*]] = tensor.empty(%[[ROWS]]) : tensor<?x8xf32>
  // CHECK: %[[ZEROS:.*]] = linalg.fill {{.*}} outs(%[[EMPTY]] : tensor<?x8xf32>)
  // CHECK: %[[DTABLE:.*]] = rt.scatter_add %[[DK]] into %[[ZEROS]][%[[IDS]]]
  // CHECK: %[[NONE:.*]] = linalg.fill {{.*}} -> tensor<3xf64>
  // CHECK: return %[[DTABLE]], %[[NONE]]
  %k = rt.lookup %table[%ids] : tensor<?x8xbf16>, tensor<1x?xi32> -> tensor<1x?x8xf32>
  return %k, %ids : tensor<1x?x8xf32>, tensor<1x?xi32>
}

// -----

// What the function returns is read from the arguments; the rest is computed
// again.
// CHECK-LABEL: func.func @residual_backward(
// CHECK-SAME: %[[X:[^:]*]]: tensor<1x4x8xf32>, %[[Y:[^:]*]]: tensor<1x4x8xf32>, %[[DY:[^:]*]]: tensor<1x4x8xf32>)
func.func @residual(%x: tensor<1x4x8xf32>) -> tensor<1x4x8xf32> {
  // CHECK: %{{.*}}, %[[NORM:.*]] = rt.normalize %[[X]]
  // CHECK: linalg.generic {{.*}} ins(%[[Y]], %[[DY]]
  // CHECK: linalg.generic {{.*}} ins(%[[NORM]], %[[Y]], %[[DY]]
  %y, %norm = rt.normalize %x : tensor<1x4x8xf32> -> tensor<1x4xf32>
  return %y : tensor<1x4x8xf32>
}

// CHECK-LABEL: func.func @both_backward(
// CHECK-SAME: %{{[^:]*}}: tensor<1x4x8xf32>, %[[Y:[^:]*]]: tensor<1x4x8xf32>, %[[NORM:[^:]*]]: tensor<1x4xf32>, %[[DY:[^:]*]]: tensor<1x4x8xf32>)
func.func @both(%x: tensor<1x4x8xf32>) -> (tensor<1x4x8xf32>, tensor<1x4xf32>) {
  // CHECK-NOT: rt.normalize
  // CHECK: linalg.generic {{.*}} ins(%[[NORM]], %[[Y]], %[[DY]]
  %y, %norm = rt.normalize %x : tensor<1x4x8xf32> -> tensor<1x4xf32>
  return %y, %norm : tensor<1x4x8xf32>, tensor<1x4xf32>
}

// -----

// Adjoints of several uses are added.
// CHECK-LABEL: func.func @uses_backward(
func.func @uses(%table: tensor<9x8xf32>, %w: tensor<1x4x4xf32>, %ids: tensor<1x4xi32>) -> tensor<1x4x8xf32> {
  // CHECK: %[[BY_COPY:.*]] = rt.scatter_add
  // CHECK: %[[BY_SUM:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel", "parallel"]
  // CHECK: %[[DK:.*]] = linalg.generic {{.*}} ins(%[[BY_COPY]], %[[BY_SUM]]
  // CHECK: arith.addf
  // CHECK: rt.scatter_add %[[DK]]
  %k = rt.lookup %table[%ids] : tensor<9x8xf32>, tensor<1x4xi32> -> tensor<1x4x8xf32>
  %sum = rt.reduce %w of %k : tensor<1x4x4xf32>, tensor<1x4x8xf32> -> tensor<1x4x8xf32>
  %copy = rt.lookup %k[%ids] : tensor<1x4x8xf32>, tensor<1x4xi32> -> tensor<1x4x8xf32>
  %empty = tensor.empty() : tensor<1x4x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(b, i, d) -> (b, i, d)>, affine_map<(b, i, d) -> (b, i, d)>, affine_map<(b, i, d) -> (b, i, d)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%sum, %copy : tensor<1x4x8xf32>, tensor<1x4x8xf32>) outs(%empty : tensor<1x4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<1x4x8xf32>
  return %y : tensor<1x4x8xf32>
}

// -----

// No gradient is meant to exist of what is private, returns no floats first,
// or holds no op of the dialect with a rule. An op without a rule is no
// obstacle where no gradient flows.
// CHECK-NOT: _backward
func.func private @private(%x: tensor<1x4x8xf32>) -> tensor<1x4x8xf32> {
  %y, %norm = rt.normalize %x : tensor<1x4x8xf32> -> tensor<1x4xf32>
  return %y : tensor<1x4x8xf32>
}
func.func @positions(%z: tensor<1x4x4xf32>) -> tensor<1x4xi32> {
  %0 = rt.arg_select %z : tensor<1x4x4xf32> -> tensor<1x4xi32>
  return %0 : tensor<1x4xi32>
}
func.func @upstream(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.sin %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK: func.func @beside_backward
func.func @beside(%x: tensor<1x4x8xf32>) -> (tensor<1x4x8xf32>, tensor<1x4xf32>) {
  %y, %norm = rt.normalize %x : tensor<1x4x8xf32> -> tensor<1x4xf32>
  %0 = math.sin %norm : tensor<1x4xf32>
  return %y, %0 : tensor<1x4x8xf32>, tensor<1x4xf32>
}
