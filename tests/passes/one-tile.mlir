// RUN: rt-opt %s --rt-cpu -o /dev/null
// RUN: rt-opt %s --rt-stream --rt-bufferize | FileCheck %s
// RUN: rt-opt %s --rt-cuda | FileCheck %s --check-prefix=CUDA

// A loop of one iteration is still a task, and a kernel.
// CHECK-LABEL: func.func @attend
// CHECK: scf.forall
// CUDA-LABEL: func.func @attend
// CUDA: gpu.launch_func @kernels::@attend_finalize
func.func @attend(%q: tensor<1x8x16xf32>, %table: tensor<20x16xf32>, %ids: tensor<1x8xi32>, %tau: tensor<f32>, %g: tensor<1xf32>) -> tensor<1x8x16xf32> {
  %y = rt.attend [#rt.centroid]
    queries(%q : tensor<1x8x16xf32>) lookup(%table[%ids] : tensor<20x16xf32>, tensor<1x8xi32>)
    tau(%tau : tensor<f32>) gammas(%g : tensor<1xf32>) -> tensor<1x8x16xf32>
  return %y : tensor<1x8x16xf32>
}
