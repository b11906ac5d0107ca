// RUN: rt-opt %s --rt-differentiate=function=second | FileCheck %s
// RUN: not rt-opt %s --rt-differentiate=function=third 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// CHECK-NOT: @first_backward
// CHECK: @second_backward
// CHECK-NOT: @first_backward
// UNKNOWN: expected a public function @third with a tensor of floats as first result and a differentiable op of the rt dialect, got none
func.func @first(%x: tensor<1x4x8xf32>) -> tensor<1x4x8xf32> {
  %y, %norm = rt.normalize %x : tensor<1x4x8xf32> -> tensor<1x4xf32>
  return %y : tensor<1x4x8xf32>
}
func.func @second(%x: tensor<1x4x8xf32>) -> tensor<1x4x8xf32> {
  %y, %norm = rt.normalize %x : tensor<1x4x8xf32> -> tensor<1x4xf32>
  return %y : tensor<1x4x8xf32>
}
