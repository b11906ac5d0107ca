// RUN: rt-translate %s --rt-emit-cuda | FileCheck %s

gpu.module @kernels {

// Sizes stand behind their pointer, named after the memref.dim that reads them;
// known ones are no parameters. What is never written is const.
// CHECK-LABEL: copy(
// CHECK-NEXT: const float *in, long long in_rows, long long in_dim3, float *out,
// CHECK-NEXT: long long out_dim0, const long long *n) {
gpu.func @copy(%in: memref<2x?x1x?xf32>, %out: memref<?x16xf32>, %n: memref<i64>) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %i = gpu.thread_id x
  %rows = memref.dim %in, %c1 : memref<2x?x1x?xf32>
  %known = memref.dim %out, %c1 : memref<?x16xf32>
  // CHECK: long long last = in_rows - 1;
  %last = arith.subi %rows, %c1 : index
  // CHECK: long long product = 16ll * 16;
  %product = arith.muli %known, %known : index
  // CHECK: float a = in[(in_rows + i) * in_dim3 + 3];
  %a = memref.load %in[%c1, %i, %c0, %c3] : memref<2x?x1x?xf32>
  // CHECK: float b = in[i];
  %b = memref.load %in[%c0, %c0, %c0, %i] : memref<2x?x1x?xf32>
  // CHECK: out[i * 16 + last] = a;
  memref.store %a, %out[%i, %last] : memref<?x16xf32>
  // CHECK: out[51] = b;
  memref.store %b, %out[%c3, %c3] : memref<?x16xf32>
  // CHECK: long long count = n[0];
  %count = memref.load %n[] : memref<i64>
  // A cast renames.
  %two = memref.cast %in : memref<2x?x1x?xf32> to memref<?x?x?x4xf32>
  // CHECK: float c = in[i * 4];
  %c = memref.load %two[%c0, %i, %c0, %c0] : memref<?x?x?x4xf32>
  gpu.return
}

// CHECK-LABEL: @local
// CHECK-NEXT: shared memory:
// CHECK-NEXT:   offset        bytes  what
// CHECK-NEXT:        0         4096  keys: 16 x 64 x float
// CHECK-NEXT:     4096       64 * n  scores: n x 16 x float
// CHECK-NEXT:     4608           16  half: 8 x rt::bf16
// CHECK: extern __shared__ __align__(16) unsigned char shared[];
gpu.func @local(%n: index) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %o1 = arith.constant 4096 : index
  %o2 = arith.constant 4608 : index
  %zero = arith.constant 0.0 : f32
  %memory = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
  // CHECK-NEXT: float *keys = (float *)shared;
  %keys = memref.view %memory[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<16x64xf32, #gpu.address_space<workgroup>>
  // CHECK-NEXT: float *scores = (float *)(shared + 4096);
  %scores = memref.view %memory[%o1][%n] : memref<?xi8, #gpu.address_space<workgroup>> to memref<?x16xf32, #gpu.address_space<workgroup>>
  // CHECK-NEXT: rt::bf16 *half = (rt::bf16 *)(shared + 4608);
  %half = memref.view %memory[%o2][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<8xbf16, #gpu.address_space<workgroup>>
  // CHECK-NEXT: float row[64];
  %row = memref.alloca() : memref<4x16xf32>
  // CHECK-NEXT: __align__(16) double none[1];
  %none = memref.alloca() {alignment = 16 : i64} : memref<0xf64>
  // CHECK-NEXT: row[0] = 0.0f;
  memref.store %zero, %row[%c0, %c0] : memref<4x16xf32>
  gpu.return
}

}
