//===- LookupGradient.cpp - the derivative of rt.lookup ---------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Differentiate/GradientBuilder.h"
#include "passes/Differentiate/Gradients.h"

#include "dialect/RayTention/Differentiable.h"
#include "dialect/RayTention/RayTention.h"

using namespace mlir;
using namespace raytention;

namespace {

/// `dtable[indices[b, j]] += drows[b, j]`, per batch where the table has one.
struct LookupGradient
    : public DifferentiableOpInterface::ExternalModel<LookupGradient,
                                                      LookupOp> {
  FailureOr<SmallVector<Value>> buildAdjoints(Operation *op, OpBuilder &b,
                                              ValueRange operands, ValueRange,
                                              ValueRange adjoints) const {
    LookupOp::Adaptor in(operands, cast<LookupOp>(op));
    Value zeros = makeZeroAdjoint(b, op->getLoc(), in.getTable());
    Value table = ScatterAddOp::create(b, op->getLoc(), zeros.getType(),
                                       adjoints[0], zeros, in.getIndices());
    return SmallVector<Value>{table, {}};
  }
};

} // namespace

void raytention::registerLookupGradient(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, RayTentionDialect *) {
    LookupOp::attachInterface<LookupGradient>(*context);
  });
}
