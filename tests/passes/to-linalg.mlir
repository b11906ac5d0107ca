// RUN: rt-opt %s --rt-to-linalg --canonicalize | FileCheck %s

// CHECK-LABEL: @lookup
// CHECK-SAME: (%[[TABLE:.*]]: tensor<?x8xbf16>, %[[IDS:.*]]: tensor<1x?xi32>)
func.func @lookup(%table: tensor<?x8xbf16>, %ids: tensor<1x?xi32>) -> tensor<1x?x8xf32> {
  // CHECK: linalg.generic {{.*}} ins(%[[IDS]] : tensor<1x?xi32>)
  // CHECK: ^bb0(%[[ID:.*]]: i32, %{{.*}}: f32):
  // CHECK: %[[ROW:.*]] = arith.index_cast %[[ID]] : i32 to index
  // CHECK: %[[COLUMN:.*]] = linalg.index 2
  // CHECK: %[[E:.*]] = tensor.extract %[[TABLE]][%[[ROW]], %[[COLUMN]]]
  // CHECK: arith.extf %[[E]] : bf16 to f32
  %0 = rt.lookup %table[%ids] : tensor<?x8xbf16>, tensor<1x?xi32> -> tensor<1x?x8xf32>
  return %0 : tensor<1x?x8xf32>
}

// CHECK-LABEL: @exact_distance
func.func @exact_distance(%q: tensor<1x?x8xf32>, %k: tensor<1x?x8xf32>) -> tensor<1x?x?xf32> {
  // CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "reduction"]
  // CHECK: ^bb0(%[[Q:.*]]: f32, %[[K:.*]]: f32, %[[SUM:.*]]: f64):
  // CHECK: %[[Q1:.*]] = arith.extf %[[Q]] : f32 to f64
  // CHECK: %[[K1:.*]] = arith.extf %[[K]] : f32 to f64
  // CHECK: %[[DIFF:.*]] = arith.subf %[[Q1]], %[[K1]]
  // CHECK: %[[SQUARE:.*]] = arith.mulf %[[DIFF]], %[[DIFF]]
  // CHECK: arith.addf %[[SUM]], %[[SQUARE]]
  // CHECK: linalg.generic
  // CHECK: arith.truncf
  // CHECK-NOT: linalg.generic
  %0 = rt.distance %q, %k {precision = #rt.precision<exact>} : tensor<1x?x8xf32>, tensor<1x?x8xf32> -> tensor<1x?x?xf32>
  return %0 : tensor<1x?x?xf32>
}

// By expansion and clamped; l2 takes differences where it cancels.
// CHECK-LABEL: @fast_distance
func.func @fast_distance(%q: tensor<1x?x8xf32>, %k: tensor<1x?x8xf32>) -> tensor<1x?x?xf32> {
  // CHECK-DAG: %[[CANCELLATION:.*]] = arith.constant 9.765625E-4 : f64
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f64
  // CHECK: ^bb0(%[[QK:.*]]: f64, %[[QQ:.*]]: f64, %[[KK:.*]]: f64, %[[DIFFERENCES:.*]]: f64, %{{.*}}: f64):
  // CHECK: %[[NORMS:.*]] = arith.addf %[[QQ]], %[[KK]]
  // CHECK: %[[SQUARE:.*]] = arith.subf %[[NORMS]], %{{.*}}
  // CHECK: %[[LIMIT:.*]] = arith.mulf %[[NORMS]], %[[CANCELLATION]]
  // CHECK: %[[CANCELS:.*]] = arith.cmpf olt, %[[SQUARE]], %[[LIMIT]]
  // CHECK: %[[CHOSEN:.*]] = arith.select %[[CANCELS]], %[[DIFFERENCES]], %[[SQUARE]]
  // CHECK: %[[POSITIVE:.*]] = arith.cmpf ogt, %[[CHOSEN]], %[[ZERO]]
  // CHECK: arith.select %[[POSITIVE]], %[[CHOSEN]], %[[ZERO]]
  // CHECK: math.sqrt
  %0 = rt.distance %q, %k {metric = #rt.metric<l2>} : tensor<1x?x8xf32>, tensor<1x?x8xf32> -> tensor<1x?x?xf32>
  return %0 : tensor<1x?x?xf32>
}

// Keys up to the row's position, keys and rows inside the sequence.
// CHECK-LABEL: @softmax
// CHECK-SAME: %[[OFF:[a-z0-9]*]]: index, %[[LEN:[a-z0-9]*]]: tensor<1xi64>)
func.func @softmax(%d: tensor<1x?x?xf32>, %tau: tensor<f32>, %off: index, %len: tensor<1xi64>) -> (tensor<1x?x?xf32>, tensor<1x?x?xf32>) {
  // CHECK: %[[SCORES:.*]] = linalg.generic
  // CHECK-DAG: %[[KEY:.*]] = linalg.index 2
  // CHECK-DAG: %[[ROW:.*]] = arith.addi %{{.*}}, %[[OFF]]
  // CHECK-DAG: %[[ROW32:.*]] = arith.index_cast %[[ROW]] : index to i32
  // CHECK-DAG: %[[KEY32:.*]] = arith.index_cast %[[KEY]] : index to i32
  // CHECK: arith.cmpi sle, %[[KEY32]], %[[ROW32]]
  // CHECK: tensor.extract %[[LEN]]
  // CHECK: arith.cmpi slt, %[[KEY]]
  // CHECK: arith.cmpi slt, %[[ROW]]
  // CHECK: arith.divf
  // CHECK: %[[MAXIMA:.*]] = linalg.generic {{.*}} ins(%[[SCORES]]
  // CHECK: %[[SUMS:.*]] = linalg.generic {{.*}} ins(%[[SCORES]], %[[MAXIMA]]
  // CHECK: math.exp
  // CHECK: %[[WEIGHTS:.*]] = linalg.generic {{.*}} ins(%[[SCORES]], %[[MAXIMA]], %[[SUMS]]
  // CHECK: return %[[SCORES]], %[[WEIGHTS]]
  %z, %w = rt.softmax %d tau(%tau : tensor<f32>) offset(%off) lengths(%len : tensor<1xi64>) : tensor<1x?x?xf32>
  return %z, %w : tensor<1x?x?xf32>, tensor<1x?x?xf32>
}

// The origin of the sequence's end without lengths is the last key.
// CHECK-LABEL: @decay
// CHECK-SAME: (%[[W:.*]]: tensor<1x?x?xf32>, %[[G:.*]]: tensor<5xf32>)
func.func @decay(%w: tensor<1x?x?xf32>, %g: tensor<5xf32>) -> tensor<1x?x?xf32> {
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK: %[[GAMMA:.*]] = tensor.extract %[[G]]
  // CHECK: %[[LOG:.*]] = math.log %[[GAMMA]]
  // CHECK: %[[KEYS:.*]] = tensor.dim %[[W]], %c2
  // CHECK: %[[KEY:.*]] = linalg.index 2
  // CHECK: %[[LAST:.*]] = arith.subi %[[KEYS]], %c1
  // CHECK: %[[P:.*]] = arith.subi %[[LAST]], %[[KEY]]
  // CHECK: %[[POWER:.*]] = arith.sitofp
  // CHECK: %[[PRODUCT:.*]] = arith.mulf %[[POWER]], %[[LOG]]
  // CHECK: %[[FACTOR:.*]] = arith.select %{{.*}}, %[[ZERO]], %[[PRODUCT]]
  // CHECK: math.exp %[[FACTOR]]
  %0 = rt.decay %w by %g[1] : tensor<1x?x?xf32>, tensor<5xf32>
  return %0 : tensor<1x?x?xf32>
}

// CHECK-LABEL: @reduce
func.func @reduce(%w: tensor<1x?x?xf32>, %k: tensor<1x?x8xf32>) -> tensor<1x?x8xf32> {
  // CHECK-DAG: %[[FLOOR:.*]] = arith.constant 9.99999993E-9 : f32
  // CHECK: %[[SUMS:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction", "parallel"]
  // CHECK: %[[WEIGHTS:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]
  // CHECK: linalg.generic {{.*}} ins(%[[SUMS]], %[[WEIGHTS]]
  // CHECK: %[[DIVISOR:.*]] = arith.select %{{.*}}, %{{.*}}, %[[FLOOR]]
  // CHECK: arith.divf %{{.*}}, %[[DIVISOR]]
  %0 = rt.reduce %w of %k {floor = 1.0e-8 : f64} : tensor<1x?x?xf32>, tensor<1x?x8xf32> -> tensor<1x?x8xf32>
  return %0 : tensor<1x?x8xf32>
}

// One scan per rank; none found is position 0.
// CHECK-LABEL: @arg_select
// CHECK-SAME: (%[[Z:.*]]: tensor<1x?x?xf32>, %[[W:.*]]: tensor<1x?x?xf32>)
func.func @arg_select(%z: tensor<1x?x?xf32>, %w: tensor<1x?x?xf32>) -> tensor<1x?xi32> {
  // CHECK: %[[FOUND:.*]]:2 = scf.for
  // CHECK: scf.for
  // CHECK: %[[SCORE:.*]] = tensor.extract %[[Z]]
  // CHECK: arith.negf %[[SCORE]]
  // CHECK: tensor.extract %[[W]]
  // CHECK: arith.maxsi %[[FOUND]]#1, %c0_i32
  %0 = rt.arg_select %z where(%w : tensor<1x?x?xf32>) {order = #rt.order<smallest>, rank = 2 : i64} : tensor<1x?x?xf32> -> tensor<1x?xi32>
  return %0 : tensor<1x?xi32>
}

// CHECK-LABEL: @normalize
func.func @normalize(%x: tensor<1x?x9xf32>, %len: tensor<1xi64>) -> (tensor<1x?x9xf32>, tensor<1x?xf32>) {
  // CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]
  // CHECK: %[[NORM:.*]] = linalg.generic
  // CHECK: math.sqrt
  // CHECK: arith.cmpi slt
  // CHECK: %[[Y:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[NORM]]
  // CHECK: arith.divf
  // CHECK: return %[[Y]], %[[NORM]]
  %y, %n = rt.normalize %x lengths(%len : tensor<1xi64>) : tensor<1x?x9xf32> -> tensor<1x?xf32>
  return %y, %n : tensor<1x?x9xf32>, tensor<1x?xf32>
}

// CHECK-LABEL: @clear_padding
func.func @clear_padding(%x: tensor<1x?x9xf32>, %off: index, %len: tensor<1xi64>) -> tensor<1x?x9xf32> {
  // CHECK: linalg.generic
  // CHECK: ^bb0(%[[X:.*]]: f32, %{{.*}}: f32):
  // CHECK: %[[INSIDE:.*]] = arith.cmpi slt
  // CHECK: arith.select %[[INSIDE]], %[[X]], %cst
  %y = rt.clear_padding %x offset(%off) lengths(%len : tensor<1xi64>) : tensor<1x?x9xf32>
  return %y : tensor<1x?x9xf32>
}

// More than 64 terms are summed in blocks.
// CHECK-LABEL: @wide_distance
func.func @wide_distance(%q: tensor<1x?x100xf32>, %k: tensor<1x?x100xf32>) -> tensor<1x?x?xf32> {
  // CHECK: scf.for %[[D:.*]] = %c0 to %c100 step %c64 iter_args(%[[SUM:.*]] = %{{.*}})
  // CHECK: %[[PART:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "reduction"]
  // CHECK: linalg.generic {{.*}} ins(%[[PART]] : {{.*}} outs(%[[SUM]]
  %0 = rt.distance %q, %k {precision = #rt.precision<exact>} : tensor<1x?x100xf32>, tensor<1x?x100xf32> -> tensor<1x?x?xf32>
  return %0 : tensor<1x?x?xf32>
}

// In order of batch and position: the loops carry the table.
// CHECK-LABEL: @scatter_add
// CHECK-SAME: (%[[ROWS:.*]]: tensor<2x?x8xf32>, %[[TABLE:.*]]: tensor<?x8xf32>, %[[IDS:.*]]: tensor<2x?xi32>)
func.func @scatter_add(%rows: tensor<2x?x8xf32>, %table: tensor<?x8xf32>, %ids: tensor<2x?xi32>) -> tensor<?x8xf32> {
  // CHECK: %[[SUM:.*]] = scf.for %[[B:.*]] = %c0 to %c2 step %c1 iter_args(%[[T0:.*]] = %[[TABLE]])
  // CHECK: scf.for %[[N:.*]] = {{.*}} iter_args(%[[T1:.*]] = %[[T0]])
  // CHECK: scf.for %[[D:.*]] = {{.*}} iter_args(%[[T2:.*]] = %[[T1]])
  // CHECK: %[[ID:.*]] = tensor.extract %[[IDS]][%[[B]], %[[N]]]
  // CHECK: %[[V:.*]] = arith.index_cast %[[ID]] : i32 to index
  // CHECK: %[[ROW:.*]] = tensor.extract %[[ROWS]][%[[B]], %[[N]], %[[D]]]
  // CHECK: %[[OLD:.*]] = tensor.extract %[[T2]][%[[V]], %[[D]]]
  // CHECK: %[[NEW:.*]] = arith.addf %[[OLD]], %[[ROW]]
  // CHECK: tensor.insert %[[NEW]] into %[[T2]][%[[V]], %[[D]]]
  // CHECK: return %[[SUM]]
  %0 = rt.scatter_add %rows into %table[%ids] : tensor<2x?x8xf32>, tensor<2x?xi32> -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// Each batch entry has a table of its own.
// CHECK-LABEL: @scatter_add_batched
func.func @scatter_add_batched(%rows: tensor<2x?x8xf32>, %table: tensor<2x?x8xf32>, %ids: tensor<2x?xi32>) -> tensor<2x?x8xf32> {
  // CHECK: scf.for %[[B:.*]] = %c0
  // CHECK: tensor.insert %{{.*}} into %{{.*}}[%[[B]], %{{.*}}, %{{.*}}]
  %0 = rt.scatter_add %rows into %table[%ids] : tensor<2x?x8xf32>, tensor<2x?xi32> -> tensor<2x?x8xf32>
  return %0 : tensor<2x?x8xf32>
}
