//===- TensorGradient.cpp - the derivatives of tensor ops -------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Differentiate/GradientBuilder.h"
#include "passes/Differentiate/Gradients.h"

#include "dialect/RayTention/Differentiable.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace raytention;

namespace {

/// The source's adjoint is that slice of the result's; the destination's is
/// the rest, with zeros in the slice.
struct InsertSliceGradient
    : public DifferentiableOpInterface::ExternalModel<InsertSliceGradient,
                                                      tensor::InsertSliceOp> {
  FailureOr<SmallVector<Value>> buildAdjoints(Operation *op, OpBuilder &b,
                                              ValueRange operands, ValueRange,
                                              ValueRange adjoints) const {
    Location loc = op->getLoc();
    auto insert = cast<tensor::InsertSliceOp>(op);
    tensor::InsertSliceOp::Adaptor in(operands, insert);
    auto offsets =
        getMixedValues(insert.getStaticOffsets(), in.getOffsets(), b);
    auto sizes = getMixedValues(insert.getStaticSizes(), in.getSizes(), b);
    auto strides =
        getMixedValues(insert.getStaticStrides(), in.getStrides(), b);
    SmallVector<Value> operandAdjoints(operands.size());
    auto type = cast<RankedTensorType>(getAdjointType(insert.getSourceType()));
    operandAdjoints[0] = tensor::ExtractSliceOp::create(
        b, loc, type, adjoints[0], offsets, sizes, strides);
    operandAdjoints[1] = tensor::InsertSliceOp::create(
        b, loc, makeZeroAdjoint(b, loc, operandAdjoints[0]), adjoints[0],
        offsets, sizes, strides);
    return operandAdjoints;
  }
};

/// The same elements in the source's shape.
struct ExpandShapeGradient
    : public DifferentiableOpInterface::ExternalModel<ExpandShapeGradient,
                                                      tensor::ExpandShapeOp> {
  FailureOr<SmallVector<Value>> buildAdjoints(Operation *op, OpBuilder &b,
                                              ValueRange operands, ValueRange,
                                              ValueRange adjoints) const {
    auto expand = cast<tensor::ExpandShapeOp>(op);
    SmallVector<Value> operandAdjoints(operands.size());
    operandAdjoints[0] = tensor::CollapseShapeOp::create(
        b, op->getLoc(), getAdjointType(expand.getSrcType()), adjoints[0],
        expand.getReassociationIndices());
    return operandAdjoints;
  }
};

/// A cast back.
struct CastGradient
    : public DifferentiableOpInterface::ExternalModel<CastGradient,
                                                      tensor::CastOp> {
  FailureOr<SmallVector<Value>> buildAdjoints(Operation *op, OpBuilder &b,
                                              ValueRange operands, ValueRange,
                                              ValueRange adjoints) const {
    Type type = getAdjointType(op->getOperand(0).getType());
    return SmallVector<Value>{
        tensor::CastOp::create(b, op->getLoc(), type, adjoints[0])};
  }
};

} // namespace

void raytention::registerTensorGradient(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tensor::TensorDialect *) {
    tensor::InsertSliceOp::attachInterface<InsertSliceGradient>(*context);
    tensor::ExpandShapeOp::attachInterface<ExpandShapeGradient>(*context);
    tensor::CastOp::attachInterface<CastGradient>(*context);
  });
}
