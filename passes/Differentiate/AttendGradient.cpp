//===- AttendGradient.cpp - the derivative of rt.attend ------------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Differentiate/GradientBuilder.h"
#include "passes/Differentiate/Gradients.h"

#include "dialect/RayTention/Differentiable.h"
#include "dialect/RayTention/GradientLayout.h"
#include "dialect/RayTention/RayTention.h"
#include "dialect/RayTention/TensorBuilder.h"

using namespace mlir;
using namespace raytention;

namespace {

/// Everything that rt.attend_grad takes from the attention.
constexpr Saved kResiduals[] = {Saved::Norm, Saved::Indices, Saved::LogSums};

RankedTensorType getSavedType(AttendOp op, Saved saved) {
  Value signals = op.getSignals();
  Type element = cast<RankedTensorType>(signals.getType()).getElementType();
  switch (saved) {
  case Saved::Norm:
    return getTypeLike(signals, {0, 1}, {}, element);
  case Saved::Indices:
    return getTypeLike(signals, {0, 1}, {getNumCopies(op.getChannels())},
                       IntegerType::get(op.getContext(), 32));
  case Saved::LogSums:
    return getTypeLike(signals, {0, 1},
                       {GradientLayout::get(op.getChannels()).numSaved},
                       element);
  }
  llvm_unreachable("a saved value is one of the enum");
}

/// The number of the result that holds a saved value, if any.
std::optional<unsigned> findSaved(AttendOp op, Saved saved) {
  ArrayAttr saves = op.getSavesAttr();
  for (auto [number, attr] :
       llvm::enumerate(saves ? saves.getValue() : ArrayRef<Attribute>()))
    if (cast<SavedAttr>(attr).getValue() == saved)
      return number + 1;
  return std::nullopt;
}

/// The same attention, which saves what the gradient needs beside what it did.
AttendOp saveResiduals(RewriterBase &rewriter, AttendOp op) {
  SmallVector<Attribute> saves;
  SmallVector<Type> types(op->getResultTypes());
  if (ArrayAttr before = op.getSavesAttr())
    llvm::append_range(saves, before);
  for (Saved saved : kResiduals) {
    if (findSaved(op, saved))
      continue;
    saves.push_back(SavedAttr::get(op.getContext(), saved));
    types.push_back(getSavedType(op, saved));
  }
  if (types.size() == op->getNumResults())
    return op;
  auto all = AttendOp::create(rewriter, op.getLoc(), types, op->getOperands(),
                              op->getAttrs());
  all->setAttrs(op->getAttrs());
  all.setSavesAttr(rewriter.getArrayAttr(saves));
  rewriter.replaceOp(op, all->getResults().take_front(op->getNumResults()));
  return all;
}

struct AttendGradient
    : public DifferentiableOpInterface::ExternalModel<AttendGradient,
                                                      AttendOp> {
  SmallVector<Value> prepareForward(Operation *op,
                                    RewriterBase &rewriter) const {
    AttendOp all = saveResiduals(rewriter, cast<AttendOp>(op));
    SmallVector<Value> residuals = {all.getSignals()};
    for (Saved saved : kResiduals)
      residuals.push_back(all->getResult(*findSaved(all, saved)));
    return residuals;
  }

  FailureOr<SmallVector<Value>> buildAdjoints(Operation *op, OpBuilder &b,
                                              ValueRange operands,
                                              ValueRange results,
                                              ValueRange adjoints) const {
    auto attend = cast<AttendOp>(op);
    for (Value adjoint : adjoints.drop_front())
      if (adjoint)
        return attend.emitOpError()
               << "expected a gradient of the signals only, got one of a "
                  "saved value";
    AttendOp::Adaptor in(operands, attend);
    auto getResult = [&](Saved saved) {
      return results[*findSaved(attend, saved)];
    };
    auto getType = [](Value value) { return getAdjointType(value.getType()); };
    auto gradient = AttendGradOp::create(
        b, op->getLoc(),
        TypeRange{getType(in.getQueries()), getType(in.getTable()),
                  getType(in.getTau()), getType(in.getGammas())},
        in.getQueries(), in.getTable(), in.getIds(), in.getTau(),
        in.getGammas(), in.getQueryOffset(), in.getLengths(), results[0],
        getResult(Saved::Norm), getResult(Saved::Indices),
        getResult(Saved::LogSums), adjoints[0], attend.getChannelsAttr(),
        attend.getMetricAttr(), attend.getDecayOriginAttr(),
        attend.getPrecisionAttr(), attend.getMaskAttr());
    SmallVector<Value> all(operands.size());
    for (auto [operand, adjoint] :
         {std::pair(attend.getQueries(), gradient.getQueriesGrad()),
          {attend.getTable(), gradient.getTableGrad()},
          {attend.getTau(), gradient.getTauGrad()},
          {attend.getGammas(), gradient.getGammasGrad()}})
      for (OpOperand &use : op->getOpOperands())
        if (use.get() == operand)
          all[use.getOperandNumber()] = adjoint;
    return all;
  }
};

} // namespace

void raytention::registerAttendGradient(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, RayTentionDialect *) {
    AttendOp::attachInterface<AttendGradient>(*context);
  });
}
