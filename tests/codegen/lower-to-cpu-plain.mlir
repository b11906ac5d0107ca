// RUN: rt-opt %s --rt-bufferize --rt-lower-to-cpu=vector-bits=256 -split-input-file | FileCheck %s
// RUN: rt-opt %s --rt-bufferize --rt-lower-to-cpu --lower-affine --rt-collect-scratch --rt-outline-tasks --rt-cpu-entry --rt-verify-stage=stage=cpu -split-input-file -o /dev/null

// Distances pass from one loop to another in a plain buffer of the function: a
// query is a row there and a lane in the tasks.
// CHECK-LABEL: func.func @pass
// CHECK: %[[PLAIN:.*]] = memref.alloc(%{{.*}}, %{{.*}}) {{.*}} : memref<1x?x?xf32>
// CHECK: scf.forall
// CHECK: vector.shuffle
// CHECK: vector.store %{{.*}}, %[[PLAIN]]
// CHECK: scf.forall
// CHECK: vector.load %[[PLAIN]]
// CHECK: vector.shuffle
// CHECK-NOT: rt.
func.func @pass(%q: tensor<1x?x16xf32>, %table: tensor<?x16xf32>, %ids: tensor<1x?xi32>, %tau: tensor<f32>, %g: tensor<0xf32>) -> tensor<1x?x2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %n = tensor.dim %q, %c1 : tensor<1x?x16xf32>
  %t = tensor.dim %ids, %c1 : tensor<1x?xi32>
  %empty = tensor.empty(%n, %t) : tensor<1x?x?xf32>
  %d = scf.forall (%b, %i) = (0, 0) to (1, %n) step (1, 8) shared_outs(%all = %empty) -> (tensor<1x?x?xf32>) {
    %rest = arith.subi %n, %i : index
    %rows = arith.minsi %rest, %c8 : index
    %tile = tensor.extract_slice %q[0, %i, 0] [1, %rows, 16] [1, 1, 1] : tensor<1x?x16xf32> to tensor<1x?x16xf32>
    %own = tensor.extract_slice %all[0, %i, 0] [1, %rows, %t] [1, 1, 1] : tensor<1x?x?xf32> to tensor<1x?x?xf32>
    %r = scf.for %j = %c0 to %t step %c32 iter_args(%part = %own) -> (tensor<1x?x?xf32>) {
      %left = arith.subi %t, %j : index
      %keys = arith.minsi %left, %c32 : index
      %chunk = tensor.extract_slice %ids[0, %j] [1, %keys] [1, 1] : tensor<1x?xi32> to tensor<1x?xi32>
      %k = rt.lookup %table[%chunk] : tensor<?x16xf32>, tensor<1x?xi32> -> tensor<1x?x16xf32>
      %p = rt.distance %tile, %k : tensor<1x?x16xf32>, tensor<1x?x16xf32> -> tensor<1x?x?xf32>
      %w = tensor.insert_slice %p into %part[0, 0, %j] [1, %rows, %keys] [1, 1, 1] : tensor<1x?x?xf32> into tensor<1x?x?xf32>
      scf.yield %w : tensor<1x?x?xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %r into %all[0, %i, 0] [1, %rows, %t] [1, 1, 1] : tensor<1x?x?xf32> into tensor<1x?x?xf32>
    }
  }
  %none = tensor.empty(%n) : tensor<1x?x2xf32>
  %y = scf.forall (%b, %i) = (0, 0) to (1, %n) step (1, 8) shared_outs(%all = %none) -> (tensor<1x?x2xf32>) {
    %rest = arith.subi %n, %i : index
    %rows = arith.minsi %rest, %c8 : index
    %f, %x = rt.init <score> [#rt.centroid] (%c1, %rows) : tensor<1x?x2xf32>, tensor<1x?x0xi32>
    %r:2 = scf.for %j = %c0 to %t step %c32 iter_args(%ff = %f, %xx = %x) -> (tensor<1x?x2xf32>, tensor<1x?x0xi32>) {
      %left = arith.subi %t, %j : index
      %keys = arith.minsi %left, %c32 : index
      %p = tensor.extract_slice %d[0, %i, %j] [1, %rows, %keys] [1, 1, 1] : tensor<1x?x?xf32> to tensor<1x?x?xf32>
      %f1, %x1 = rt.score_sweep [#rt.centroid] ins(%p, %tau, %g : tensor<1x?x?xf32>, tensor<f32>, tensor<0xf32>) at(%i, %j) outs(%ff, %xx : tensor<1x?x2xf32>, tensor<1x?x0xi32>)
      scf.yield %f1, %x1 : tensor<1x?x2xf32>, tensor<1x?x0xi32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %r#0 into %all[0, %i, 0] [1, %rows, 2] [1, 1, 1] : tensor<1x?x2xf32> into tensor<1x?x2xf32>
    }
  }
  return %y : tensor<1x?x2xf32>
}

// -----

// A task of lookups has rows as they stand in the table, of any type.
// CHECK-LABEL: func.func @keys
// CHECK-SAME: %[[TABLE:.*]]: memref<?x20xbf16>, %{{.*}}, %[[OUT:.*]]: memref<2x?x20xbf16>)
// CHECK: scf.forall
// CHECK: vector.load %[[TABLE]]{{.*}} vector<8xbf16>
// CHECK: vector.store %{{.*}}, %[[OUT]]
// CHECK-NOT: rt.
func.func @keys(%table: tensor<?x20xbf16>, %ids: tensor<2x?xi32>) -> tensor<2x?x20xbf16> {
  %c1 = arith.constant 1 : index
  %t = tensor.dim %ids, %c1 : tensor<2x?xi32>
  %empty = tensor.empty(%t) : tensor<2x?x20xbf16>
  %y = scf.forall (%b, %j) = (0, 0) to (2, %t) step (1, 192) shared_outs(%all = %empty) -> (tensor<2x?x20xbf16>) {
    %keys = affine.min affine_map<(d0)[s0] -> (192, -d0 + s0)>(%j)[%t]
    %chunk = tensor.extract_slice %ids[%b, %j] [1, %keys] [1, 1] : tensor<2x?xi32> to tensor<1x?xi32>
    %k = rt.lookup %table[%chunk] : tensor<?x20xbf16>, tensor<1x?xi32> -> tensor<1x?x20xbf16>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %k into %all[%b, %j, 0] [1, %keys, 20] [1, 1, 1] : tensor<1x?x20xbf16> into tensor<2x?x20xbf16>
    }
  }
  return %y : tensor<2x?x20xbf16>
}
