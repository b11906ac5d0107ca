//===- ClearPaddingGradient.cpp - rt.clear_padding -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Differentiate/Gradients.h"

#include "dialect/RayTention/Differentiable.h"
#include "dialect/RayTention/RayTention.h"

using namespace mlir;
using namespace raytention;

namespace {

/// The adjoint without its rows beyond the sequence.
struct ClearPaddingGradient
    : public DifferentiableOpInterface::ExternalModel<ClearPaddingGradient,
                                                      ClearPaddingOp> {
  FailureOr<SmallVector<Value>> buildAdjoints(Operation *op, OpBuilder &b,
                                              ValueRange operands, ValueRange,
                                              ValueRange adjoints) const {
    ClearPaddingOp::Adaptor in(operands, cast<ClearPaddingOp>(op));
    SmallVector<Value> operandAdjoints(operands.size());
    operandAdjoints[0] = ClearPaddingOp::create(
        b, op->getLoc(), adjoints[0].getType(), adjoints[0],
        in.getQueryOffset(), in.getLengths());
    return operandAdjoints;
  }
};

} // namespace

void raytention::registerClearPaddingGradient(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, RayTentionDialect *) {
    ClearPaddingOp::attachInterface<ClearPaddingGradient>(*context);
  });
}
