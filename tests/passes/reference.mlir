// RUN: rt-opt %s --rt-reference | FileCheck %s

// Results are written to buffers of the caller, after the inputs; what is
// allocated is freed; nothing but libm and the allocator is needed.
// CHECK-DAG: llvm.func @free
// CHECK-DAG: llvm.func @malloc
// CHECK-LABEL: llvm.func @attend
// CHECK-NOT: @memrefCopy
// CHECK: llvm.return{{$}}
func.func @attend(%q: tensor<?x?x8xf32>, %table: tensor<?x8xf32>, %ids: tensor<?x?xi32>, %tau: tensor<f32>, %g: tensor<0xf32>) -> tensor<?x?x9xf32> {
  %y = rt.attend [#rt.centroid, #rt.entropy]
    queries(%q : tensor<?x?x8xf32>) lookup(%table[%ids] : tensor<?x8xf32>, tensor<?x?xi32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<0xf32>) -> tensor<?x?x9xf32>
  return %y : tensor<?x?x9xf32>
}
