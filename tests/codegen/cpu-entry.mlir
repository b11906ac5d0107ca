// RUN: rt-opt %s --rt-cpu-entry | FileCheck %s
// RUN: rt-opt %s --rt-cpu-entry --rt-cpu-entry | FileCheck %s

// CHECK-LABEL: func.func @f_entry(%{{.*}}: !llvm.ptr) {
// CHECK: %[[S0:.*]] = llvm.getelementptr %[[ARGS:.*]][0] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
// CHECK: %[[P0:.*]] = llvm.load %[[S0]] : !llvm.ptr -> !llvm.ptr
// CHECK: %[[V0:.*]] = llvm.load %[[P0]] : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
// CHECK: %[[M:.*]] = builtin.unrealized_conversion_cast %[[V0]] {{.*}} to memref<?xf32>
// CHECK: llvm.getelementptr %[[ARGS]][1]
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> i64
// CHECK: %[[N:.*]] = builtin.unrealized_conversion_cast %{{.*}} : i64 to index
// CHECK: call @f(%[[M]], %[[N]]) : (memref<?xf32>, index) -> ()
func.func @f(%m: memref<?xf32>, %n: index) {
  return
}

// CHECK-LABEL: func.func @f_workspace_entry(%{{.*}}: !llvm.ptr) -> i64 {
// CHECK: %[[R:.*]] = call @f_workspace
// CHECK: return %[[R]] : i64
func.func @f_workspace(%m: memref<?xf32>, %n: index) -> i64 {
  %r = arith.constant 64 : i64
  return %r : i64
}

// Neither private functions nor entries get one.
// CHECK-NOT: _entry
func.func private @g(%m: memref<?xf32>) {
  return
}
