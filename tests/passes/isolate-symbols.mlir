// RUN: rt-opt %s --rt-isolate-symbols | FileCheck %s
// RUN: rt-opt %s --rt-isolate-symbols --rt-isolate-symbols | FileCheck %s
// RUN: rt-opt %s --rt-isolate-symbols=entries=f | FileCheck %s --check-prefix=ENTRY

// CHECK-LABEL: func.func @f(
// CHECK: call @own.expf(
// CHECK: call @own.f_entry(
// CHECK: call @puts(
// CHECK: memref.get_global @own.memcpy
// ENTRY-LABEL: func.func @f(
func.func @f(%x: f32, %p: !llvm.ptr) {
  %y = call @expf(%x) : (f32) -> f32
  call @f_entry(%y) : (f32) -> ()
  %n = call @puts(%p) : (!llvm.ptr) -> i32
  %m = memref.get_global @memcpy : memref<2xf32>
  return
}

// CHECK: func.func private @own.expf(%{{.*}}: f32) -> f32 attributes {llvm.linkage = #llvm.linkage<internal>}
func.func private @expf(%x: f32) -> f32 {
  return %x : f32
}

// CHECK: func.func private @own.f_entry(
func.func private @f_entry(%x: f32) {
  return
}

// The second of a name gets another one.
// CHECK: func.func private @own.f_workspace(
// CHECK: func.func private @own.f_workspace.0(
func.func private @own.f_workspace() {
  return
}
func.func private @f_workspace() {
  return
}

// Declarations stay as they are.
// CHECK: func.func private @puts(!llvm.ptr) -> i32
func.func private @puts(!llvm.ptr) -> i32

// CHECK: memref.global "private" @own.memcpy
memref.global "private" @memcpy : memref<2xf32> = dense<1.0>

// What is public stays so, unless others are named as entries.
// CHECK: func.func @g(
// CHECK: memref.global @data
// ENTRY: func.func private @own.g(
// ENTRY: memref.global "private" @own.data
func.func @g() {
  return
}
memref.global @data : memref<2xf32> = dense<1.0>

// Functions that passes made beside @h keep their names.
// CHECK: func.func @h(
// CHECK: func.func @h_entry(
// CHECK: func.func @h_workspace(
// CHECK: func.func @h_workspace_entry(
func.func @h(%n: index) {
  return
}
func.func @h_entry(%p: !llvm.ptr) {
  return
}
func.func @h_workspace(%n: index) -> i64 {
  %zero = arith.constant 0 : i64
  return %zero : i64
}
func.func @h_workspace_entry(%p: !llvm.ptr) -> i64 {
  %zero = arith.constant 0 : i64
  return %zero : i64
}
