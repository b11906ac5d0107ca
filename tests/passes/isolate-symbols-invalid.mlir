// RUN: rt-opt %s --rt-isolate-symbols --split-input-file --verify-diagnostics
// RUN: rt-opt %s --rt-cpu --split-input-file --verify-diagnostics
// RUN: rt-opt %s --rt-reference --split-input-file --verify-diagnostics

// expected-error @+1 {{@memcpy expected another name, or private: compiled code calls a library's function of this one}}
func.func @memcpy() {
  return
}

// -----

// expected-error @+1 {{@fmaf expected another name}}
memref.global @fmaf : memref<2xf32> = dense<1.0>

// -----

// expected-error @+1 {{@rt_parallel_for expected another name}}
func.func @rt_parallel_for(%p: !llvm.ptr, %n: i64, %m: i64, %q: !llvm.ptr) {
  return
}

// -----

// expected-error @+1 {{@llvm.exp.f32 expected another name}}
func.func @llvm.exp.f32(%x: f32) -> f32 {
  return %x : f32
}

// -----

func.func @f(%t: tensor<f32>) -> tensor<f32> {
  return %t : tensor<f32>
}
// A function on tensors has no entry yet.
// expected-error @+1 {{@f_entry expected another name, or private: the compiler makes a function of this one beside @f}}
func.func @f_entry(%p: !llvm.ptr) {
  return
}

// -----

func.func @f(%n: index) {
  return
}
// expected-error @+1 {{@f_workspace expected another name, or private}}
func.func @f_workspace(%n: index) -> index {
  return %n : index
}

// -----

func.func @f(%n: index) {
  return
}
// expected-error @+1 {{@f_entry expected another name: the compiler makes a function of this one beside @f}}
func.func private @f_entry(!llvm.ptr)

// -----

// expected-error @+1 {{@llvm.exp.f32 expected a name that does not begin with llvm.}}
func.func private @llvm.exp.f32(f32) -> f32

// -----

// expected-error @+1 {{@rt_parallel_for expected the type '(!llvm.ptr, i64, i64, !llvm.ptr) -> ()'}}
func.func private @rt_parallel_for(f32)

// -----

// expected-error @+1 {{@environ expected a value, got data from outside of the module}}
memref.global "private" @environ : memref<2xf32>
