// RUN: rt-opt %s --rt-bufferize --canonicalize | FileCheck %s

// A tile that ends in global memory stands there from the start.
// CHECK-LABEL: func.func @in_place
// CHECK-SAME: %[[Q:.*]]: memref<2x?x8xf32>, %[[K:.*]]: memref<2x?x8xf32>, %[[OUT:.*]]: memref<2x?x?xf32>)
// CHECK-NOT: memref.alloc
// CHECK: scf.forall (%[[B:.*]], %[[I:.*]]) in
// CHECK-DAG: %[[QT:.*]] = memref.subview %[[Q]][%[[B]], %[[I]], 0]
// CHECK-DAG: %[[KT:.*]] = memref.subview %[[K]][%[[B]], 0, 0]
// CHECK-DAG: %[[D:.*]] = memref.subview %[[OUT]][%[[B]], %[[I]], 0]
// CHECK: rt_tile.compute ins(%[[QT]], %[[KT]] : {{.*}}) outs(%[[D]] :
// CHECK-NOT: memref.copy
func.func @in_place(%q: tensor<2x?x8xf32>, %k: tensor<2x?x8xf32>) -> tensor<2x?x?xf32> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %q, %c1 : tensor<2x?x8xf32>
  %m = tensor.dim %k, %c1 : tensor<2x?x8xf32>
  %e = tensor.empty(%n, %m) : tensor<2x?x?xf32>
  %d = scf.forall (%b, %i) in (2, %n) shared_outs(%o = %e) -> (tensor<2x?x?xf32>) {
    %qt = tensor.extract_slice %q[%b, %i, 0] [1, 1, 8] [1, 1, 1] : tensor<2x?x8xf32> to tensor<1x1x8xf32>
    %kt = tensor.extract_slice %k[%b, 0, 0] [1, %m, 8] [1, 1, 1] : tensor<2x?x8xf32> to tensor<1x?x8xf32>
    %dt = rt.distance %qt, %kt : tensor<1x1x8xf32>, tensor<1x?x8xf32> -> tensor<1x1x?xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %dt into %o[%b, %i, 0] [1, 1, %m] [1, 1, 1] : tensor<1x1x?xf32> into tensor<2x?x?xf32>
    }
  }
  return %d : tensor<2x?x?xf32>
}

// A tile that another op reads belongs to the iteration.
// CHECK-LABEL: func.func @own
// CHECK: scf.forall
// CHECK: %[[K:.*]] = memref.alloc() {{.*}} : memref<1x4x8xf32>
// CHECK: rt_tile.compute {{.*}} outs(%[[K]] :
// CHECK: rt.lookup
// CHECK: rt_tile.compute ins(%{{.*}}, %[[K]] :
// CHECK: rt.distance
// CHECK-NOT: memref.dealloc
func.func @own(%q: tensor<2x1x8xf32>, %table: tensor<?x8xf32>, %ids: tensor<2x4xi32>) -> tensor<2x1x4xf32> {
  %e = tensor.empty() : tensor<2x1x4xf32>
  %d = scf.forall (%b) in (2) shared_outs(%o = %e) -> (tensor<2x1x4xf32>) {
    %qt = tensor.extract_slice %q[%b, 0, 0] [1, 1, 8] [1, 1, 1] : tensor<2x1x8xf32> to tensor<1x1x8xf32>
    %it = tensor.extract_slice %ids[%b, 0] [1, 4] [1, 1] : tensor<2x4xi32> to tensor<1x4xi32>
    %kt = rt.lookup %table[%it] : tensor<?x8xf32>, tensor<1x4xi32> -> tensor<1x4x8xf32>
    %dt = rt.distance %qt, %kt : tensor<1x1x8xf32>, tensor<1x4x8xf32> -> tensor<1x1x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %dt into %o[%b, 0, 0] [1, 1, 4] [1, 1, 1] : tensor<1x1x4xf32> into tensor<2x1x4xf32>
    }
  }
  return %d : tensor<2x1x4xf32>
}

// What the loop reads elsewhere is not written early: a tile of the old rows
// is copied when all of it is there.
// CHECK-LABEL: func.func @read_too
// CHECK: scf.forall
// CHECK: %[[TILE:.*]] = memref.alloc() {{.*}} : memref<1x4x4xf32>
// CHECK: rt_tile.compute ins(%[[OLD:.*]], %[[OLD]] : {{.*}}) outs(%[[TILE]] :
// CHECK: memref.copy %[[TILE]]
func.func @read_too(%x: tensor<2x4x4xf32>) -> tensor<2x4x4xf32> {
  %c = bufferization.alloc_tensor() copy(%x) : tensor<2x4x4xf32>
  %d = scf.forall (%b) in (2) shared_outs(%o = %c) -> (tensor<2x4x4xf32>) {
    %t = tensor.extract_slice %o[%b, 0, 0] [1, 4, 4] [1, 1, 1] : tensor<2x4x4xf32> to tensor<1x4x4xf32>
    %dt = rt.distance %t, %t : tensor<1x4x4xf32>, tensor<1x4x4xf32> -> tensor<1x4x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %dt into %o[%b, 0, 0] [1, 4, 4] [1, 1, 1] : tensor<1x4x4xf32> into tensor<2x4x4xf32>
    }
  }
  return %d : tensor<2x4x4xf32>
}

// What no parallel loop holds is freed at the end; a result is written where
// the caller wants it.
// CHECK-LABEL: func.func @free
// CHECK-SAME: %[[OUT:[a-z0-9]*]]: memref<2x4x4xf32>)
// CHECK: %[[K:.*]] = memref.alloc() {{.*}} : memref<2x4x8xf32>
// CHECK: rt_tile.compute {{.*}} outs(%[[K]] :
// CHECK: rt.lookup
// CHECK: rt_tile.compute ins(%{{.*}}, %[[K]] : {{.*}}) outs(%[[OUT]] :
// CHECK: rt.distance
// CHECK: memref.dealloc %[[K]]
func.func @free(%q: tensor<2x4x8xf32>, %table: tensor<?x8xf32>, %ids: tensor<2x4xi32>) -> tensor<2x4x4xf32> {
  %k = rt.lookup %table[%ids] : tensor<?x8xf32>, tensor<2x4xi32> -> tensor<2x4x8xf32>
  %d = rt.distance %q, %k : tensor<2x4x8xf32>, tensor<2x4x8xf32> -> tensor<2x4x4xf32>
  return %d : tensor<2x4x4xf32>
}
