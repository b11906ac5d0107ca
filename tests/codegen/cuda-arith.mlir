// RUN: rt-translate %s --rt-emit-cuda | FileCheck %s

gpu.module @kernels {

// i32 and i64 wrap around, sizes and what cannot overflow are plain.
// CHECK-LABEL: integers(
gpu.func @integers(%a: i32, %n: index, %out: memref<8xi32>, %sizes: memref<8xindex>) kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %k = arith.constant -3 : i32
  // CHECK: int sum = rt::add(a, -3);
  %sum = arith.addi %a, %k : i32
  // CHECK: int plain = a - (-3);
  %plain = arith.subi %a, %k overflow<nsw> : i32
  // CHECK: long long rows = n * 8;
  %rows = arith.muli %n, %c8 : index
  // CHECK: long long left = min(rows, 8ll);
  %left = arith.minsi %rows, %c8 : index
  // CHECK: long long up = rt::ceilDiv(n, 8ll);
  %up = arith.ceildivsi %n, %c8 : index
  // CHECK: long long down = rt::floorDiv(n, 8ll);
  %down = arith.floordivsi %n, %c8 : index
  // CHECK: long long most = (long long)(max((unsigned long long)n, (unsigned long long)8));
  %most = arith.maxui %n, %c8 : index
  // CHECK: int rest = (int)((unsigned)a % (unsigned)(-3));
  %rest = arith.remui %a, %k : i32
  // Of two literals the first says that there are 64 bits.
  // CHECK: long long square = 8ll * 8;
  %square = arith.muli %c8, %c8 : index
  // CHECK: bool below = (unsigned)a < (unsigned)(-3);
  %below = arith.cmpi ult, %a, %k : i32
  // CHECK: int chosen = below ? a : -3;
  %chosen = arith.select %below, %a, %k : i32
  // CHECK: long long wide = (long long)(unsigned)chosen;
  %wide = arith.index_castui %chosen : i32 to index
  gpu.return
}

// CHECK-LABEL: floats(
gpu.func @floats(%a: f32, %b: f32, %w: f64, %half: memref<4xbf16>) kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tenth = arith.constant 0.1 : f32
  %least = arith.constant -0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %third = arith.constant 0.33333333333333331 : f64
  // CHECK: float x = a + 0.1f;
  %x = arith.addf %a, %tenth : f32
  // CHECK: float y = a * (-0.0f);
  %y = arith.mulf %a, %least : f32
  // CHECK: float z = rt::maximum(a, __int_as_float(0xff800000) /* -inf */);
  %z = arith.maximumf %a, %inf : f32
  // CHECK: double u = w / 0.3333333333333333;
  %u = arith.divf %w, %third : f64
  // CHECK: float v = fminf(a, b);
  %v = arith.minnumf %a, %b : f32
  // CHECK: float n = -a;
  %n = arith.negf %a : f32
  // CHECK: bool p = !(a <= b);
  %p = arith.cmpf ugt, %a, %b : f32
  // CHECK: bool q = a == a && b == b;
  %q = arith.cmpf ord, %a, %b : f32
  // CHECK: rt::bf16 h = half[0];
  %h = memref.load %half[%c0] : memref<4xbf16>
  // CHECK: float f = rt::toFloat(h);
  %f = arith.extf %h : bf16 to f32
  // CHECK: rt::bf16 g = rt::toBf16(f);
  %g = arith.truncf %f : f32 to bf16
  // CHECK: half[1] = g;
  memref.store %g, %half[%c1] : memref<4xbf16>
  // CHECK: int bits = __float_as_int(a);
  %bits = arith.bitcast %a : f32 to i32
  gpu.return
}

// CHECK-LABEL: functions(
gpu.func @functions(%a: f32, %w: f64) kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  // CHECK: float e = expf(a);
  %e = math.exp %a : f32
  // CHECK: double l = log2(w);
  %l = math.log2 %w : f64
  // CHECK: float s = fmaf(a, a, e);
  %s = math.fma %a, %a, %e : f32
  // CHECK: double m = fabs(w);
  %m = math.absf %w : f64
  gpu.return
}

}
