// RUN: rt-opt %s --rt-collect-scratch -split-input-file -verify-diagnostics | FileCheck %s

// What passes between two loops is a slice of one more argument; its bytes are
// counted from the others.
// CHECK-LABEL: func.func @two(
// CHECK-SAME: %[[M:.*]]: memref<?xf32>, %[[S:.*]]: memref<?xi8>)
// CHECK: %[[A:.*]] = memref.view %[[S]][%{{.*}}][%[[N:.*]]] : memref<?xi8> to memref<?xf32>
// CHECK: %[[B:.*]] = memref.view %[[S]][%{{.*}}][] : memref<?xi8> to memref<3xi32>
// CHECK: memref.copy %[[M]], %[[A]]
// CHECK-NOT: dealloc
// CHECK-LABEL: func.func @two_scratch(
// CHECK-SAME: %{{.*}}: memref<?xf32>) -> i64
// CHECK: %[[BYTES:.*]] = arith.index_cast
// CHECK: return %[[BYTES]] : i64
func.func @two(%m: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %m, %c0 : memref<?xf32>
  %a = memref.alloc(%n) : memref<?xf32>
  %b = memref.alloc() : memref<3xi32>
  memref.copy %m, %a : memref<?xf32> to memref<?xf32>
  memref.dealloc %a : memref<?xf32>
  memref.dealloc %b : memref<3xi32>
  return
}

// CHECK-LABEL: func.func @none(%{{.*}}: memref<?xf32>) {
// CHECK-NOT: @none_scratch
func.func @none(%m: memref<?xf32>) { return }

// A slice of a loop serves every step: it has the bytes of the largest one.
// CHECK-LABEL: func.func @steps(
// CHECK-SAME: %[[M:.*]]: memref<?xf32>, %[[S:.*]]: memref<?xi8>)
// CHECK: scf.for
// CHECK: %[[SIZE:.*]] = arith.minsi
// CHECK: memref.view %[[S]][%{{.*}}][%[[SIZE]]] : memref<?xi8> to memref<?xf32>
// CHECK-LABEL: func.func @steps_scratch(
// CHECK: %[[N:.*]] = memref.dim
// CHECK: %[[MOST:.*]] = arith.minsi %[[N]], %{{.*}}
// CHECK: arith.mului_extended %{{.*}}, %[[MOST]]
func.func @steps(%m: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = memref.dim %m, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c64 {
    %left = arith.subi %n, %i : index
    %size = arith.minsi %left, %c64 : index
    %a = memref.alloc(%size) : memref<?xf32>
    memref.dealloc %a : memref<?xf32>
  }
  return
}

// -----

func.func @unbounded(%m: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %m, %c0 : memref<?xindex>
  scf.for %i = %c0 to %n step %c1 {
    %size = memref.load %m[%i] : memref<?xindex>
    // expected-error @+1 {{of 'memref<?xf32>' expected sizes that follow from the function's arguments}}
    %a = memref.alloc(%size) : memref<?xf32>
  }
  return
}

// -----

func.func @unknown(%m: memref<1xindex>) {
  %c0 = arith.constant 0 : index
  %n = memref.load %m[%c0] : memref<1xindex>
  // expected-error @+1 {{of 'memref<?xf32>' expected sizes that follow from the function's arguments}}
  %a = memref.alloc(%n) : memref<?xf32>
  return
}

// -----

func.func @taken(%m: memref<1xf32>) {
  %a = memref.alloc() : memref<3xi32>
  return
}
// expected-error @+1 {{expected another name than that of the scratch of @taken}}
func.func @taken_scratch() { return }
