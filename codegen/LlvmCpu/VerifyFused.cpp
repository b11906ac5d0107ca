//===- VerifyFused.cpp - what the CPU lowering takes for granted ----------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LlvmCpu/VerifyFused.h"
#include "codegen/LlvmCpu/TaskLowering.h"
#include "codegen/LlvmCpu/VerifyUpdates.h"
#include "dialect/RayTention/RayTention.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace raytention;

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static Value stripCasts(Value value) {
  while (auto cast = value.getDefiningOp<tensor::CastOp>())
    value = cast.getSource();
  return value;
}

static bool isArgument(Value value) {
  auto argument = dyn_cast<BlockArgument>(stripCasts(value));
  return argument && isa<func::FuncOp>(argument.getOwner()->getParentOp());
}

static LogicalResult verifyArgument(Operation *op, StringRef what,
                                    Value value) {
  if (isArgument(value))
    return success();
  return op->emitOpError() << "on the CPU expected " << what
                           << " that is an argument of the function, got "
                           << value;
}

/// Slices between gammas and the argument that they are of.
static Value stripSlices(Value value) {
  value = stripCasts(value);
  while (auto slice = value.getDefiningOp<tensor::ExtractSliceOp>())
    value = stripCasts(slice.getSource());
  return value;
}

static LogicalResult verifyParameters(Operation *op, Value tau, Value gammas) {
  if (failed(verifyArgument(op, "tau", tau)) ||
      failed(verifyArgument(op, "gammas", stripSlices(gammas))))
    return failure();
  for (Value value = stripCasts(gammas); !isArgument(value);) {
    auto slice = value.getDefiningOp<tensor::ExtractSliceOp>();
    if (slice.isDynamicOffset(0))
      return op->emitOpError()
             << "on the CPU expected gammas from a constant offset on, got "
             << value;
    value = stripCasts(slice.getSource());
  }
  return success();
}

int64_t raytention::getFirstGamma(Value gammas) {
  int64_t first = 0;
  for (Value value = stripCasts(gammas); !isArgument(value);) {
    auto slice = value.getDefiningOp<tensor::ExtractSliceOp>();
    first += slice.getStaticOffset(0);
    value = stripCasts(slice.getSource());
  }
  return first;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static LogicalResult verify(linalg::FillOp op) {
  if (matchPattern(op.getInputs()[0], m_AnyZeroFloat()) ||
      matchPattern(op.getInputs()[0], m_Zero()))
    return success();
  return op.emitOpError() << "on the CPU expected sums that start at 0, got "
                          << op.getInputs()[0];
}

/// The loops of each operand as letters in the order in which they appear.
static std::string spellLoops(linalg::ContractOp op) {
  llvm::DenseMap<unsigned, char> letters;
  std::string text;
  for (AffineMap map : op.getIndexingMapsArray()) {
    for (AffineExpr expr : map.getResults()) {
      unsigned loop = cast<AffineDimExpr>(expr).getPosition();
      text += letters.try_emplace(loop, 'a' + letters.size()).first->second;
    }
    text += ' ';
  }
  return text;
}

/// A gradient's products `G_ci . k_j` are read by rt.weigh_grad.
static LogicalResult verify(linalg::ContractOp op) {
  bool startsProducts = llvm::any_of(
      op->getUsers(), [](Operation *user) { return isa<WeighGradOp>(user); });
  std::string loops = spellLoops(op);
  bool isKnown = startsProducts
                     ? loops == "abcd aed abce "
                     : loops == "abcd ade abce " || loops == "abcd abce ade ";
  if (isKnown)
    return success();
  return op.emitOpError()
         << "on the CPU expected the indexing maps of weights and keys, of "
            "weights and the stack, or of the stack and keys, got those of "
         << "'" << StringRef(loops).rtrim() << "'";
}

static LogicalResult verify(tensor::ExtractSliceOp op) {
  if (op.hasUnitStride())
    return success();
  return op.emitOpError() << "on the CPU expected a slice of stride 1";
}

/// A loop over tiles writes all of its results, or what it leaves is anything.
static LogicalResult verify(scf::ForallOp op) {
  if (!isa<func::FuncOp>(op->getParentOp()))
    return success();
  for (Value output : op.getOutputs())
    if (!stripCasts(output).getDefiningOp<tensor::EmptyOp>())
      return op.emitOpError() << "on the CPU expected outputs from "
                                 "tensor.empty, got "
                              << output;
  return success();
}

static LogicalResult verify(scf::IfOp op) {
  if (isScalarCode(op))
    return success();
  return op.emitOpError() << "on the CPU expected branches on scalars only";
}

static LogicalResult verifyOp(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<linalg::FillOp, linalg::ContractOp, tensor::ExtractSliceOp,
            scf::ForallOp, scf::IfOp>([](auto typed) { return verify(typed); })
      .Case<ScoreSweepOp, ReduceSweepOp, WeighOp, GradRowsOp, WeighGradOp,
            QueryGradOp, KeyGradOp>([](auto typed) {
        return verifyParameters(typed, typed.getTau(), typed.getGammas());
      })
      .Case([](LookupOp lookup) {
        return verifyArgument(lookup, "a table", lookup.getTable());
      })
      .Case([](FinalizeOp finish) {
        return success(
            succeeded(verifyArgument(finish, "a table", finish.getTable())) &&
            succeeded(
                verifyParameters(finish, finish.getTau(), finish.getGammas())));
      })
      .Default([](Operation *) { return success(); });
}

LogicalResult raytention::verifyFused(func::FuncOp func) {
  if (!func.getBody().hasOneBlock())
    return func.emitOpError() << "on the CPU expected a body of one block";
  WalkResult walked = func.walk([](Operation *op) {
    return succeeded(verifyOp(op)) ? WalkResult::advance()
                                   : WalkResult::interrupt();
  });
  return success(!walked.wasInterrupted() && succeeded(verifyUpdates(func)));
}
