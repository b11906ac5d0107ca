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

def TileQueriesPass : Pass<"rt-tile-queries", "::mlir::func::FuncOp"> {
  let summary = "one independent tile of rows per batch entry";
  let description = [{
    The finish of an attention becomes a parallel loop over batch entries and
    tiles of rows; its sweeps, distances, lookups and initial states move into
    the body. Each tile sees the keys `[0, hi)` only, `hi` being what the mask
    and the sequence's length leave; the sweeps therefore drop their `lengths`.

    The tile size is one constant of the function, read by the step and by the
    row count of the last tile: edit it, and the loop follows. A finish inside
    an `scf.forall`, or one whose states come from loops, is left alone.

    Before:
    ```mlir
    %k = rt.lookup %table[%ids]
    %d = rt.distance %q, %k
    %f, %p = rt.score_sweep [...] ins(%d, ...) at(%off, %c0) lengths(%len) ...
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
      ...
      %y_t, %n_t, %x_t = rt.finalize ... at(%row) lengths(%len_b) ...
      scf.forall.in_parallel { tensor.parallel_insert_slice ... }
    }
    ```
  }];
  let options = [Option<"queryTile", "query-tile", "int64_t", "0",
    "rows per tile; 0: from rt.schedule of the function, else 32">];
  let dependentDialects = ["::raytention::RayTentionDialect",
    "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numTiled", "tiled", "attentions tiled">];
}

def TileKeysPass : Pass<"rt-tile-keys", "::mlir::func::FuncOp"> {
  let summary = "the gradient of one independent chunk of keys per task";
  let description = [{
    The gradient of the keys becomes a parallel loop over batch entries and
    chunks of keys, and in it a loop over tiles of the queries that see the
    chunk: from the first row that the mask lets see it to the sequence's end.
    What does not depend on the rows, the chunk's lookup above all, stands in
    front of the inner loop. Both sizes are constants of the function.

    Before:
    ```mlir
    %s = rt.key_grad_sweep [...] ins(%d, %rows, %stack, %q) ... outs(%f0, %s0)
    %dk = rt.key_grad [...] (%s) ... outs(%dk0)
    ```
    After, with key-chunk=192 query-tile=32:
    ```mlir
    %dk = scf.forall (%b, %j) = (0, 0) to (%B, %T) step (1, %c192)
        shared_outs(%dka = %dk0) {
      %n = arith.minsi %left, %c192
      %k = rt.lookup %table[%ids_c]
      %s = scf.for %i = %begin to %end step %c32 iter_args(...) {
        %d_c = rt.distance %q_t, %k
        %rows, %stack = rt.grad_rows ...
        rt.key_grad_sweep ...
      }
      %dk_c = rt.key_grad [...] (%s) ...
      scf.forall.in_parallel { tensor.parallel_insert_slice ... }
    }
    ```
  }];
  let options = [Option<"keyChunk", "key-chunk", "int64_t", "0",
      "keys per task; 0: from rt.schedule of the function, else 192">,
    Option<"queryTile", "query-tile", "int64_t", "0",
      "rows per step; 0: from rt.schedule of the function, else 32">];
  let dependentDialects = ["::raytention::RayTentionDialect",
    "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numTiled", "tiled", "gradients tiled">];
}

def SplitKeysPass : Pass<"rt-split-keys", "::mlir::func::FuncOp"> {
  let summary = "each sweep over independent key ranges, merged afterwards";
  let description = [{
    Each sweep becomes a parallel loop over `ways` consecutive ranges of its
    keys, with partial states; rt.merge makes one state of them. Ranges may be
    empty. The number of ranges is one constant of the function. Sweeps over a
    range or over chunks already are left alone.

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
  let summary = "each sweep chunk by chunk of keys";
  let description = [{
    Each sweep becomes a loop over chunks of its keys; the chunk's keys are
    looked up, and its distances computed once for all channels, inside. The
    chunk size is one constant of the function.

    With `scores=keep`, the first loop keeps its distances `[1, rows, hi]` and
    the second one reads them; with `recompute` the second computes them again.
    Distances are kept where both sweeps read one rt.distance in one block:
    with split keys they do not, and are recomputed. A reduce sweep that has
    nothing to reduce (no weighted channel, no own state) leaves no loop.

    Before:
    ```mlir
    %f, %p = rt.score_sweep [...] ins(%d, %tau, %g) at(%row, %c0) outs(%f0, %p0)
    %rf, %rp, %s = rt.reduce_sweep [...] ins(%d, %f, %tau, %g) keys(%k) ...
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
    %rf, %rp, %s = scf.for %j = %c0 to %hi step %c192 iter_args(...) {
      %d_c = tensor.extract_slice %d[0, 0, %j] [1, %rows, %n] [1, 1, 1]
      ...
    }
    ```
  }];
  let options = [
    Option<"keyChunk", "key-chunk", "int64_t", "0",
      "keys per chunk; 0: from rt.schedule of the function, else 192">,
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
    Statistic<"numChunked", "chunked", "sweeps cut in chunks">,
    Statistic<"numKept", "kept", "score sweeps whose distances are kept">,
    Statistic<"numIdle", "idle", "reduce sweeps with nothing to do, removed">];
}

#endif // RAYTENTION_PASSES_TILE_PASSES
