//===- Bufferization.cpp - buffers for the ops of rt --------------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTile/Bufferization.h"
#include "dialect/RayTention/RayTention.h"
#include "dialect/RayTile/RayTile.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace raytention;
using namespace raytention::tile;

//===----------------------------------------------------------------------===//
// Initial values and sizes of results
//===----------------------------------------------------------------------===//

OpOperand *raytention::tile::getInit(Operation *op, unsigned result) {
  if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
    return destination.getDpsInitOperand(result);
  return llvm::TypeSwitch<Operation *, OpOperand *>(op)
      .Case([](ScatterAddOp op) { return &op.getInitMutable(); })
      .Case([&](WeighGradOp op) -> OpOperand * {
        return result == 2 ? op.getFloatsInMutable().begin() : nullptr;
      })
      .Default([](Operation *) -> OpOperand * { return nullptr; });
}

/// The result that starts from an operand, or none.
static std::optional<unsigned> getResultOf(OpOperand &operand) {
  Operation *op = operand.getOwner();
  for (unsigned result = 0; result < op->getNumResults(); ++result)
    if (getInit(op, result) == &operand)
      return result;
  return std::nullopt;
}

/// The axis of an operand that a dynamic axis of a result is as large as.
static std::pair<Value, int64_t> getModel(OpResult result, int64_t axis) {
  using Model = std::pair<Value, int64_t>;
  unsigned number = result.getResultNumber();
  return llvm::TypeSwitch<Operation *, Model>(result.getOwner())
      .Case([&](WeighGradOp op) {
        return Model(number == 0 ? op.getProducts() : op.getDistances(), axis);
      })
      .Case([&](MergeOp op) { // without the parts
        return Model(op->getOperand(number), axis == 0 ? 0 : axis + 1);
      })
      .Default([](Operation *) { return Model(Value(), 0); });
}

static FailureOr<SmallVector<Value>> getDynamicSizes(OpBuilder &b,
                                                     OpResult result) {
  auto type = cast<RankedTensorType>(result.getType());
  SmallVector<Value> sizes;
  ReifiedRankedShapedTypeDims shapes;
  bool isKnown = succeeded(reifyResultShapes(b, result.getOwner(), shapes));
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    if (!type.isDynamicDim(axis))
      continue;
    OpFoldResult size;
    if (auto [model, from] = getModel(result, axis); model)
      size = tensor::getMixedSize(b, result.getLoc(), model, from);
    else if (isKnown)
      size = shapes[result.getResultNumber()][axis];
    else
      return failure();
    sizes.push_back(getValueOrCreateConstantIndexOp(b, result.getLoc(), size));
  }
  return sizes;
}

/// Where a new buffer comes from, for those who read generated code.
static Location getNamedLocation(OpResult result) {
  Operation *op = result.getOwner();
  std::string name = op->getName().stripDialect().str();
  if (auto named = dyn_cast<OpAsmOpInterface>(op);
      named && op->getNumResults() > 1)
    named.getAsmResultNames([&](Value value, StringRef own) {
      if (value == result)
        name += ("_" + own).str();
    });
  return NameLoc::get(StringAttr::get(op->getContext(), name), op->getLoc());
}

static MemRefType getNewBufferType(Value result) {
  auto type = cast<RankedTensorType>(result.getType());
  return MemRefType::get(type.getShape(), type.getElementType());
}

static FailureOr<Value> makeBuffer(OpBuilder &b, OpResult result,
                                   const BufferizationOptions &options) {
  FailureOr<SmallVector<Value>> sizes = getDynamicSizes(b, result);
  if (failed(sizes))
    return failure();
  return options.createAlloc(b, getNamedLocation(result),
                             getNewBufferType(result), *sizes);
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

namespace {

/// Builds the rt_tile.compute of an op.
class ComputeBuilder {
public:
  ComputeBuilder(RewriterBase &rewriter, Operation *op,
                 const BufferizationOptions &options,
                 const BufferizationState &state)
      : b(rewriter), op(op), options(options), state(state) {}

  LogicalResult run() {
    if (failed(collectInputs()) || failed(collectOutputs()))
      return failure();
    auto compute = ComputeOp::create(b, op->getLoc(), inputs, outputs);
    fillBody(compute);
    replaceOpWithBufferizedValues(b, op, outputs);
    return success();
  }

private:
  LogicalResult collectInputs() {
    for (OpOperand &operand : op->getOpOperands())
      if (isa<RankedTensorType>(operand.get().getType()) &&
          !getResultOf(operand))
        if (failed(add(operand, inputs)))
          return failure();
    return success();
  }

  LogicalResult collectOutputs() {
    for (OpResult result : op->getResults()) {
      if (OpOperand *init = getInit(op, result.getResultNumber())) {
        if (failed(add(*init, outputs)))
          return failure();
        continue;
      }
      FailureOr<Value> buffer = makeBuffer(b, result, options);
      if (failed(buffer))
        return failure();
      outputs.push_back(*buffer);
    }
    return success();
  }

  LogicalResult add(OpOperand &operand, SmallVector<Value> &buffers) {
    FailureOr<Value> buffer = getBuffer(b, operand.get(), options, state);
    if (failed(buffer))
      return failure();
    numbers[operand.getOperandNumber()] = inputs.size() + outputs.size();
    buffers.push_back(*buffer);
    return success();
  }

  void fillBody(ComputeOp compute) {
    OpBuilder::InsertionGuard guard(b);
    Block *block = b.createBlock(&compute.getBody());
    for (Value buffer : compute->getOperands())
      block->addArgument(memref::getTensorTypeFromMemRefType(buffer.getType()),
                         op->getLoc());
    Operation *inner = b.clone(*op);
    for (auto [operand, argument] : numbers)
      inner->setOperand(operand, block->getArgument(argument));
    YieldOp::create(b, op->getLoc(), inner->getResults());
  }

  RewriterBase &b;
  Operation *op;
  const BufferizationOptions &options;
  const BufferizationState &state;
  SmallVector<Value> inputs, outputs;
  llvm::SmallDenseMap<unsigned, unsigned> numbers; ///< operand to argument
};

template <typename Op>
struct Model : BufferizableOpInterface::ExternalModel<Model<Op>, Op> {
  bool bufferizesToAllocation(Operation *op, Value value) const {
    return !getInit(op, cast<OpResult>(value).getResultNumber());
  }
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return true;
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &operand,
                               const AnalysisState &) const {
    return getResultOf(operand).has_value();
  }
  /// Finished keys may stand where their sums stood.
  bool bufferizesToElementwiseAccess(Operation *op, const AnalysisState &,
                                     ArrayRef<OpOperand *> operands) const {
    auto finish = dyn_cast<KeyGradOp>(op);
    return finish && llvm::all_of(operands, [&](OpOperand *operand) {
             return operand == &finish.getSumsMutable() ||
                    operand == &finish.getKeysGradInMutable();
           });
  }
  AliasingValueList getAliasingValues(Operation *op, OpOperand &operand,
                                      const AnalysisState &) const {
    if (std::optional<unsigned> result = getResultOf(operand))
      return {{op->getResult(*result), BufferRelation::Equivalent}};
    return {};
  }
  FailureOr<BufferLikeType>
  getBufferType(Operation *op, Value value, const BufferizationOptions &options,
                const BufferizationState &state,
                SmallVector<Value> &invocations) const {
    if (OpOperand *init = getInit(op, cast<OpResult>(value).getResultNumber()))
      return bufferization::getBufferType(init->get(), options, state,
                                          invocations);
    return cast<BufferLikeType>(getNewBufferType(value));
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    return ComputeBuilder(rewriter, op, options, state).run();
  }
};

template <typename... Ops> void attach(MLIRContext *context) {
  (Ops::template attachInterface<Model<Ops>>(*context), ...);
}

} // namespace

void raytention::tile::registerBufferization(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, RayTentionDialect *) {
    context->loadDialect<RayTileDialect, memref::MemRefDialect>();
    attach<LookupOp, DistanceOp, InitOp, ScoreSweepOp, ReduceSweepOp, WeighOp,
           MergeOp, FinalizeOp, GradRowsOp, QueryGradSweepOp, KeyGradSweepOp,
           WeighGradOp, SumDifferencesOp, CopyGradOp, QueryGradOp, KeyGradOp,
           ParameterGradOp, ScatterAddOp>(context);
  });
}
