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

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace raytention;
using namespace raytention::tile;

Attribute raytention::tile::getMemorySpace(Operation *op) {
  if (!op->getParentOfType<scf::ForallOp>())
    return {};
  return gpu::AddressSpaceAttr::get(op->getContext(),
                                    gpu::AddressSpace::Workgroup);
}

static MemRefType getNewBufferType(OpResult result) {
  auto type = cast<RankedTensorType>(result.getType());
  return MemRefType::get(type.getShape(), type.getElementType(),
                         MemRefLayoutAttrInterface(),
                         getMemorySpace(result.getOwner()));
}

static FailureOr<Value> makeBuffer(OpBuilder &b, OpResult result,
                                   const BufferizationOptions &options) {
  ReifiedRankedShapedTypeDims shapes;
  if (failed(reifyResultShapes(b, result.getOwner(), shapes)))
    return failure();
  SmallVector<int64_t> fixed;
  SmallVector<Value> dynamic;
  dispatchIndexOpFoldResults(shapes[result.getResultNumber()], dynamic, fixed);
  return options.createAlloc(b, result.getLoc(), getNewBufferType(result),
                             dynamic);
}

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
    auto destination = dyn_cast<DestinationStyleOpInterface>(op);
    for (OpOperand &operand : op->getOpOperands())
      if (isa<RankedTensorType>(operand.get().getType()) &&
          !(destination && destination.isDpsInit(&operand)))
        if (failed(add(operand, inputs)))
          return failure();
    return success();
  }

  LogicalResult collectOutputs() {
    if (auto destination = dyn_cast<DestinationStyleOpInterface>(op)) {
      for (OpOperand &init : destination.getDpsInitsMutable())
        if (failed(add(init, outputs)))
          return failure();
      return success();
    }
    for (OpResult result : op->getResults()) {
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

/// An op that writes the buffers of its initial values.
template <typename Op>
struct DestinationModel
    : DstBufferizableOpInterfaceExternalModel<DestinationModel<Op>, Op> {
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    return ComputeBuilder(rewriter, op, options, state).run();
  }
};

/// An op that starts from nothing.
template <typename Op>
struct ProducerModel
    : BufferizableOpInterface::ExternalModel<ProducerModel<Op>, Op> {
  bool bufferizesToAllocation(Operation *, Value) const { return true; }
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return true;
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &,
                               const AnalysisState &) const {
    return false;
  }
  AliasingValueList getAliasingValues(Operation *, OpOperand &,
                                      const AnalysisState &) const {
    return {};
  }
  FailureOr<BufferLikeType> getBufferType(Operation *, Value value,
                                          const BufferizationOptions &,
                                          const BufferizationState &,
                                          SmallVector<Value> &) const {
    return cast<BufferLikeType>(getNewBufferType(cast<OpResult>(value)));
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    return ComputeBuilder(rewriter, op, options, state).run();
  }
};

template <template <typename> typename Model, typename... Ops>
void attach(MLIRContext *context) {
  (Ops::template attachInterface<Model<Ops>>(*context), ...);
}

} // namespace

void raytention::tile::registerBufferization(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, RayTentionDialect *) {
    context
        ->loadDialect<RayTileDialect, gpu::GPUDialect, memref::MemRefDialect>();
    attach<DestinationModel, ScoreSweepOp, ReduceSweepOp, FinalizeOp>(context);
    attach<ProducerModel, LookupOp, DistanceOp, InitOp, WeighOp>(context);
  });
}
