//===- HostLowering.h - what a gradient does between its loops -----*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_CODEGEN_LLVMCPU_HOSTLOWERING_H
#define RAYTENTION_CODEGEN_LLVMCPU_HOSTLOWERING_H

#include "mlir/IR/Builders.h"

namespace raytention {

struct SweepLayout;

/// Sums `parts [B, Tq, 1 + n]` in double precision into `tau []` and
/// `gammas [n]`, in the order of batch and row.
void sumParameters(mlir::OpBuilder &b, mlir::Location loc, mlir::Value parts,
                   mlir::Value tau, mlir::Value gammas);

/// Adds the `rows [B, T, D]` to the rows of `table [V, D]` that their `ids
/// [B, T]` name, or to zeros. Parallel over columns, so that the order of a
/// sum, batch then position, depends on nothing, and one token that fills a
/// sequence delays nobody.
void scatterRows(mlir::OpBuilder &b, mlir::Location loc, mlir::Value rows,
                 mlir::Value ids, mlir::Value table, bool fromZero);

/// Buffers of the results of rt.distinct.
struct DistinctBuffers {
  mlir::Value slots, tokens, seen;
};

/// rt.distinct, with a place for each of `vocab` tokens in between.
void findDistinct(mlir::OpBuilder &b, mlir::Location loc, mlir::Value ids,
                  mlir::Value vocab, const DistinctBuffers &results);

/// Positions [begin, end) of sequences, as far as these are long (lengths may be
/// null), at slots [B, T].
struct KeySpan {
  mlir::Value slots, lengths, begin, end;
};

/// Buffers of a list of keys (see rt.score_sweep).
struct KeyListBuffers {
  mlir::Value positions, masses;
};

/// rt.fold_keys.
void foldKeys(mlir::OpBuilder &b, mlir::Location loc, const SweepLayout &layout,
              const KeySpan &span, mlir::Value gammas,
              const KeyListBuffers &list);

} // namespace raytention

#endif // RAYTENTION_CODEGEN_LLVMCPU_HOSTLOWERING_H
