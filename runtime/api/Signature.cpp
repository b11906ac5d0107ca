//===- Signature.cpp - what compiled functions take -----------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/api/Signature.h"
#include "dialect/RayTention/Differentiable.h"
#include "runtime/api/AttendBuilder.h"

#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
using namespace raytention;

namespace {

/// What a function takes and gives while it stands on tensors.
struct Signature {
  SmallVector<Type> inputs, results;
};

} // namespace

static Signature getForwardSignature(ArrayAttr channels,
                                     const AttentionSpec &spec,
                                     bool savesLogSums) {
  OwningOpRef<ModuleOp> model =
      buildAttendModule(channels, {}, spec, savesLogSums);
  auto func = model->lookupSymbol<func::FuncOp>(kAttendName);
  return {SmallVector<Type>(func.getArgumentTypes()),
          SmallVector<Type>(func.getResultTypes())};
}

/// As `--rt-differentiate` makes it.
static Signature getBackwardSignature(const Signature &forward) {
  Signature backward;
  backward.inputs = forward.inputs;
  llvm::append_range(backward.inputs, forward.results);
  backward.inputs.push_back(getAdjointType(forward.results.front()));
  for (Type type : forward.inputs)
    if (isa<RankedTensorType>(type) && getAdjointType(type))
      backward.results.push_back(getAdjointType(type));
  return backward;
}

/// Whether the last argument is bytes that @NAME_scratch counts.
static bool hasScratch(func::FuncOp func) {
  auto module = func->getParentOfType<ModuleOp>();
  auto count = module ? module.lookupSymbol<func::FuncOp>(
                            (func.getName() + "_scratch").str())
                      : func::FuncOp();
  return count && count.isPublic() && count.getNumResults() == 1 &&
         func.getNumArguments() > 0;
}

/// Whether `func` takes what a run hands over, on tensors or on buffers.
static llvm::Error checkSignature(func::FuncOp func,
                                  const Signature &signature) {
  SmallVector<Type> expected = signature.inputs;
  ArrayRef<Type> given = func.getArgumentTypes();
  bool onBuffers = func.getNumResults() == 0;
  if (onBuffers) {
    llvm::append_range(expected, signature.results);
    if (hasScratch(func))
      given = given.drop_back();
  }
  auto mismatch = [&](const Twine &what) {
    return llvm::createStringError("expected @" + func.getName() + " to have " +
                                   what);
  };
  if (given.size() != expected.size())
    return mismatch(Twine(expected.size()) + " arguments, got " +
                    Twine(given.size()));
  for (auto [index, type] : llvm::enumerate(given)) {
    auto shaped = dyn_cast<ShapedType>(type);
    auto model = dyn_cast<ShapedType>(expected[index]);
    bool same = shaped && model
                    ? shaped.getElementType() == model.getElementType() &&
                          shaped.hasRank() &&
                          succeeded(verifyCompatibleShape(shaped, model))
                    : type == expected[index];
    if (!same)
      return mismatch("argument " + Twine(index) + " like " +
                      llvm::to_string(expected[index]) + ", got " +
                      llvm::to_string(type));
  }
  return llvm::Error::success();
}

llvm::Error raytention::checkForward(func::FuncOp func, ArrayAttr channels,
                                     const AttentionSpec &spec,
                                     bool savesLogSums) {
  return checkSignature(func,
                        getForwardSignature(channels, spec, savesLogSums));
}

llvm::Error raytention::checkBackward(func::FuncOp func, ArrayAttr channels,
                                      const AttentionSpec &spec,
                                      bool savesLogSums) {
  Signature forward = getForwardSignature(channels, spec, savesLogSums);
  return checkSignature(func, getBackwardSignature(forward));
}
