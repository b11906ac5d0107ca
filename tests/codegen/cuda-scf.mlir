// RUN: rt-translate %s --rt-emit-cuda | FileCheck %s

gpu.module @kernels {

// A result and its iteration variable are one; values that swap wait for each
// other.
// CHECK-LABEL: swap(
gpu.func @swap(%n: index, %out: memref<2xf32>) kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  // CHECK:      float a = 0.0f;
  // CHECK-NEXT: float b = 1.0f;
  // CHECK-NEXT: for (long long i = 0; i < n; i += 2) {
  // CHECK-NEXT:   float a_next = b;
  // CHECK-NEXT:   float b_next = a;
  // CHECK-NEXT:   a = a_next;
  // CHECK-NEXT:   b = b_next;
  // CHECK-NEXT: }
  %r:2 = scf.for %i = %c0 to %n step %c2 iter_args(%a = %zero, %b = %one)
      -> (f32, f32) {
    scf.yield %b, %a : f32, f32
  }
  // CHECK-NEXT: out[0] = a;
  memref.store %r#0, %out[%c0] : memref<2xf32>
  // CHECK-NEXT: out[1] = b;
  memref.store %r#1, %out[%c1] : memref<2xf32>
  gpu.return
}

// CHECK-LABEL: sum(
gpu.func @sum(%n: index, %x: memref<?xf32>, %out: memref<f32>) kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  // CHECK:      float total = 0.0f;
  // CHECK-NEXT: for (long long i = 0; i < n; ++i) {
  // CHECK-NEXT:   float v = x[i];
  // CHECK-NEXT:   bool positive = v > 0.0f;
  // CHECK-NEXT:   float term;
  // CHECK-NEXT:   if (positive) {
  // CHECK-NEXT:     float w = v + v;
  // CHECK-NEXT:     term = w;
  // CHECK-NEXT:   } else {
  // CHECK-NEXT:     term = 0.0f;
  // CHECK-NEXT:   }
  // CHECK-NEXT:   float t = total + term;
  // CHECK-NEXT:   total = t;
  // CHECK-NEXT: }
  %total = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (f32) {
    %v = memref.load %x[%i] : memref<?xf32>
    %positive = arith.cmpf ogt, %v, %zero : f32
    %term = scf.if %positive -> (f32) {
      %w = arith.addf %v, %v : f32
      scf.yield %w : f32
    } else {
      scf.yield %zero : f32
    }
    %t = arith.addf %s, %term : f32
    scf.yield %t : f32
  }
  // CHECK-NEXT: out[0] = total;
  memref.store %total, %out[] : memref<f32>
  // A branch of no results.
  %empty = arith.cmpi eq, %n, %c0 : index
  // CHECK:      if (empty) {
  // CHECK-NEXT:   out[0] = 0.0f;
  // CHECK-NEXT: }
  scf.if %empty {
    memref.store %zero, %out[] : memref<f32>
  }
  gpu.return
}

}
