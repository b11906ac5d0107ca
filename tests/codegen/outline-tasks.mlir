// RUN: rt-opt %s --rt-outline-tasks --canonicalize --cse | FileCheck %s

// The loop becomes a task; the host hands it pointers to what it uses.
// CHECK-LABEL: func.func @scale(
// CHECK-SAME: %[[IN:.*]]: memref<?x?xf32>, %[[N:.*]]: index, %[[F:.*]]: f32)
// CHECK: %[[FN:.*]] = constant @scale_task0
// CHECK: %[[DESC:.*]] = builtin.unrealized_conversion_cast %[[IN]] {{.*}} to !llvm.struct
// CHECK: llvm.store %[[DESC]], %{{.*}}
// CHECK: llvm.store %[[F]], %{{.*}} : f32, !llvm.ptr
// CHECK: %[[PTR:.*]] = builtin.unrealized_conversion_cast %[[FN]]
// CHECK: call @rt_parallel_for(%[[PTR]], %{{.*}}, %{{.*}}, %{{.*}}) : (!llvm.ptr, i64, i64, !llvm.ptr) -> ()
// CHECK-NOT: scf.forall
// CHECK: return

// Bytes of one worker: the row rounded up to 64 bytes, and 64 fixed ones; the
// largest number where they would pass it.
// CHECK-LABEL: func.func @scale_workspace(
// CHECK-SAME: %{{.*}}: memref<?x?xf32>, %[[N:.*]]: index, %{{.*}}: f32) -> i64
// CHECK: %[[LOW:.*]], %[[HIGH:.*]] = arith.mului_extended %[[N]], %c4
// CHECK: %[[FITS:.*]] = arith.cmpi eq, %[[HIGH]], %c0
// CHECK: %[[CUT:.*]] = arith.minui %[[LOW]], %[[MOST:.*]] : index
// CHECK: %[[BYTES:.*]] = arith.select %[[FITS]], %[[CUT]], %[[MOST]]
// CHECK: %[[UP:.*]] = arith.addi %[[BYTES]], %c63
// CHECK: %[[LINES:.*]] = arith.divui %[[UP]], %c64
// CHECK: %[[ROUND:.*]] = arith.muli %[[LINES]], %c64
// CHECK: %[[ROW:.*]] = arith.minui %[[ROUND]], %[[MOST]]
// CHECK: %[[SUM:.*]] = arith.addi %[[ROW]], %c64
// CHECK: %[[ALL:.*]] = arith.minui %[[SUM]], %[[MOST]]
// CHECK: %[[RESULT:.*]] = arith.index_cast %[[ALL]] : index to i64
// CHECK: return %[[RESULT]] : i64

// Batch fastest and upwards, tiles slowest and from the last one down.
// CHECK-LABEL: func.func private @scale_task0(
// CHECK-SAME: %[[ARGS:.*]]: !llvm.ptr {llvm.noalias}, %[[TASK:.*]]: i64, %[[WS:.*]]: !llvm.ptr {llvm.noalias})
// CHECK: %[[T:.*]] = arith.index_cast %[[TASK]] : i64 to index
// CHECK: %[[B:.*]] = arith.remui %[[T]], %[[NB:.*]] : index
// CHECK: %[[REST:.*]] = arith.divui %[[T]], %[[NB]] : index
// CHECK: %[[LAST:.*]] = arith.subi %{{.*}}, %c1 : index
// CHECK: %[[TILE:.*]] = arith.subi %[[LAST]], %[[REST]] : index
// CHECK: %[[I:.*]] = arith.muli %[[TILE]], %c32
// CHECK: llvm.insertvalue %[[WS]]
// CHECK: memref.view %[[BUFFER:.*]][%c0][%{{.*}}] : memref<?xi8> to memref<?xf32>
// CHECK: memref.view %[[BUFFER]][%{{.*}}][] : memref<?xi8> to memref<3xf32>
// CHECK: scf.for
// CHECK: memref.load %{{.*}}[%[[B]], %[[I]]]
// CHECK-NOT: memref.dealloc
// CHECK: return
func.func @scale(%m: memref<?x?xf32>, %n: index, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = memref.dim %m, %c0 : memref<?x?xf32>
  %t = memref.dim %m, %c1 : memref<?x?xf32>
  scf.forall (%ib, %i) = (0, 0) to (%b, %t) step (1, 32) {
    %row = memref.alloc(%n) {alignment = 64 : i64} : memref<?xf32>
    %fixed = memref.alloc() : memref<3xf32>
    scf.forall (%j) in (%n) {
      %x = memref.load %m[%ib, %i] : memref<?x?xf32>
      %y = arith.mulf %x, %f : f32
      memref.store %y, %row[%j] : memref<?xf32>
    }
    memref.store %f, %fixed[%c0] : memref<3xf32>
    %z = memref.load %row[%c0] : memref<?xf32>
    memref.store %z, %m[%ib, %i] : memref<?x?xf32>
    memref.dealloc %fixed : memref<3xf32>
    memref.dealloc %row : memref<?xf32>
  }
  return
}

// Of several loops the largest workspace counts; a size computed in the loop
// from outside values is computed before it; a dim of a host buffer is its size.
// CHECK-LABEL: func.func @two_workspace(
// CHECK: arith.maxsi
// CHECK: return %{{.*}} : i64
// CHECK-LABEL: func.func private @two_task1
// CHECK-LABEL: func.func private @two_task0
func.func @two(%n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %x = arith.constant 1.0 : f64
  %host = memref.alloc(%m) : memref<?xf64>
  scf.forall (%i) in (%n) {
    %a = memref.alloc(%n) : memref<?xf64>
    memref.store %x, %a[%c0] : memref<?xf64>
  }
  %d = memref.dim %host, %c0 : memref<?xf64>
  scf.forall (%i) in (%n) {
    %s = arith.addi %d, %d : index
    %a = memref.alloc(%s) : memref<?xf64>
    memref.store %x, %a[%c0] : memref<?xf64>
    %y = memref.load %a[%c0] : memref<?xf64>
    memref.store %y, %host[%i] : memref<?xf64>
  }
  memref.dealloc %host : memref<?xf64>
  return
}

// CHECK-LABEL: func.func @none_workspace
// CHECK: %[[ZERO:.*]] = arith.constant 0 : i64
// CHECK: return %[[ZERO]]
func.func @none(%m: memref<?xf32>) {
  return
}

// CHECK-LABEL: func.func @huge_workspace(
// CHECK: %[[MOST:.*]] = arith.constant 9223372036854775744 : i64
// CHECK: return %[[MOST]]
func.func @huge(%n: index) {
  %c0 = arith.constant 0 : index
  %x = arith.constant 1.0 : f32
  scf.forall (%i) in (%n) {
    %a = memref.alloc() : memref<576460752303423488x32xf32>
    memref.store %x, %a[%c0, %c0] : memref<576460752303423488x32xf32>
    %b = memref.alloc() : memref<9223372036854775807xf32>
    memref.store %x, %b[%c0] : memref<9223372036854775807xf32>
  }
  return
}
