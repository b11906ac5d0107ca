//===- TaskLowering.h - one query tile's program on a CPU ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_CODEGEN_LLVMCPU_TASKLOWERING_H
#define RAYTENTION_CODEGEN_LLVMCPU_TASKLOWERING_H

#include "codegen/LlvmCpu/CpuKernels.h"
#include "dialect/RayTile/RayTile.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

#include <variant>

namespace raytention {

struct ItemTerms;

inline mlir::Value stripCasts(mlir::Value memref) {
  while (auto cast = memref.getDefiningOp<mlir::memref::CastOp>())
    memref = cast.getSource();
  return memref;
}

/// Rows of a query tile or keys of a chunk at most: more is a mistake.
constexpr int64_t kLargestTile = int64_t(1) << 16;

/// The size of a buffer along an axis, as the code names it; null if it is that
/// of an argument.
mlir::OpFoldResult getSizeOf(mlir::Value memref, int64_t axis);

/// Kept or chunk-local scores.
struct ScoreBuffer {
  ScoreView view;
  /// Of a chunk: the rows present, and most of them.
  mlir::Value count = {};
  int64_t bound = 0;
  /// Of a part of kept ones: later parts are written behind it.
  bool inOrder = false;
};
/// Items in the lanes, and where differences are taken also as rows.
struct LaneBuffer {
  PackedLanes packed;
  std::optional<PackedRows> rows = std::nullopt;
};
struct RowBuffer {
  PackedRows packed;
};
struct WeightBuffer {
  mlir::Value data;
  int64_t numWeighted;
  std::optional<Metric> metric = std::nullopt; ///< of coefficients
};
/// A state tensor (floats or positions) or sums, one or all of its parts.
struct StateBuffer {
  PartView view;
  int64_t numParts;
  /// Of sums of differences: the item times this is still to be added to each.
  mlir::Value itemFactors = {};
};

/// What a buffer of the program is on the CPU, which packs and turns what
/// stands in it. Ops of rt see their tensors as what the buffers are.
using TensorBuffer =
    std::variant<std::monostate, ArgumentView, ScoreBuffer, LaneBuffer,
                 RowBuffer, WeightBuffer, StateBuffer>;

/// Lowers the body of the outer forall, op by op, to loops on buffers.
class TaskLowering {
public:
  /// The task's own items are queries, or, with `side` key, keys.
  TaskLowering(mlir::OpBuilder &b, const TileLayout &layout, PairSide side,
               mlir::IRMapping &scalars,
               llvm::DenseMap<mlir::Value, TensorBuffer> &buffers,
               mlir::Block *task)
      : b(b), layout(layout), side(side), scalars(scalars), buffers(buffers),
        task(task) {}

  llvm::LogicalResult lowerBlock(mlir::Block &block);

private:
  llvm::LogicalResult lower(mlir::Operation *op);
  llvm::LogicalResult lower(mlir::memref::AllocOp op);
  llvm::LogicalResult lower(mlir::memref::SubViewOp op);
  llvm::LogicalResult lower(mlir::memref::CopyOp op);
  llvm::LogicalResult lower(mlir::memref::LoadOp op);
  llvm::LogicalResult lower(mlir::memref::DimOp op);
  llvm::LogicalResult lower(mlir::linalg::FillOp op);
  llvm::LogicalResult lower(mlir::linalg::ContractOp op);
  llvm::LogicalResult lower(mlir::scf::ForOp op);
  llvm::LogicalResult lower(mlir::scf::ForallOp op);
  llvm::LogicalResult lower(mlir::scf::IfOp op);
  llvm::LogicalResult lower(tile::ComputeOp op);
  llvm::LogicalResult lower(InitOp op);
  llvm::LogicalResult lower(LookupOp op);
  llvm::LogicalResult lower(DistanceOp op);
  llvm::LogicalResult lower(ScoreSweepOp op);
  llvm::LogicalResult lower(ReduceSweepOp op);
  llvm::LogicalResult lower(WeighOp op);
  llvm::LogicalResult lower(MergeOp op);
  llvm::LogicalResult lower(FinalizeOp op);
  llvm::LogicalResult lower(GradRowsOp op);
  llvm::LogicalResult lower(WeighGradOp op);
  llvm::LogicalResult lower(SumDifferencesOp op);
  llvm::LogicalResult lower(CopyGradOp op);
  llvm::LogicalResult lower(QueryGradOp op);
  llvm::LogicalResult lower(KeyGradOp op);

  /// The items of a task in the lanes, and where differences are taken also as
  /// rows.
  using PackLanes = llvm::function_ref<void(const PackedLanes &)>;
  using PackRows = llvm::function_ref<void(const PackedRows &)>;
  LaneBuffer packItems(mlir::Operation *op, mlir::Value count,
                       PackLanes packLanes, PackRows packRows);
  llvm::LogicalResult packQueries(mlir::memref::SubViewOp op,
                                  const ArgumentView &view);
  llvm::LogicalResult keepScores(mlir::memref::AllocOp op);
  void copyScores(mlir::Location loc, const ScoreBuffer &from,
                  const ScoreView &to);
  llvm::LogicalResult copyState(mlir::memref::CopyOp op, StateBuffer from);
  /// Zeroed accumulators of pairs, or sums of a product.
  StateBuffer makeAccumulators(mlir::linalg::FillOp op);
  /// What is still to be added to finished sums.
  std::optional<ItemTerms> getItemTerms(const StateBuffer &sums) const;
  llvm::LogicalResult multiplyStack(mlir::linalg::ContractOp op);
  /// Of an axis: the most that it may be, and what it is.
  struct Extent {
    int64_t bound;
    mlir::Value count;
  };
  llvm::FailureOr<Extent> getExtent(mlir::Operation *op, mlir::Value tensor,
                                    int64_t axis);
  /// The buffer that a tensor of the op being lowered stands for; a buffer
  /// stands for itself, whatever its type is cast to.
  mlir::Value getMemRef(mlir::Value value) const {
    auto it = tensors.find(value);
    return stripCasts(it == tensors.end() ? value : it->second);
  }
  bool isUsed(mlir::Value result) const;
  /// `lengths`, or the number of keys where there are none.
  llvm::FailureOr<mlir::Value> getLength(mlir::Operation *op,
                                         mlir::Value lengths, mlir::Value keys);

  mlir::Value scalar(mlir::Value value) {
    return scalars.lookupOrDefault(value);
  }
  mlir::Value scalar(mlir::OpFoldResult value, mlir::Location loc);
  KernelBuilder kernel(mlir::Location loc) { return {b, loc, layout}; }

  /// What stands where a tensor or buffer does.
  TensorBuffer &buffer(mlir::Value value) { return buffers[getMemRef(value)]; }
  /// The same if it is of a kind, else null.
  template <typename BufferKind>
  const BufferKind *find(mlir::Value value) const {
    auto it = buffers.find(getMemRef(value));
    return it == buffers.end() ? nullptr : std::get_if<BufferKind>(&it->second);
  }
  /// The buffer of a tensor, or an error at `op` that says what was expected.
  template <typename BufferKind>
  const BufferKind *get(mlir::Operation *op, mlir::Value tensor,
                        llvm::StringRef expected);
  /// Whether the op starts new buffers only: each is written once, where it is
  /// made; and whether what it reads of tau and the gammas is an argument's.
  llvm::LogicalResult checkOutputs(tile::ComputeOp compute);
  template <typename Op> llvm::LogicalResult checkParameters(Op op);
  llvm::FailureOr<StateView> getState(mlir::Operation *op, mlir::Value floats,
                                      mlir::Value positions);
  /// What the pair ops share; null mask means causal.
  template <typename Op>
  llvm::FailureOr<PairLoop> getPairs(Op op, const SweepLayout &sweep);
  const ParameterValues &getParameters(mlir::Value tau, mlir::Value gammas,
                                       mlir::Location loc);

  /// A buffer of the task. Those made inside a loop serve again in later loops.
  mlir::Value allocate(mlir::MemRefType type, mlir::ValueRange sizes = {});
  mlir::Value allocateInLoop(mlir::MemRefType type);

  mlir::OpBuilder &b;
  const TileLayout &layout;
  PairSide side;
  mlir::IRMapping &scalars;
  llvm::DenseMap<mlir::Value, TensorBuffer> &buffers;
  mlir::Block *task;
  /// The buffers of the block arguments of the rt_tile.compute being lowered.
  llvm::DenseMap<mlir::Value, mlir::Value> tensors;
  /// The items that differences are taken from, of which a task has one set.
  std::optional<PackedRows> itemRows;
  /// By tau and gammas.
  llvm::DenseMap<std::pair<mlir::Value, mlir::Value>, ParameterValues>
      parameters;
  llvm::SmallVector<mlir::Value> freeBuffers, loopBuffers;
};

template <typename BufferKind>
const BufferKind *TaskLowering::get(mlir::Operation *op, mlir::Value tensor,
                                    llvm::StringRef expected) {
  if (auto *buffer = find<BufferKind>(tensor))
    return buffer;
  op->emitOpError() << "expected " << expected
                    << " in the form of the tiled stage, got " << tensor;
  return nullptr;
}

} // namespace raytention

#endif // RAYTENTION_CODEGEN_LLVMCPU_TASKLOWERING_H
