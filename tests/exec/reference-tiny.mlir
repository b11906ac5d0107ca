// RUN: rt-opt %s --rt-reference | mlir-runner -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_utils,%mlir_c_runner_utils | FileCheck %s

// Every query is (1, 0); the keys, by their ids 2, 0, 1, are (1, 0), (0, 0) and
// (1, 2), at squared distances 0, 1 and 4. With tau = 1 / ln 2 a weight is
// 2^-dist over its row's sum:
//
//   row   weights             centroid       top-1    entropy    ||x||
//   0     1                   (1, 0)         (1, 0)   0          1.414214
//   1     2/3, 1/3            (2/3, 0)       (1, 0)   0.636514   1.359998
//   2     0.64, 0.32, 0.04    (0.68, 0.08)   (1, 0)   0.778996   1.440706

func.func private @attend(%q: tensor<1x3x2xf32>, %table: tensor<3x2xf32>, %ids: tensor<1x3xi32>, %tau: tensor<f32>, %g: tensor<0xf32>) -> (tensor<1x3x5xf32>, tensor<1x3xf32>, tensor<1x3x1xi32>) {
  %y:3 = rt.attend [#rt.centroid, #rt.top<1>, #rt.entropy]
    queries(%q : tensor<1x3x2xf32>) lookup(%table[%ids] : tensor<3x2xf32>, tensor<1x3xi32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>)
    {saves = [#rt.saved<norm>, #rt.saved<indices>]}
    -> tensor<1x3x5xf32> saves tensor<1x3xf32>, tensor<1x3x1xi32>
  return %y#0, %y#1, %y#2 : tensor<1x3x5xf32>, tensor<1x3xf32>, tensor<1x3x1xi32>
}

func.func @main() {
  %q = arith.constant dense<[[[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]]]> : tensor<1x3x2xf32>
  %table = arith.constant dense<[[0.0, 0.0], [1.0, 2.0], [1.0, 0.0]]> : tensor<3x2xf32>
  %ids = arith.constant dense<[[2, 0, 1]]> : tensor<1x3xi32>
  %tau = arith.constant dense<1.44269504> : tensor<f32>
  %g = arith.constant dense<> : tensor<0xf32>
  %y:3 = call @attend(%q, %table, %ids, %tau, %g) : (tensor<1x3x2xf32>, tensor<3x2xf32>, tensor<1x3xi32>, tensor<f32>, tensor<0xf32>) -> (tensor<1x3x5xf32>, tensor<1x3xf32>, tensor<1x3x1xi32>)
  %signals = tensor.cast %y#0 : tensor<1x3x5xf32> to tensor<*xf32>
  %norm = tensor.cast %y#1 : tensor<1x3xf32> to tensor<*xf32>
  %indices = tensor.cast %y#2 : tensor<1x3x1xi32> to tensor<*xi32>
  call @printMemrefF32(%signals) : (tensor<*xf32>) -> ()
  call @printMemrefF32(%norm) : (tensor<*xf32>) -> ()
  call @printMemrefI32(%indices) : (tensor<*xi32>) -> ()
  return
}

func.func private @printMemrefF32(%buffer: tensor<*xf32>) attributes {llvm.emit_c_interface}
func.func private @printMemrefI32(%buffer: tensor<*xi32>) attributes {llvm.emit_c_interface}

// CHECK:      sizes = [1, 3, 5]
// CHECK-NEXT: 0.70710{{[67]}}, 0, 0.70710{{[67]}}, 0, 0]
// CHECK-NEXT: 0.49019{{[67]}}, 0, 0.73529{{[456]}}, 0, 0.46802{{[56]}}]
// CHECK-NEXT: 0.4719{{[89]+}}, 0.055528{{[0-9]*}}, 0.69410{{[34]}}, 0, 0.54070{{[45]}}]
// CHECK:      sizes = [1, 3]
// CHECK-NEXT: 1.41421, 1.36, 1.44071]
// CHECK:      sizes = [1, 3, 1]
// CHECK-NEXT: {{\[}}0],
// CHECK-NEXT: {{\[}}0],
// CHECK-NEXT: {{\[}}0]
