// RUN: rt-opt %s --rt-differentiate --canonicalize -split-input-file | FileCheck %s

// Differences, not expansions, over the distance where it is not 0: before they
// are multiplied, as a gradient over a tiny distance may be out of range.
// CHECK-LABEL: @distance_backward
// CHECK-SAME: %[[Q:[^:]*]]: tensor<1x4x8xbf16>, %[[K:[^:]*]]: tensor<1x5x8xf32>, %[[D:[^:]*]]: tensor<1x4x5xf32>, %[[DD:[^:]*]]: tensor<1x4x5xf32>) -> (tensor<1x4x8xf32>, tensor<1x5x8xf32>)
func.func @distance(%q: tensor<1x4x8xbf16>, %k: tensor<1x5x8xf32>) -> tensor<1x4x5xf32> {
  // CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[D]] :
  // CHECK-NEXT: ^bb0(%[[DE:.*]]: f32, %{{.*}}: f32):
  // CHECK: %[[FAR:.*]] = arith.cmpf ogt, %[[DE]], %cst
  // CHECK: arith.select %[[FAR]], %[[DE]], %{{.*}} : f32
  // CHECK: %[[DQ:.*]] = linalg.generic {{.*}}"parallel", "parallel", "reduction", "parallel"]{{.*}} ins(%[[DD]], %[[S]], %[[Q]], %[[K]]
  // CHECK-NEXT: ^bb0(%[[DDE:.*]]: f32, %[[SE:.*]]: f32, %[[QE:.*]]: bf16, %[[KE:.*]]: f32, %{{.*}}: f32):
  // CHECK: %[[WIDE:.*]] = arith.extf %[[QE]] : bf16 to f32
  // CHECK: %[[DIFFERENCE:.*]] = arith.subf %[[WIDE]], %[[KE]]
  // CHECK: %[[SCALED:.*]] = arith.divf %[[DIFFERENCE]], %[[SE]]
  // CHECK: arith.mulf %[[DDE]], %[[SCALED]]
  // CHECK: %[[DK:.*]] = linalg.generic {{.*}}"parallel", "reduction", "parallel", "parallel"]{{.*}} ins(%[[DD]], %[[S]], %[[Q]], %[[K]]
  // CHECK: return %[[DQ]], %[[DK]]
  %d = rt.distance %q, %k {metric = #rt.metric<l2>} : tensor<1x4x8xbf16>, tensor<1x5x8xf32> -> tensor<1x4x5xf32>
  return %d : tensor<1x4x5xf32>
}

// -----

// Through the weights: w (dw - sum w dw) where the score is finite, exact
// zeros elsewhere; none for tau under its floor.
// CHECK-LABEL: @softmax_backward
// CHECK-SAME: %[[DIST:[^:]*]]: tensor<1x4x5xf32>, %[[TAU:[^:]*]]: tensor<f32>, %[[W:[^:]*]]: tensor<1x4x5xf32>, %[[Z:[^:]*]]: tensor<1x4x5xf32>, %[[DW:[^:]*]]: tensor<1x4x5xf32>)
func.func @softmax(%d: tensor<1x4x5xf32>, %tau: tensor<f32>) -> (tensor<1x4x5xf32>, tensor<1x4x5xf32>) {
  // CHECK-DAG: %[[HIDDEN:.*]] = arith.constant 0xFF800000 : f32
  // CHECK-DAG: %[[FLOOR:.*]] = arith.constant 0.00999999977 : f32
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK: %[[SUMS:.*]] = linalg.generic {{.*}} ins(%[[Z]], %[[W]], %[[DW]]
  // CHECK: %[[DS:.*]] = linalg.generic {{.*}} ins(%[[Z]], %[[W]], %[[DW]], %[[SUMS]]
  // CHECK: %[[VISIBLE:.*]] = arith.cmpf ogt, %{{.*}}, %[[HIDDEN]]
  // CHECK: arith.select %[[VISIBLE]], %{{.*}}, %[[ZERO]]
  // CHECK: %[[DDIST:.*]] = linalg.generic {{.*}} ins(%[[Z]], %[[TAU]], %[[DS]]
  // CHECK: %[[LARGEST:.*]] = linalg.generic {{.*}} ins(%[[Z]] :
  // CHECK: %[[DTAU:.*]] = linalg.generic {{.*}}["reduction", "reduction", "reduction"]{{.*}} ins(%[[Z]], %[[LARGEST]], %[[TAU]], %[[DS]]
  // CHECK: %[[FLOORED:.*]] = arith.cmpf olt, %{{.*}}, %[[FLOOR]]
  // CHECK: arith.select %[[FLOORED]], %[[ZERO]]
  // CHECK: return %[[DDIST]], %[[DTAU]]
  %z, %w = rt.softmax %d tau(%tau : tensor<f32>) : tensor<1x4x5xf32>
  return %w, %z : tensor<1x4x5xf32>, tensor<1x4x5xf32>
}

// -----

// What padding brings is left out on the way back, too.
// CHECK-LABEL: @padding_backward
// CHECK-SAME: %[[LEN:[^:]*]]: tensor<1xi64>, %{{[^:]*}}: tensor<1x4x5xf32>, %[[DX:[^:]*]]: tensor<1x4x5xf32>)
func.func @padding(%x: tensor<1x4x5xf32>, %len: tensor<1xi64>) -> tensor<1x4x5xf32> {
  // CHECK: %[[R:.*]] = rt.clear_padding %[[DX]] lengths(%[[LEN]] : tensor<1xi64>)
  // CHECK: return %[[R]]
  %y = rt.clear_padding %x lengths(%len : tensor<1xi64>) : tensor<1x4x5xf32>
  return %y : tensor<1x4x5xf32>
}

// -----

// A weight of 0 with a negative exponent gives 0; the gamma's adjoint stands
// at its index.
// CHECK-LABEL: @decay_backward
// CHECK-SAME: %[[W:[^:]*]]: tensor<1x4x5xf32>, %{{[^:]*}}: tensor<3xf32>, %{{[^:]*}}: tensor<1x4x5xf32>, %[[DA:[^:]*]]: tensor<1x4x5xf32>)
func.func @decay(%w: tensor<1x4x5xf32>, %g: tensor<3xf32>) -> tensor<1x4x5xf32> {
  // CHECK-DAG: %[[INDEX:.*]] = arith.constant 2 : index
  // CHECK: %[[DW:.*]] = linalg.generic {{.*}} ins(%[[W]], %[[DA]]
  // CHECK: %[[HIDDEN:.*]] = arith.andi
  // CHECK: arith.select %[[HIDDEN]], %cst
  // CHECK: %[[SUM:.*]] = linalg.generic {{.*}}["reduction", "reduction", "reduction"]{{.*}} ins(%[[W]], %[[DA]]
  // CHECK: %[[VALUE:.*]] = tensor.extract %[[SUM]][]
  // CHECK: %[[DG:.*]] = tensor.insert %[[VALUE]] into %{{.*}}[%[[INDEX]]] : tensor<3xf32>
  // CHECK: return %[[DW]], %[[DG]]
  %a = rt.decay %w by %g[2] : tensor<1x4x5xf32>, tensor<3xf32>
  return %a : tensor<1x4x5xf32>
}

// -----

// Under the floor the divisor is a constant and gives nothing.
// CHECK-LABEL: @floored_backward
// CHECK-SAME: %[[W:[^:]*]]: tensor<1x4x5xf32>, %[[V:[^:]*]]: tensor<1x5x8xf32>, %[[R:[^:]*]]: tensor<1x4x8xf32>, %[[DR:[^:]*]]: tensor<1x4x8xf32>)
func.func @floored(%w: tensor<1x4x5xf32>, %v: tensor<1x5x8xf32>) -> tensor<1x4x8xf32> {
  // CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[W]] :
  // CHECK: %[[DN:.*]] = linalg.generic {{.*}} ins(%[[DR]], %[[S]]
  // CHECK: %[[DS:.*]] = linalg.generic {{.*}} ins(%[[DN]], %[[R]], %[[S]]
  // CHECK: %[[UNDER:.*]] = arith.cmpf olt
  // CHECK: arith.select %[[UNDER]], %cst
  // CHECK: %[[PRODUCTS:.*]] = linalg.generic {{.*}} ins(%[[DN]], %[[V]]
  // CHECK: %[[DW:.*]] = linalg.generic {{.*}} ins(%[[PRODUCTS]], %[[DS]]
  // CHECK: %[[DV:.*]] = linalg.generic {{.*}} ins(%[[W]], %[[DN]]
  // CHECK: return %[[DW]], %[[DV]]
  %r = rt.reduce %w of %v {floor = 1.0e-8 : f64} : tensor<1x4x5xf32>, tensor<1x5x8xf32> -> tensor<1x4x8xf32>
  return %r : tensor<1x4x8xf32>
}

// -----

// Slices of the adjoint, in the shape of their sources.
// CHECK-LABEL: @concatenated_backward
// CHECK-SAME: %[[W:[^:]*]]: tensor<1x4x5xf32>, %{{[^:]*}}: tensor<1x4x2xf32>, %[[DX:[^:]*]]: tensor<1x4x2xf32>)
func.func @concatenated(%w: tensor<1x4x5xf32>) -> tensor<1x4x2xf32> {
  // CHECK: %[[SLICE:.*]] = tensor.extract_slice %[[DX]][0, 0, 1] [1, 4, 1] [1, 1, 1]
  // CHECK: %[[FLAT:.*]] = tensor.collapse_shape %[[SLICE]] {{\[\[}}0], [1, 2]]
  // CHECK: %[[DW:.*]] = linalg.generic {{.*}} ins(%[[FLAT]]
  // CHECK: return %[[DW]]
  %sum = rt.reduce %w : tensor<1x4x5xf32> -> tensor<1x4xf32>
  %column = tensor.expand_shape %sum [[0], [1, 2]] output_shape [1, 4, 1] : tensor<1x4xf32> into tensor<1x4x1xf32>
  %empty = tensor.empty() : tensor<1x4x2xf32>
  %x = tensor.insert_slice %column into %empty[0, 0, 1] [1, 4, 1] [1, 1, 1] : tensor<1x4x1xf32> into tensor<1x4x2xf32>
  return %x : tensor<1x4x2xf32>
}

// -----

// The scalar body backwards; a maximum favours its first operand, and what is
// broadcast is summed.
// CHECK-LABEL: @elements_backward
// CHECK-SAME: %[[D:[^:]*]]: tensor<1x4x5xf32>, %[[TAU:[^:]*]]: tensor<f32>,
func.func @elements(%d: tensor<1x4x5xf32>, %tau: tensor<f32>) -> tensor<1x4x5xf32> {
  %z, %w = rt.softmax %d tau(%tau : tensor<f32>) : tensor<1x4x5xf32>
  // CHECK: %[[DW:.*]] = linalg.generic {{.*}}["parallel", "parallel", "parallel"]
  // CHECK-NEXT: ^bb0(%[[WE:.*]]: f32, %[[TE:.*]]: f32, %[[G:.*]]: f32, %{{.*}}: f32):
  // CHECK: %[[FACTOR:.*]] = arith.mulf %[[G]], %[[TE]]
  // CHECK: %[[LESS:.*]] = arith.cmpf olt, %[[WE]], %cst
  // CHECK: arith.select %[[LESS]], %cst{{.*}}, %[[FACTOR]]
  // CHECK: %[[DTAU:.*]] = linalg.generic {{.*}}["reduction", "reduction", "reduction"]
  // CHECK: arith.addf
  %empty = tensor.empty() : tensor<1x4x5xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> ()>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%w, %tau : tensor<1x4x5xf32>, tensor<f32>) outs(%empty : tensor<1x4x5xf32>) {
  ^bb0(%a: f32, %t: f32, %out: f32):
    %floor = arith.constant 1.0e-10 : f32
    %greater = arith.cmpf ogt, %a, %floor : f32
    %max = arith.select %greater, %a, %floor : f32
    %0 = arith.mulf %max, %t : f32
    linalg.yield %0 : f32
  } -> tensor<1x4x5xf32>
  return %y : tensor<1x4x5xf32>
}

// -----

// The gradient goes to the lowest position that attains the maximum.
// CHECK-LABEL: @maximum_backward
func.func @maximum(%d: tensor<1x4x5xf32>, %tau: tensor<f32>) -> tensor<1x4xf32> {
  // CHECK-DAG: %[[NONE:.*]] = arith.constant 9223372036854775807 : i64
  // CHECK: %[[Z:.*]], %{{.*}} = rt.softmax
  // CHECK: %[[FIRST:.*]] = linalg.generic {{.*}} ins(%[[Z]], %{{.*}} : tensor<1x4x5xf32>, tensor<1x4xf32>)
  // CHECK: %[[ATTAINS:.*]] = arith.cmpf oeq
  // CHECK: arith.select %[[ATTAINS]], %{{.*}}, %[[NONE]]
  // CHECK: arith.minsi
  // CHECK: linalg.generic {{.*}} ins(%[[FIRST]], %{{.*}} : tensor<1x4xi64>, tensor<1x4xf32>)
  // CHECK: arith.cmpi eq
  %z, %w = rt.softmax %d tau(%tau : tensor<f32>) : tensor<1x4x5xf32>
  %lowest = arith.constant 0xFF800000 : f32
  %empty = tensor.empty() : tensor<1x4xf32>
  %init = linalg.fill ins(%lowest : f32) outs(%empty : tensor<1x4xf32>) -> tensor<1x4xf32>
  %m = linalg.reduce ins(%z : tensor<1x4x5xf32>) outs(%init : tensor<1x4xf32>) dimensions = [2]
    (%a: f32, %b: f32) {
      %greater = arith.cmpf ogt, %a, %b : f32
      %max = arith.select %greater, %a, %b : f32
      linalg.yield %max : f32
    }
  return %m : tensor<1x4xf32>
}
