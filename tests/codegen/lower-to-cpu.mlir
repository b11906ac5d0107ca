// RUN: rt-opt %s --rt-stream --rt-bufferize --rt-lower-to-cpu=vector-bits=256 | FileCheck %s
// RUN: rt-opt %s --rt-stream --rt-bufferize --rt-lower-to-cpu=vector-bits=512 | FileCheck %s --check-prefix=WIDE
// RUN: rt-opt %s --rt-stream --rt-bufferize --rt-lower-to-cpu=vector-bits=256 --rt-verify-stage=stage=cpu -o /dev/null

// Results become trailing arguments; rows lie in lanes, keys in panels. A
// result that the caller does not ask for is memory of the call.
// CHECK-LABEL: func.func @attend
// CHECK-SAME: memref<1x?x17xf32>) {
// CHECK: scf.forall
// CHECK-DAG: memref.alloc() {{.*}} : memref<1x192x16xf32>
// CHECK-DAG: memref.alloc() {{.*}} : memref<2x16x16xf32>
// CHECK-DAG: memref.alloc(%{{.*}}) {{.*}} : memref<?x32xf32>
// CHECK-NOT: rt.
// WIDE: vector<16xf32>
func.func @attend(%q: tensor<1x?x16xf32>, %table: tensor<?x16xf32>, %ids: tensor<1x?xi32>, %tau: tensor<f32>, %g: tensor<1xf32>) -> tensor<1x?x17xf32> {
  %y = rt.attend [#rt.decay<backward, 0>, #rt.entropy]
    queries(%q : tensor<1x?x16xf32>) lookup(%table[%ids] : tensor<?x16xf32>, tensor<1x?xi32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) -> tensor<1x?x17xf32>
  return %y : tensor<1x?x17xf32>
}
