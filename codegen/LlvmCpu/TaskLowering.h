//===- TaskLowering.h - one query tile's program on a CPU ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_CODEGEN_LLVMCPU_TASKLOWERING_H
#define RAYTENTION_CODEGEN_LLVMCPU_TASKLOWERING_H

#include "codegen/LlvmCpu/TransferKernels.h"
#include "dialect/RayTile/RayTile.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

#include <deque>
#include <functional>
#include <variant>

namespace raytention {

inline mlir::Value stripCasts(mlir::Value memref) {
  while (auto cast = memref.getDefiningOp<mlir::memref::CastOp>())
    memref = cast.getSource();
  return memref;
}

/// Whether a product is that of the rows' gradients and keys.
bool multipliesStack(mlir::linalg::ContractOp op);
/// Whether it is that of weights and what passes by the items of `side`.
bool sumsWeighted(mlir::linalg::ContractOp op, PairSide side);

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
  int64_t slotRows = 0; ///< of a channel, of a stack
};
struct WeightBuffer {
  mlir::Value data = {};
  int64_t numWeighted = 1;
  std::optional<Metric> metric = std::nullopt; ///< of coefficients
  int64_t slotRows = 0; ///< of a channel, where channels stand in rows
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
  /// A tile of width D as the task's items, or as what passes by.
  llvm::FailureOr<TensorBuffer> packTile(mlir::Operation *op,
                                         mlir::Value memref,
                                         const ArgumentView &view,
                                         bool isItems);
  llvm::LogicalResult keepScores(mlir::memref::AllocOp op);

  /// Plain memory: buffers of the function, arguments and views of them. What
  /// an op reads there is imported into the form that its kernel expects, what
  /// it writes is exported when it is done. Null is a failure.
  bool isPlain(mlir::Value tensor) const;
  const ScoreBuffer *getScores(mlir::Operation *op, mlir::Value tensor);
  /// Weights or products of the channels, or coefficients.
  const WeightBuffer *getWeights(mlir::Operation *op, mlir::Value tensor,
                                 llvm::StringRef expected);
  /// Fields of rows: of the task's items, or with `passes`, of what passes by.
  const StateBuffer *getFields(mlir::Operation *op, mlir::Value tensor,
                               llvm::StringRef expected, Padding padding,
                               bool passes = false);
  const StateBuffer *getSums(mlir::Operation *op, mlir::Value tensor,
                             llvm::StringRef expected);
  const LaneBuffer *getItems(mlir::Operation *op, mlir::Value tensor);
  const RowBuffer *getPassing(mlir::Operation *op, mlir::Value tensor,
                              llvm::StringRef expected);
  template <typename BufferKind>
  const BufferKind *getRows(mlir::Operation *op, mlir::Value tensor,
                            llvm::StringRef expected);
  /// `form` is what the op has made of a tensor.
  llvm::LogicalResult put(mlir::Operation *op, mlir::Value tensor,
                          TensorBuffer form);
  /// The op has changed what it imported.
  template <typename BufferKind>
  llvm::LogicalResult putBack(mlir::Operation *op, mlir::Value tensor);
  llvm::LogicalResult store(mlir::Operation *op, mlir::Value memref,
                            const TensorBuffer &form);
  llvm::FailureOr<TensorBuffer> importStack(mlir::Operation *op,
                                            mlir::Value memref);
  llvm::LogicalResult checkItems(mlir::Operation *op, mlir::Value tensor,
                                 int64_t axis);
  void exportSums(mlir::Location loc, const StateBuffer &sums,
                  mlir::Value memref);
  void exportStack(mlir::Location loc, const TensorBuffer &form,
                   mlir::Value memref);
  void exportWeights(mlir::Location loc, const WeightBuffer &weights,
                     mlir::Value memref);
  StateBuffer makeSums(mlir::Location loc, int64_t numWeighted,
                       bool isGradient);
  using PlaceLane = std::function<llvm::SmallVector<mlir::Value>(
      mlir::Value passing, mlir::Value lane)>;
  PlaceLane placeWeights(KernelBuilder &k, const WeightBuffer &form,
                         mlir::Value slot);
  PlaceLane placeStack(KernelBuilder &k, mlir::Value slot);
  void forEachSlot(mlir::Location loc, mlir::Value memref,
                   llvm::function_ref<void(mlir::Value)> body);
  void clearWidth(KernelBuilder &k, mlir::Value lanes);
  PlainMatrix getMatrix(mlir::Location loc, mlir::Value memref,
                        mlir::Value slot = {});
  llvm::SmallVector<mlir::Value> getSizes(mlir::Location loc,
                                          mlir::Value memref);
  template <typename BufferKind>
  const BufferKind *remember(mlir::Value tensor, const BufferKind &form);
  /// After an op: where it has changed plain memory, what it has stored there
  /// is all that is known of it.
  void settle();
  void forgetImports();
  /// Whether an op of the task writes to the buffer that a view is of.
  bool isWritten(mlir::Operation *op, mlir::Value memref);
  /// Packs what a view will be read as, if that does not change meanwhile.
  llvm::LogicalResult packView(mlir::memref::SubViewOp op,
                               const ArgumentView &view);
  /// What a loop alone adds to is imported before it and exported behind it.
  struct Resident {
    mlir::Value memref;
    ArgumentView view;
  };
  using Residents = llvm::SmallVector<Resident>;
  llvm::FailureOr<Residents> importResidents(mlir::scf::ForOp loop);
  llvm::LogicalResult exportResidents(mlir::scf::ForOp loop,
                                      const Residents &residents);
  void fillBuffer(mlir::linalg::FillOp op);
  llvm::LogicalResult copyBuffer(mlir::memref::CopyOp op);
  /// `G_ci . k_j` into plain memory.
  llvm::LogicalResult multiplyInto(mlir::linalg::ContractOp op);
  llvm::FailureOr<WeightBuffer> multiply(mlir::linalg::ContractOp op);
  llvm::LogicalResult putGradients(WeighGradOp op, const WeightBuffer &weights,
                                   const WeightBuffer &coefficients);
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
    mlir::Value memref = getMemRef(value);
    auto it = buffers.find(memref);
    if (it != buffers.end())
      if (auto *found = std::get_if<BufferKind>(&it->second))
        return found;
    for (const Import &own : imports)
      if (own.memref == memref)
        if (auto *found = std::get_if<BufferKind>(&own.form))
          return found;
    return nullptr;
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
  /// Forms of what stands in plain memory, until that changes; `isPinned` if
  /// the task never does. A deque: others are added while one is read.
  struct Import {
    mlir::Value memref;
    TensorBuffer form;
    bool isPinned;
  };
  std::deque<Import> imports, stored;
  bool changesPlain = false;
  /// Buffers that the task writes to; none: not yet collected.
  std::optional<llvm::DenseSet<mlir::Value>> written;
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

template <typename BufferKind>
llvm::LogicalResult TaskLowering::putBack(mlir::Operation *op,
                                          mlir::Value tensor) {
  if (!isPlain(tensor))
    return mlir::success();
  return put(op, tensor, *find<BufferKind>(tensor));
}

} // namespace raytention

#endif // RAYTENTION_CODEGEN_LLVMCPU_TASKLOWERING_H
