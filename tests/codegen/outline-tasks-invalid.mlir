// RUN: rt-opt %s --rt-outline-tasks --split-input-file --verify-diagnostics

func.func @size_inside(%n: index, %x: f32) {
  scf.forall (%i) in (%n) {
    // expected-error @below {{of 'memref<?xf32>' in a parallel loop expected sizes that are known before the loop, got one computed in it}}
    %a = memref.alloc(%i) : memref<?xf32>
    memref.store %x, %a[%i] : memref<?xf32>
  }
  return
}

// -----

func.func @handed_out(%n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%i) in (%n) {
    %first = memref.alloc() : memref<4xf32>
    %last = scf.for %j = %c0 to %n step %c1 iter_args(%b = %first) -> (memref<4xf32>) {
      // expected-error @below {{in a parallel loop expected to stay in its block, got handed out of it by a terminator}}
      %a = memref.alloc() : memref<4xf32>
      scf.yield %a : memref<4xf32>
    }
    memref.store %x, %last[%c0] : memref<4xf32>
  }
  return
}

// -----

func.func @memory_space(%n: index, %x: f32) {
  scf.forall (%i) in (%n) {
    // expected-error @below {{in a parallel loop expected no layout and no memory space, got 'memref<4xf32, 3>'}}
    %a = memref.alloc() : memref<4xf32, 3>
    memref.store %x, %a[%i] : memref<4xf32, 3>
  }
  return
}

// -----

func.func @alignment(%n: index, %x: f32) {
  scf.forall (%i) in (%n) {
    // expected-error @below {{in a parallel loop expected at most 64 bytes of alignment, got 4096}}
    %a = memref.alloc() {alignment = 4096} : memref<4xf32>
    memref.store %x, %a[%i] : memref<4xf32>
  }
  return
}

// -----

func.func @frees_host_buffer(%n: index, %m: memref<?xf32>) {
  scf.forall (%i) in (%n) {
    // expected-error @below {{in a parallel loop expected the result of a memref.alloc, got another buffer}}
    memref.dealloc %m : memref<?xf32>
  }
  return
}

// -----

func.func @depends_on_data(%m: memref<index>, %x: f32) {
  %n = memref.load %m[] : memref<index>
  // expected-error @below {{expected the workspace of a parallel loop to follow from the function's arguments, got something computed from other values}}
  scf.forall (%i) in (%n) {
    %a = memref.alloc(%n) : memref<?xf32>
    memref.store %x, %a[%i] : memref<?xf32>
  }
  return
}

// -----

func.func @captures_tensor(%n: index, %t: tensor<4xf32>, %m: memref<4xf32>) {
  // expected-error @below {{expected to use values that have an LLVM form, got 'tensor<4xf32>'}}
  scf.forall (%i) in (%n) {
    %x = tensor.extract %t[%i] : tensor<4xf32>
    memref.store %x, %m[%i] : memref<4xf32>
  }
  return
}

// -----

// expected-error @below {{expected the type '(!llvm.ptr, i64, i64, !llvm.ptr) -> ()'}}
func.func private @rt_parallel_for(i64)
func.func @other_callback(%n: index) {
  scf.forall (%i) in (%n) {
  }
  return
}
