// RUN: rt-translate %s --rt-emit-cuda | FileCheck %s

gpu.module @kernels {

// CHECK:      // @int
// CHECK:      rt_kernel_int(
// CHECK-NEXT: long long v_while, float *v_float, long long v_float_dim0, float *v_float_1) {
gpu.func @int(%while: index, %float: memref<?xf32>, %float_: memref<f32>) kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: float v_expf = v_float[0];
  %expf = memref.load %float[%c0] : memref<?xf32>
  // Without a name it is what it is.
  // CHECK: float sum = v_expf + v_expf;
  %0 = arith.addf %expf, %expf : f32
  // CHECK: float sum_1 = sum + v_expf;
  %1 = arith.addf %0, %expf : f32
  // CHECK: float a_b_c = expf(sum_1);
  %a.b-c_ = math.exp %1 : f32
  // A name is free again behind its scope, and never hides one around it.
  // CHECK: for (long long i = 0; i < v_while; ++i) {
  // CHECK:   for (long long j = 0; j < i; ++j) {
  // CHECK:     float sum_2 = sum_1 + a_b_c;
  // CHECK:     v_float[j] = sum_2;
  scf.for %2 = %c0 to %while step %c1 {
    scf.for %3 = %c0 to %2 step %c1 {
      %4 = arith.addf %1, %a.b-c_ : f32
      memref.store %4, %float[%3] : memref<?xf32>
    }
  }
  // CHECK: for (long long i = 0;
  // CHECK:   float sum_2 =
  scf.for %2 = %c0 to %while step %c1 {
    %4 = arith.addf %1, %1 : f32
    memref.store %4, %float[%2] : memref<?xf32>
  }
  memref.store %1, %float_[] : memref<f32>
  gpu.return
}

// Names of locations hold where the text has none.
// CHECK: named(
// CHECK-NEXT: long long given) {
// CHECK-NEXT: long long twice = given + given;
gpu.func @named(%0: index loc("given")) kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  %1 = arith.addi %0, %0 : index loc("twice")
  gpu.return
}

// CHECK: // @a.b
// CHECK: rt_kernel_a_2Eb() {
gpu.func @"a.b"() kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  gpu.return
}

}
