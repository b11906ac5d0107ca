// RUN: rt-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(rt-expand-elements,canonicalize,cse)))" | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @lookup
  // CHECK-SAME: (%[[TABLE:.*]]: memref<?x8xf32>, %[[IDS:.*]]: memref<1x?xi32>, %[[K:.*]]: memref<1x?x8xf32>)
  // CHECK: scf.forall (%{{.*}}, %[[J:.*]], %[[D:.*]]) in (1, %{{.*}}, 8)
  // CHECK: %[[ID:.*]] = memref.load %[[IDS]][%c0, %[[J]]]
  // CHECK: %[[ROW:.*]] = arith.index_cast %[[ID]]
  // CHECK: %[[X:.*]] = memref.load %[[TABLE]][%[[ROW]], %[[D]]]
  // CHECK: memref.store %[[X]], %[[K]][%c0, %[[J]], %[[D]]]
  // CHECK: mapping = [#gpu.thread<linear_dim_2>, #gpu.thread<linear_dim_1>, #gpu.thread<linear_dim_0>]
  gpu.func @lookup(%table: memref<?x8xf32>, %ids: memref<1x?xi32>, %k: memref<1x?x8xf32>) kernel {
    rt_tile.compute ins(%table, %ids : memref<?x8xf32>, memref<1x?xi32>) outs(%k : memref<1x?x8xf32>) {
    ^bb0(%tt: tensor<?x8xf32>, %ti: tensor<1x?xi32>, %tk: tensor<1x?x8xf32>):
      %0 = rt.lookup %tt[%ti] : tensor<?x8xf32>, tensor<1x?xi32> -> tensor<1x?x8xf32>
      rt_tile.yield %0 : tensor<1x?x8xf32>
    }
    gpu.return
  }

  // The root of the sum of squared differences, in the result's type.
  // CHECK-LABEL: gpu.func @distance
  // CHECK: scf.forall
  // CHECK: %[[SUM:.*]] = scf.for %{{.*}} = %c0 to %c8 step %c1
  // CHECK-DAG: arith.extf
  // CHECK-DAG: arith.extf
  // CHECK: %[[DIFF:.*]] = arith.subf
  // CHECK: arith.mulf %[[DIFF]], %[[DIFF]] : f32
  // CHECK: math.sqrt
  // CHECK: memref.store %{{.*}} : memref<1x?x?xf32>
  gpu.func @distance(%q: memref<1x?x8xbf16>, %k: memref<1x?x8xbf16>, %d: memref<1x?x?xf32>) kernel {
    rt_tile.compute ins(%q, %k : memref<1x?x8xbf16>, memref<1x?x8xbf16>) outs(%d : memref<1x?x?xf32>) {
    ^bb0(%tq: tensor<1x?x8xbf16>, %tk: tensor<1x?x8xbf16>, %td: tensor<1x?x?xf32>):
      %0 = rt.distance %tq, %tk {metric = #rt.metric<l2>} : tensor<1x?x8xbf16>, tensor<1x?x8xbf16> -> tensor<1x?x?xf32>
      rt_tile.yield %0 : tensor<1x?x?xf32>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @init
  // CHECK-SAME: (%[[F:.*]]: memref<1x?x1xf32>, %[[P:.*]]: memref<1x?x1xi32>
  // CHECK-DAG: %[[INF:.*]] = arith.constant 0x7F800000 : f32
  // CHECK-DAG: %[[NONE:.*]] = arith.constant -1 : i32
  // CHECK: scf.forall (%{{.*}}, %[[I:.*]]) in (1, %{{.*}})
  // CHECK: memref.store %[[INF]], %[[F]][%c0, %[[I]], %c0]
  // CHECK: memref.store %[[NONE]], %[[P]][%c0, %[[I]], %c0]
  gpu.func @init(%f: memref<1x?x1xf32>, %p: memref<1x?x1xi32>, %rows: index) kernel {
    %c1 = arith.constant 1 : index
    rt_tile.compute outs(%f, %p : memref<1x?x1xf32>, memref<1x?x1xi32>) {
    ^bb0(%tf: tensor<1x?x1xf32>, %tp: tensor<1x?x1xi32>):
      %0:2 = rt.init <reduce> [#rt.antitop](%c1, %rows) : tensor<1x?x1xf32>, tensor<1x?x1xi32>
      rt_tile.yield %0#0, %0#1 : tensor<1x?x1xf32>, tensor<1x?x1xi32>
    }
    gpu.return
  }

  // A row's keys end where its sequence ends and where it sees no more.
  // CHECK-LABEL: gpu.func @score_sweep
  // CHECK-SAME: (%[[D:.*]]: memref<1x?x?xf32>, {{.*}}, {{.*}}, %[[LEN:.*]]: memref<1xi64>, %[[F:.*]]: memref<1x?x2xf32>, {{.*}}, %[[ROW:.*]]: index, %[[KEY:.*]]: index)
  // CHECK: scf.forall (%{{.*}}, %[[I:.*]]) in (1, %{{.*}})
  // CHECK: %[[KEYS:.*]] = memref.dim %[[D]], %c2
  // CHECK: %[[OWN:.*]] = memref.load %[[LEN]][%c0]
  // CHECK: %[[LENGTH:.*]] = arith.index_cast %[[OWN]]
  // CHECK: %[[POS:.*]] = arith.addi %[[ROW]], %[[I]]
  // CHECK: %[[NEXT:.*]] = arith.addi %[[POS]], %c1
  // CHECK: %[[END:.*]] = arith.minsi %[[NEXT]], %[[LENGTH]]
  // CHECK: %[[LEFT:.*]] = arith.subi %[[END]], %[[KEY]]
  // CHECK: %[[SOME:.*]] = arith.maxsi %[[LEFT]], %c0
  // CHECK: %[[COUNT:.*]] = arith.minsi %[[KEYS]], %[[SOME]]
  // CHECK: scf.for %{{.*}} = %c0 to %[[COUNT]] step %c1
  // CHECK: scf.for %{{.*}} = %c0 to %[[COUNT]] step %c1
  // CHECK: math.exp
  // CHECK: memref.store %{{.*}}, %[[F]][%c0, %[[I]], %c0]
  // CHECK: memref.store %{{.*}}, %[[F]][%c0, %[[I]], %c1]
  gpu.func @score_sweep(%d: memref<1x?x?xf32>, %tau: memref<f32>, %g: memref<0xf32>, %len: memref<1xi64>, %f: memref<1x?x2xf32>, %p: memref<1x?x0xi32>, %row: index, %key: index) kernel {
    rt_tile.compute ins(%d, %tau, %g, %len : memref<1x?x?xf32>, memref<f32>, memref<0xf32>, memref<1xi64>) outs(%f, %p : memref<1x?x2xf32>, memref<1x?x0xi32>) {
    ^bb0(%td: tensor<1x?x?xf32>, %tt: tensor<f32>, %tg: tensor<0xf32>, %tl: tensor<1xi64>, %tf: tensor<1x?x2xf32>, %tp: tensor<1x?x0xi32>):
      %0:2 = rt.score_sweep [#rt.centroid] ins(%td, %tt, %tg : tensor<1x?x?xf32>, tensor<f32>, tensor<0xf32>) at(%row, %key) lengths(%tl : tensor<1xi64>) outs(%tf, %tp : tensor<1x?x2xf32>, tensor<1x?x0xi32>)
      rt_tile.yield %0#0, %0#1 : tensor<1x?x2xf32>, tensor<1x?x0xi32>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @reduce_sweep
  // CHECK-SAME: (%{{.*}}, %[[S:.*]]: memref<1x?x2xf32>, {{.*}}, {{.*}}, %[[F:.*]]: memref<1x?x2xf32>
  // CHECK: scf.forall (%{{.*}}, %[[I:.*]]) in (1, %{{.*}})
  // CHECK: %[[MAX:.*]] = memref.load %[[S]][%c0, %[[I]], %c0]
  // CHECK: %[[STATE:.*]]:2 = scf.for
  // CHECK: arith.subf %{{.*}}, %[[MAX]]
  // CHECK: %[[OLD:.*]] = memref.load %[[F]][%c0, %[[I]], %c0]
  // CHECK: %[[SUM:.*]] = arith.addf %[[OLD]], %[[STATE]]#0
  // CHECK: memref.store %[[SUM]], %[[F]][%c0, %[[I]], %c0]
  gpu.func @reduce_sweep(%d: memref<1x?x?xf32>, %s: memref<1x?x2xf32>, %tau: memref<f32>, %g: memref<0xf32>, %f: memref<1x?x2xf32>, %p: memref<1x?x0xi32>, %row: index) kernel {
    %c0 = arith.constant 0 : index
    rt_tile.compute ins(%d, %s, %tau, %g : memref<1x?x?xf32>, memref<1x?x2xf32>, memref<f32>, memref<0xf32>) outs(%f, %p : memref<1x?x2xf32>, memref<1x?x0xi32>) {
    ^bb0(%td: tensor<1x?x?xf32>, %ts: tensor<1x?x2xf32>, %tt: tensor<f32>, %tg: tensor<0xf32>, %tf: tensor<1x?x2xf32>, %tp: tensor<1x?x0xi32>):
      %0:2 = rt.reduce_sweep [#rt.entropy] ins(%td, %ts, %tt, %tg : tensor<1x?x?xf32>, tensor<1x?x2xf32>, tensor<f32>, tensor<0xf32>) at(%row, %c0) outs(%tf, %tp : tensor<1x?x2xf32>, tensor<1x?x0xi32>)
      rt_tile.yield %0#0, %0#1 : tensor<1x?x2xf32>, tensor<1x?x0xi32>
    }
    gpu.return
  }

  // A pair per thread; the weight of a key that the row does not see is 0.
  // CHECK-LABEL: gpu.func @weigh
  // CHECK-SAME: %[[W:[a-z0-9]*]]: memref<1x1x?x?xf32>
  // CHECK: scf.forall (%{{.*}}, %[[I:.*]], %[[J:.*]]) in (1, %{{.*}}, %{{.*}})
  // CHECK: %[[SEEN:.*]] = arith.cmpi slt, %[[J]], %{{.*}}
  // CHECK: %[[E:.*]] = math.exp
  // CHECK: %[[P:.*]] = arith.mulf %[[E]], %{{.*}}
  // CHECK: %[[OR0:.*]] = arith.select %[[SEEN]], %[[P]], %cst
  // CHECK: memref.store %[[OR0]], %[[W]][%c0, %c0, %[[I]], %[[J]]]
  gpu.func @weigh(%d: memref<1x?x?xf32>, %s: memref<1x?x2xf32>, %tau: memref<f32>, %g: memref<0xf32>, %w: memref<1x1x?x?xf32>, %row: index) kernel {
    %c0 = arith.constant 0 : index
    rt_tile.compute ins(%d, %s, %tau, %g : memref<1x?x?xf32>, memref<1x?x2xf32>, memref<f32>, memref<0xf32>) outs(%w : memref<1x1x?x?xf32>) {
    ^bb0(%td: tensor<1x?x?xf32>, %ts: tensor<1x?x2xf32>, %tt: tensor<f32>, %tg: tensor<0xf32>, %tw: tensor<1x1x?x?xf32>):
      %0 = rt.weigh [#rt.centroid] ins(%td, %ts, %tt, %tg : tensor<1x?x?xf32>, tensor<1x?x2xf32>, tensor<f32>, tensor<0xf32>) at(%row, %c0) -> tensor<1x1x?x?xf32>
      rt_tile.yield %0 : tensor<1x1x?x?xf32>
    }
    gpu.return
  }

  // Added to what is there, block by block.
  // CHECK-LABEL: gpu.func @contract
  // CHECK-SAME: (%[[W:.*]]: memref<1x1x?x?xf32>, %[[K:.*]]: memref<1x?x8xbf16>, %[[S:.*]]: memref<1x1x?x8xf32>)
  // CHECK: scf.forall (%{{.*}}, %{{.*}}, %[[I:.*]], %[[D:.*]]) in (1, 1, %{{.*}}, 8)
  // CHECK: %[[OLD:.*]] = memref.load %[[S]][%c0, %c0, %[[I]], %[[D]]]
  // CHECK: %[[KEYS:.*]] = memref.dim %[[W]], %c3
  // CHECK: %[[SUM:.*]] = scf.for %{{.*}} = %c0 to %[[KEYS]] step %c32
  // CHECK: scf.for %[[J:[a-z0-9]*]] =
  // CHECK-DAG: memref.load %[[K]][%c0, %[[J]], %[[D]]]
  // CHECK-DAG: memref.load %[[W]][%c0, %c0, %[[I]], %[[J]]]
  // CHECK: %[[NEW:.*]] = arith.addf %[[OLD]], %[[SUM]]
  // CHECK: memref.store %[[NEW]], %[[S]]
  gpu.func @contract(%w: memref<1x1x?x?xf32>, %k: memref<1x?x8xbf16>, %s: memref<1x1x?x8xf32>) kernel {
    linalg.contract indexing_maps = [affine_map<(b, s, i, d, j) -> (b, s, i, j)>, affine_map<(b, s, i, d, j) -> (b, j, d)>, affine_map<(b, s, i, d, j) -> (b, s, i, d)>]
      ins(%w, %k : memref<1x1x?x?xf32>, memref<1x?x8xbf16>) outs(%s : memref<1x1x?x8xf32>)
    gpu.return
  }

  // A thread per row finishes it, or clears one beyond its sequence; then
  // threads write keys and sums, sum squares by parts, and divide.
  // CHECK-LABEL: gpu.func @finalize
  // CHECK: scf.forall
  // CHECK: scf.if
  // CHECK: memref.store %{{.*}} : memref<1x?x1xi32>
  // CHECK: } else {
  // CHECK: memref.store %c-1_i32, %{{.*}} : memref<1x?x1xi32>
  // CHECK: scf.forall {{.*}} 8)
  // CHECK: memref.load %{{.*}} : memref<1x1x?x8xf32>
  // CHECK: scf.forall {{.*}} 8)
  // CHECK: memref.load %{{.*}} : memref<?x8xf32>
  // CHECK: scf.forall {{.*}} 32)
  // CHECK: math.fma
  // CHECK: scf.forall
  // CHECK: math.sqrt
  // CHECK: scf.forall {{.*}} 16)
  // CHECK: arith.mulf
  gpu.func @finalize(%sf: memref<1x?x2xf32>, %sp: memref<1x?x0xi32>, %rf: memref<1x?x1xf32>, %rp: memref<1x?x1xi32>, %s: memref<1x1x?x8xf32>, %table: memref<?x8xf32>, %ids: memref<1x?xi32>, %tau: memref<f32>, %g: memref<0xf32>, %y: memref<1x?x16xf32>, %n: memref<1x?xf32>, %i: memref<1x?x1xi32>, %row: index) kernel {
    rt_tile.compute ins(%sf, %sp, %rf, %rp, %s, %table, %ids, %tau, %g : memref<1x?x2xf32>, memref<1x?x0xi32>, memref<1x?x1xf32>, memref<1x?x1xi32>, memref<1x1x?x8xf32>, memref<?x8xf32>, memref<1x?xi32>, memref<f32>, memref<0xf32>) outs(%y, %n, %i : memref<1x?x16xf32>, memref<1x?xf32>, memref<1x?x1xi32>) {
    ^bb0(%tsf: tensor<1x?x2xf32>, %tsp: tensor<1x?x0xi32>, %trf: tensor<1x?x1xf32>, %trp: tensor<1x?x1xi32>, %ts: tensor<1x1x?x8xf32>, %tt: tensor<?x8xf32>, %tids: tensor<1x?xi32>, %ttau: tensor<f32>, %tg: tensor<0xf32>, %ty: tensor<1x?x16xf32>, %tn: tensor<1x?xf32>, %ti: tensor<1x?x1xi32>):
      %0:3 = rt.finalize [#rt.centroid, #rt.antitop] of [#rt.centroid, #rt.antitop] score(%tsf, %tsp : tensor<1x?x2xf32>, tensor<1x?x0xi32>) reduce(%trf, %trp, %ts : tensor<1x?x1xf32>, tensor<1x?x1xi32>, tensor<1x1x?x8xf32>) lookup(%tt[%tids] : tensor<?x8xf32>, tensor<1x?xi32>) tau(%ttau : tensor<f32>) gammas(%tg : tensor<0xf32>) at(%row) outs(%ty, %tn, %ti : tensor<1x?x16xf32>, tensor<1x?xf32>, tensor<1x?x1xi32>)
      rt_tile.yield %0#0, %0#1, %0#2 : tensor<1x?x16xf32>, tensor<1x?xf32>, tensor<1x?x1xi32>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @fill_and_copy
  // CHECK-SAME: (%[[X:.*]]: memref<4x?xf32>, %[[Y:.*]]: memref<4x?xf32>)
  // CHECK: scf.forall (%[[I:.*]], %[[J:.*]]) in (4, %{{.*}})
  // CHECK: memref.store %cst, %[[X]][%[[I]], %[[J]]]
  // CHECK: scf.forall (%[[I:.*]], %[[J:.*]]) in (4, %{{.*}})
  // CHECK: %[[E:.*]] = memref.load %[[X]][%[[I]], %[[J]]]
  // CHECK: memref.store %[[E]], %[[Y]][%[[I]], %[[J]]]
  gpu.func @fill_and_copy(%x: memref<4x?xf32>, %y: memref<4x?xf32>) kernel {
    %cst = arith.constant 2.0 : f32
    linalg.fill ins(%cst : f32) outs(%x : memref<4x?xf32>)
    memref.copy %x, %y : memref<4x?xf32> to memref<4x?xf32>
    gpu.return
  }
}
