// RUN: rt-opt %s --rt-decompose --rt-differentiate --rt-verify-stage=stage=reference --rt-to-linalg --rt-verify-stage=stage=linalg | FileCheck %s --check-prefix=LINALG
// RUN: rt-opt %s --rt-reference=backward=true | FileCheck %s

// Both functions pass through the reference pipeline and need the allocator
// and libm only.
// LINALG-LABEL: func.func @attend(
// LINALG-LABEL: func.func @attend_backward(
// LINALG-SAME: -> (tensor<?x?x8xf32>, tensor<?x8xf32>, tensor<f32>, tensor<1xf32>)
// CHECK-NOT: @memrefCopy
// CHECK-LABEL: llvm.func @attend(
// CHECK: llvm.return{{$}}
// CHECK-LABEL: llvm.func @attend_backward(
// CHECK: llvm.return{{$}}
func.func @attend(%q: tensor<?x?x8xf32>, %table: tensor<?x8xf32>, %ids: tensor<?x?xi32>, %tau: tensor<f32>, %g: tensor<1xf32>) -> tensor<?x?x19xf32> {
  %y = rt.attend [#rt.decay<backward, 0>, #rt.top<1>, #rt.spread, #rt.entropy, #rt.max_score]
    queries(%q : tensor<?x?x8xf32>) lookup(%table[%ids] : tensor<?x8xf32>, tensor<?x?xi32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) -> tensor<?x?x19xf32>
  return %y : tensor<?x?x19xf32>
}
