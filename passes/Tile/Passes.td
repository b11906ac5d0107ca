//===- Passes.td - loops over batch, rows and keys ---------*- tablegen -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_PASSES_TILE_PASSES
#define RAYTENTION_PASSES_TILE_PASSES

include "mlir/Pass/PassBase.td"

def TileTasksPass : Pass<"rt-tile-tasks", "::mlir::func::FuncOp"> {
  let summary = "a parallel loop over the tiles of each finish";
  let description = [{
    The finish of an attention, of its queries' gradient and of its keys'
    gradient become each a parallel loop over batch entries and tiles of rows (or
    chunks of keys); everything that a tile needs, down to the lookups, is
    computed in the body, by the ops' own tiling. Rows see only the keys `[0,
    hi)` that the mask and the sequence's length leave; for a chunk of keys, only
    the rows from the first that sees it to the sequence's end are there. The ops
    therefore drop their `lengths`.

    In the family `stored` the score sweep is a loop of its own, and what more
    than one loop reads, distances, prepared rows and what a gradient's pairs
    give, is computed by the first and stored for the others; weights and
    coefficients of masked pairs are stored as zeros. With a `query_chunk` all
    this stands in a sequential loop over that many rows at a time, which carries
    the sums of the keys; gradients of the keys then take the place of these.

    The tile size is one constant of the function, read by the step and by the
    size of the last tile: edit it, and the loop follows. A finish inside an
    `scf.forall` is left alone.

    Before:
    ```mlir
    %k = rt.lookup %table[%ids]
    %d = rt.distance %q, %k
    %f, %p = rt.score_sweep [...] ins(%d, ...) at(%off, %c0) lengths(%len) ...
    %w = rt.weigh [...] ins(%d, %f, ...) at(%off, %c0) lengths(%len)
    %s = linalg.contract ins(%w, %k) outs(%s0)
    %y, %n, %x = rt.finalize ... at(%off) lengths(%len) outs(%y0, %n0, %x0)
    ```
    After, with query-tile=32:
    ```mlir
    %c32 = arith.constant 32 : index
    scf.forall (%b, %i0) = (0, 0) to (%B, %Tq) step (1, %c32)
        shared_outs(%ya = %y0, ...) {
      %left = arith.subi %Tq, %i0
      %rows = arith.minsi %left, %c32
      %row = arith.addi %off, %i0
      %end = arith.addi %row, %rows
      %seen = arith.minsi %end, %length
      %hi = arith.maxsi %seen, %c0
      %q_t = tensor.extract_slice %q[%b, %i0, 0] [1, %rows, 64] [1, 1, 1]
      %ids_t = tensor.extract_slice %ids[%b, 0] [1, %hi] [1, 1]
      %k = rt.lookup %table[%ids_t]
      %d = rt.distance %q_t, %k
      %f, %p = rt.score_sweep [...] ins(%d, ...) at(%row, %c0) ...
      %w = rt.weigh [...] ins(%d, %f, ...) at(%row, %c0)
      %s = linalg.contract ins(%w, %k) outs(%s0_t)
      %y_t, %n_t, %x_t = rt.finalize ... at(%row) lengths(%len_b) ...
      scf.forall.in_parallel { tensor.parallel_insert_slice ... }
    }
    ```

    Errors: sweeps that still hold their products.
  }];
  let options = [Option<"queryTile", "query-tile", "int64_t", "0",
      "rows per tile; 0: from rt.schedule of the function, else 32">,
    Option<"keyChunk", "key-chunk", "int64_t", "0",
      "keys per task of their gradient; 0: from rt.schedule, else 192">,
    Option<"leavesStored", "leaves-stored", "bool", "false",
      "leave functions of family stored to --rt-tile-kernels">];
  let dependentDialects = ["::raytention::RayTentionDialect",
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numTiled", "tiled", "loops made">,
    Statistic<"numShared", "shared", "pairs and rows stored for other loops">];
}

def SplitKeysPass : Pass<"rt-split-keys", "::mlir::func::FuncOp"> {
  let summary = "each sweep over independent key ranges, merged afterwards";
  let description = [{
    Each sweep of a task becomes a parallel loop over `ways` consecutive ranges
    of its keys, with partial states; rt.merge makes one state of them. Ranges may
    be empty. The number of ranges is one constant of the function. Weighted sums
    are a product's and are not split. Sweeps over a range or over chunks already
    are left alone.

    Before:
    ```mlir
    %f, %p = rt.score_sweep [...] ins(%d, %tau, %g) at(%row, %c0) outs(%f0, %p0)
    ```
    After, with ways=3:
    ```mlir
    %len = arith.ceildivsi %hi, %c3
    %pf0, %pp0 = rt.init <score> [...] (%c1, %rows) parts(%c3)
    %pf, %pp = scf.forall (%s) in (%c3) shared_outs(%fs = %pf0, %ps = %pp0) {
      %start = arith.muli %s, %len
      %lo = arith.minsi %start, %hi
      %left = arith.subi %hi, %lo
      %size = arith.minsi %left, %len
      %f0 = tensor.extract_slice %fs[0, %s, 0, 0] [1, 1, %rows, F] [1, 1, 1, 1]
      ...
      %f, %p = rt.score_sweep [...] ins(%d, ...) at(%row, %lo) outs(%f0, %p0)
      scf.forall.in_parallel { tensor.parallel_insert_slice ... }
    }
    %f, %p = rt.merge <score> [...] (%pf, %pp)
    ```
  }];
  let options = [Option<"ways", "ways", "int64_t", "0",
    "key ranges; 1: no split, 0: from rt.schedule of the function, else 1">];
  let dependentDialects = ["::raytention::RayTentionDialect",
    "::mlir::affine::AffineDialect",
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numSplit", "split", "sweeps split">];
}

def TileKernelsPass : Pass<"rt-tile-kernels", "::mlir::func::FuncOp"> {
  let summary = "each op in a parallel loop of its own";
  let description = [{
    For functions whose rt.schedule says `family = stored`: each op that reads
    keys or rows becomes a parallel loop over its own tiles, so that a device
    runs it as one kernel; what starts an accumulator is part of the kernel that
    adds to it. With a query chunk, a sequential loop over chunks of rows stands
    around all of them but the lookup of the keys, which bounds what passes
    between kernels.

    Before:
    ```mlir
    %k = rt.lookup %table[%ids]
    %d = rt.distance %q, %k
    %f, %p = rt.score_sweep [...] ins(%d, ...) outs(%f0, %p0)
    ```
    After, with query_tile = 16 and key_chunk = 32:
    ```mlir
    %k = scf.forall (%b, %j) = (0, 0) to (%B, %T) step (1, 32) { rt.lookup }
    %d = scf.forall (%b, %i, %j) = ... step (1, 16, 32) { rt.distance }
    %f, %p = scf.forall (%b, %i) = ... step (1, 16) { rt.init; rt.score_sweep }
    ```
  }];
  let options = [Option<"queryChunk", "query-chunk", "int64_t", "0",
    "rows of all kernels; 0: from rt.schedule, where 0 is all rows at once">];
  let dependentDialects = ["::raytention::RayTentionDialect",
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numKernels", "kernels", "ops made kernels">];
}

def ChunkKeysPass : Pass<"rt-chunk-keys", "::mlir::func::FuncOp"> {
  let summary = "what adds up over keys or rows, chunk by chunk";
  let description = [{
    In each task, what adds up over the same keys (or, for a gradient of keys,
    over the same rows) without needing the end of another sum becomes one loop
    over chunks. What a chunk needs, its lookup, distances, weights, is computed
    once in it. Sums of terms that go on with each other share an accumulator.
    The chunk size is one constant of the function.

    With `scores=keep`, the first loop keeps its distances `[1, rows, hi]` and
    later ones read them; with `recompute` they compute them again: with split
    keys they always do.

    Before:
    ```mlir
    %k = rt.lookup %table[%ids_t]
    %d = rt.distance %q_t, %k
    %f, %p = rt.score_sweep [...] ins(%d, %tau, %g) at(%row, %c0) outs(%f0, %p0)
    %w = rt.weigh [...] ins(%d, %f, %tau, %g) at(%row, %c0)
    %s = linalg.contract ins(%w, %k) outs(%s0)
    %rf, %rp = rt.reduce_sweep [...] ins(%d, %f, ...) at(%row, %c0) outs(%rf0, %rp0)
    ```
    After, with key-chunk=192 scores=keep:
    ```mlir
    %d0 = tensor.empty(%rows, %hi) : tensor<1x?x?xf32>
    %f, %p, %d = scf.for %j = %c0 to %hi step %c192
        iter_args(%fa = %f0, %pa = %p0, %da = %d0) {
      %left = arith.subi %hi, %j
      %n = arith.minsi %left, %c192
      %ids_c = tensor.extract_slice %ids[%b, %j] [1, %n] [1, 1]
      %k = rt.lookup %table[%ids_c]
      %d_c = rt.distance %q_t, %k
      %f1, %p1 = rt.score_sweep [...] ins(%d_c, ...) at(%row, %j) outs(%fa, %pa)
      %d1 = tensor.insert_slice %d_c into %da[0, 0, %j] [1, %rows, %n] [1, 1, 1]
      scf.yield %f1, %p1, %d1
    }
    %s, %rf, %rp = scf.for %j = %c0 to %hi step %c192 iter_args(...) {
      %d_c = tensor.extract_slice %d[0, 0, %j] [1, %rows, %n] [1, 1, 1]
      %w = rt.weigh ...
      %s1 = linalg.contract ins(%w, %k) outs(%sa)
      ...
    }
    ```
  }];
  let options = [
    Option<"keyChunk", "key-chunk", "int64_t", "0",
      "keys per chunk; 0: from rt.schedule of the function, else 192">,
    Option<"queryTile", "query-tile", "int64_t", "0",
      "rows per chunk of a key's gradient; 0: from rt.schedule, else 32">,
    Option<"leavesStored", "leaves-stored", "bool", "false",
      "leave functions of family stored to --rt-tile-kernels">,
    Option<"scores", "scores", "::raytention::ScoreChoice",
      "::raytention::ScoreChoice::FromSchedule",
      "what the reduce sweep reads; not given: from rt.schedule, else keep",
      [{::llvm::cl::values(
        clEnumValN(::raytention::ScoreChoice::FromSchedule, "schedule",
                   "as rt.schedule of the function says, else keep"),
        clEnumValN(::raytention::ScoreChoice::Keep, "keep",
                   "the distances of the score sweep"),
        clEnumValN(::raytention::ScoreChoice::Recompute, "recompute",
                   "distances computed again"))}]>];
  let dependentDialects = ["::raytention::RayTentionDialect",
    "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numChunked", "chunked", "sums cut in chunks">,
    Statistic<"numKept", "kept", "distances that a loop keeps">];
}

#endif // RAYTENTION_PASSES_TILE_PASSES
