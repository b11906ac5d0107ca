// RUN: rt-translate %s --rt-emit-cuda --split-input-file --verify-diagnostics

// Nothing is printed that C++ would take for something else.

gpu.module @kernels {
gpu.func @f(%a: f32, %b: f32) kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  // expected-error @below {{'arith.remf' op has no form in CUDA C++}}
  %r = arith.remf %a, %b : f32
  gpu.return
}
}

// -----

gpu.module @kernels {
gpu.func @f(%a: f32) kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  // expected-error @below {{'math.sin' op has no form in CUDA C++}}
  %r = math.sin %a : f32
  gpu.return
}
}

// -----

gpu.module @kernels {
gpu.func @f(%a: i32, %b: i32) kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  // expected-error @below {{'arith.addui_extended' op has no form in CUDA C++}}
  %r, %c = arith.addui_extended %a, %b : i32, i1
  gpu.return
}
}

// -----

gpu.module @kernels {
gpu.func @f(%x: memref<4xbf16>) kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  %c0 = arith.constant 0 : index
  %a = memref.load %x[%c0] : memref<4xbf16>
  // expected-error @below {{expected bf16 to be extended to f32 first, got 'bf16'}}
  %r = arith.addf %a, %a : bf16
  gpu.return
}
}

// -----

gpu.module @kernels {
gpu.func @f(%a: i32) kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  // expected-error @below {{has no form in CUDA C++ from 'i32' to 'bf16'}}
  %r = arith.sitofp %a : i32 to bf16
  gpu.return
}
}

// -----

gpu.module @kernels {
gpu.func @f(%a: f32) kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  // expected-error @below {{expected values of i1, i8, i32, i64, index, bf16, f32 or f64, got 'f16'}}
  %r = arith.truncf %a : f32 to f16
  gpu.return
}
}

// -----

gpu.module @kernels {
gpu.func @f(%a: f32) kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  // expected-error @below {{expected to_nearest_even, got toward_zero}}
  %r = arith.truncf %a toward_zero : f32 to bf16
  gpu.return
}
}

// -----

gpu.module @kernels {
gpu.func @f() kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  // expected-error @below {{expected a number of i1, i8, i32, i64, index, bf16, f32 or f64, got dense<0.000000e+00> : vector<4xf32>}}
  %r = arith.constant dense<0.0> : vector<4xf32>
  gpu.return
}
}

// -----

gpu.module @kernels {
gpu.func @f() kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  // expected-error @below {{got 3 : i16}}
  %r = arith.constant 3 : i16
  gpu.return
}
}

// -----

gpu.module @kernels {
gpu.func @f(%a: i32, %b: i32) kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  %p = arith.cmpi eq, %a, %b : i32
  // expected-error @below {{expected i8, i32, i64 or index, got 'i1'}}
  %r = arith.addi %p, %p : i1
  gpu.return
}
}

// -----

gpu.module @kernels {
gpu.func @f(%a: i32, %b: i32) kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  %p = arith.cmpi eq, %a, %b : i32
  // expected-error @below {{expected a comparison of i1 without a sign, got slt}}
  %r = arith.cmpi slt, %p, %p : i1
  gpu.return
}
}

// -----

gpu.module @kernels {
gpu.func @f(%n: index) kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{expected a loop with signed bounds, got one with unsigned bounds}}
  scf.for unsigned %i = %c0 to %n step %c1 {
  }
  gpu.return
}
}

// -----

gpu.module @kernels {
gpu.func @f(%n: index) kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{'scf.while' op has no form in CUDA C++}}
  scf.while : () -> () {
    %p = arith.cmpi eq, %n, %c0 : index
    scf.condition(%p)
  } do {
    scf.yield
  }
  gpu.return
}
}

// -----

gpu.module @kernels {
gpu.func @f(%x: memref<4xf32>, %y: memref<4xf32>, %n: index) kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  %c0 = arith.constant 0 : index
  %p = arith.cmpi eq, %n, %c0 : index
  // expected-error @below {{expected results of i1, i8, i32, i64, index, bf16, f32 or f64, got 'memref<4xf32>'}}
  %r = scf.if %p -> (memref<4xf32>) {
    scf.yield %x : memref<4xf32>
  } else {
    scf.yield %y : memref<4xf32>
  }
  gpu.return
}
}

// -----

gpu.module @kernels {
gpu.func @f(%x: memref<8xf32>) kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  // expected-error @below {{'memref.subview' op has no form in CUDA C++: expected loads and stores of the whole buffer}}
  %r = memref.subview %x[2][4][1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 2>>
  gpu.return
}
}

// -----

gpu.module @kernels {
gpu.func @f() kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  // expected-error @below {{'memref.alloc' op has no form in CUDA C++}}
  %r = memref.alloc() : memref<8xf32>
  gpu.return
}
}

// -----

gpu.module @kernels {
gpu.func @f(%n: index) kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  // expected-error @below {{expected a static shape, got 'memref<?xf32>'}}
  %r = memref.alloca(%n) : memref<?xf32>
  gpu.return
}
}

// -----

gpu.module @kernels {
gpu.func @f() kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  // expected-error @below {{expected memory of the thread's own, got 'memref<4xf32, #gpu.address_space<workgroup>>'}}
  %r = memref.alloca() : memref<4xf32, #gpu.address_space<workgroup>>
  gpu.return
}
}

// -----

gpu.module @kernels {
gpu.func @f() kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  // expected-error @below {{expected elements of i8, i32, i64, index, bf16, f32 or f64, got 'memref<4xi1>'}}
  %r = memref.alloca() : memref<4xi1>
  gpu.return
}
}

// -----

gpu.module @kernels {
gpu.func @f(%x: memref<?xf32>, %n: index) kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  // expected-error @below {{expected a constant dimension}}
  %r = memref.dim %x, %n : memref<?xf32>
  gpu.return
}
}

// -----

gpu.module @kernels {
gpu.func @f(%n: index) kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  %shared = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
  // expected-error @below {{expected a constant offset in bytes}}
  %r = memref.view %shared[%n][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<4xf32, #gpu.address_space<workgroup>>
  gpu.return
}
}

// -----

gpu.module @kernels {
gpu.func @f() kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  %c6 = arith.constant 6 : index
  %shared = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
  // expected-error @below {{expected an offset that is a multiple of 4 bytes, got 6}}
  %r = memref.view %shared[%c6][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<4xf32, #gpu.address_space<workgroup>>
  gpu.return
}
}

// -----

gpu.module @kernels {
gpu.func @f(%x: memref<64xi8>) kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expected a view of gpu.dynamic_shared_memory}}
  %r = memref.view %x[%c0][] : memref<64xi8> to memref<4xf32>
  gpu.return
}
}

// -----

gpu.module @kernels {
gpu.func @f() kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  %c0 = arith.constant 0 : index
  %shared = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
  // expected-error @below {{expected gpu.dynamic_shared_memory to be used by memref.view only}}
  %r = memref.load %shared[%c0] : memref<?xi8, #gpu.address_space<workgroup>>
  gpu.return
}
}

// -----

gpu.module @kernels {
gpu.func @f() kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  // expected-error @below {{'gpu.lane_id' op has no form in CUDA C++}}
  %r = gpu.lane_id
  gpu.return
}
}

// -----

gpu.module @kernels {
gpu.func @f(%x: memref<f32>) kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  // expected-error @below {{'vector.print' op has no form in CUDA C++}}
  vector.print str "x"
  gpu.return
}
}

// -----

gpu.module @kernels {
// expected-error @below {{expected known_block_size}}
gpu.func @f() kernel
    attributes {} {
  gpu.return
}
}

// -----

gpu.module @kernels {
// expected-error @below {{expected a block of 1 to 1024 threads, got known_block_size 64, 32, 1}}
gpu.func @f() kernel
    attributes {known_block_size = array<i32: 64, 32, 1>} {
  gpu.return
}
}

// -----

gpu.module @kernels {
// expected-error @below {{expected a kernel, got a function}}
gpu.func @f()
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  gpu.return
}
}

// -----

gpu.module @kernels {
// expected-error @below {{expected the identity layout, got 'memref<4xf32, strided<[2]>>'}}
gpu.func @f(%x: memref<4xf32, strided<[2]>>) kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  gpu.return
}
}

// -----

gpu.module @kernels {
// expected-error @below {{expected a ranked memref, got 'memref<*xf32>'}}
gpu.func @f(%x: memref<*xf32>) kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  gpu.return
}
}

// -----

gpu.module @kernels {
// expected-error @below {{expected no memory space or one of #gpu.address_space, got 'memref<4xf32, 3>'}}
gpu.func @f(%x: memref<4xf32, 3>) kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  gpu.return
}
}

// -----

gpu.module @kernels {
// expected-error @below {{expected arguments in global memory, got 'memref<4xf32, #gpu.address_space<workgroup>>'}}
gpu.func @f(%x: memref<4xf32, #gpu.address_space<workgroup>>) kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  gpu.return
}
}

// -----

gpu.module @kernels {
// expected-error @below {{expected arguments of memref, index, i32, i64, f32 or f64, got 'i1'}}
gpu.func @f(%x: i1) kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  gpu.return
}
}

// -----

gpu.module @kernels {
// expected-error @below {{expected memory by gpu.dynamic_shared_memory and memref.alloca, got attributions}}
gpu.func @f() workgroup(%x: memref<4xf32, #gpu.address_space<workgroup>>) kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  gpu.return
}
}

// -----

gpu.module @kernels {
// expected-error @below {{expected one block, got 2}}
gpu.func @f() kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  cf.br ^end
^end:
  gpu.return
}
}

// -----

gpu.module @kernels {
// expected-error @below {{'memref.global' op expected kernels (gpu.func) only in a gpu.module}}
memref.global @g : memref<4xf32>
}

// -----

// expected-error @below {{expected one gpu.module, got 0}}
module {
}

// -----

// expected-error @below {{expected one gpu.module, got 2}}
module {
gpu.module @a {
}
gpu.module @b {
}
}
