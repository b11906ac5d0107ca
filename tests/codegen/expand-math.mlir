// RUN: rt-opt %s --rt-expand-math | FileCheck %s

// exp: rounding by a large number, range reduction in two constants, a series of
// degree 6, 2^n by its exponent bits, and exactly 0 where the result would be
// subnormal.
// CHECK-LABEL: @exp
// CHECK-NOT: math.exp
// CHECK-COUNT-9: math.fma
// CHECK-NOT: math.fma
// CHECK: arith.bitcast {{.*}} vector<8xf32> to vector<8xi32>
// CHECK: arith.shli
// CHECK: arith.bitcast {{.*}} vector<8xi32> to vector<8xf32>
// CHECK: arith.select
func.func @exp(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.exp %x : vector<8xf32>
  return %0 : vector<8xf32>
}

// No conversion to integers, which AVX2 does not have for f64.
// CHECK-LABEL: @exp_double
// CHECK-NOT: arith.fptosi
// CHECK-COUNT-14: math.fma
// CHECK-NOT: math.fma
// CHECK: arith.shli
func.func @exp_double(%x: vector<4xf64>) -> vector<4xf64> {
  %0 = math.exp %x : vector<4xf64>
  return %0 : vector<4xf64>
}

// CHECK-LABEL: @log
// CHECK-NOT: math.log
// CHECK: arith.divf
func.func @log(%x: f64) -> f64 {
  %0 = math.log %x : f64
  return %0 : f64
}

// Other types are left alone.
// CHECK-LABEL: @half
// CHECK: math.exp
func.func @half(%x: f16) -> f16 {
  %0 = math.exp %x : f16
  return %0 : f16
}
