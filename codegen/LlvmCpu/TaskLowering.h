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

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

#include <map>
#include <tuple>
#include <variant>

namespace raytention {

struct ItemTerms;

/// Rows of a query tile or keys of a chunk at most: more is a mistake.
constexpr int64_t kLargestTile = int64_t(1) << 16;

/// Kept or chunk-local scores.
struct ScoreBuffer {
  ScoreView view;
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
};
/// A state tensor (floats or positions) or sums, one or all of its parts.
struct StateBuffer {
  PartView view;
  int64_t numParts;
  /// Of sums of differences: the item times this is still to be added to each.
  mlir::Value itemFactors = {};
};

/// Where a tensor of the fused program lives on the CPU. The program is in
/// destination style, so every update happens in place.
using TensorBuffer =
    std::variant<std::monostate, ArgumentView, ScoreBuffer, LaneBuffer,
                 RowBuffer, WeightBuffer, StateBuffer>;

/// Whether an op and what is in it know no tensors.
bool isScalarCode(mlir::Operation *op);

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
  llvm::LogicalResult lower(mlir::tensor::ExtractSliceOp op);
  llvm::LogicalResult lower(mlir::tensor::InsertSliceOp op);
  llvm::LogicalResult lower(mlir::tensor::ExtractOp op);
  llvm::LogicalResult lower(mlir::tensor::DimOp op);
  llvm::LogicalResult lower(mlir::tensor::EmptyOp op);
  llvm::LogicalResult lower(mlir::linalg::FillOp op);
  llvm::LogicalResult lower(mlir::linalg::ContractOp op);
  llvm::LogicalResult lower(mlir::scf::ForOp op);
  llvm::LogicalResult lower(mlir::scf::ForallOp op);
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
  /// Whether a loop writes chunk behind chunk into scores that it keeps. Then
  /// each may write past its end, as register tiles do.
  static bool isKeptInPlace(mlir::tensor::InsertSliceOp op);
  llvm::LogicalResult packQueries(mlir::tensor::ExtractSliceOp op,
                                  const ArgumentView &view);
  /// Zeroed accumulators of pairs or sums of a product, as `arg` of a loop is
  /// read.
  StateBuffer makeAccumulators(mlir::Location loc, mlir::Value arg);
  /// What is still to be added to finished sums.
  std::optional<ItemTerms> getItemTerms(const StateBuffer &sums) const;
  llvm::LogicalResult multiplyStack(mlir::linalg::ContractOp op);
  /// Sizes of a slice of a per-row argument: most rows and those present.
  struct RowRange {
    int64_t bound;
    mlir::Value count;
  };
  llvm::FailureOr<RowRange> getRows(mlir::Operation *op, mlir::Value slice);
  /// `lengths`, or the number of keys where there are none.
  llvm::FailureOr<mlir::Value> getLength(mlir::Operation *op,
                                         mlir::Value lengths, mlir::Value keys);

  mlir::Value scalar(mlir::Value value) {
    return scalars.lookupOrDefault(value);
  }
  mlir::Value scalar(mlir::OpFoldResult value, mlir::Location loc);
  KernelBuilder kernel(mlir::Location loc) { return {b, loc, layout}; }

  /// `result` lives where `source` does.
  void alias(mlir::Value result, mlir::Value source) {
    TensorBuffer buffer = buffers.lookup(source);
    buffers[result] = buffer;
  }
  /// The buffer of a tensor, or an error at `op` that says what was expected.
  template <typename BufferKind>
  const BufferKind *get(mlir::Operation *op, mlir::Value tensor,
                        llvm::StringRef expected);
  /// A static bound of an axis of a tile: of its type, or of its size operand.
  static llvm::FailureOr<int64_t> getBound(mlir::Operation *op,
                                           mlir::Value tensor, int64_t axis);
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
  /// The items that differences are taken from, of which a task has one set.
  std::optional<PackedRows> itemRows;
  /// By the memory of tau and gammas, the first gamma and how many.
  std::map<std::tuple<const void *, const void *, int64_t, int64_t>,
           ParameterValues>
      parameters;
  llvm::SmallVector<mlir::Value> freeBuffers, loopBuffers;
};

template <typename BufferKind>
const BufferKind *TaskLowering::get(mlir::Operation *op, mlir::Value tensor,
                                    llvm::StringRef expected) {
  auto it = buffers.find(tensor);
  if (it != buffers.end())
    if (auto *buffer = std::get_if<BufferKind>(&it->second))
      return buffer;
  op->emitOpError() << "expected " << expected
                    << " in the form of the fused stage, got " << tensor;
  return nullptr;
}

} // namespace raytention

#endif // RAYTENTION_CODEGEN_LLVMCPU_TASKLOWERING_H
