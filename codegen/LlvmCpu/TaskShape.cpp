//===- TaskShape.cpp - what a parallel loop works on ----------------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LlvmCpu/TaskShape.h"
#include "codegen/LlvmCpu/TaskLowering.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace raytention;

static int64_t getLastSize(Value value) {
  return cast<ShapedType>(value.getType()).getShape().back();
}

/// Whether a value is computed from the loop's counter.
static bool dependsOn(Value value, Value counter) {
  if (value == counter)
    return true;
  Operation *op = value.getDefiningOp();
  return op && op->getNumRegions() == 0 &&
         llvm::any_of(op->getOperands(), [&](Value operand) {
           return dependsOn(operand, counter);
         });
}

/// Whether a view moves along an axis with the loop.
static bool moves(Value memref, int64_t axis, Value counter) {
  for (memref = stripCasts(memref);
       auto view = memref.getDefiningOp<memref::SubViewOp>();
       memref = stripCasts(view.getSource())) {
    if (view.getSourceType().getRank() != view.getType().getRank())
      return false;
    auto offset = dyn_cast<Value>(view.getMixedOffsets()[axis]);
    if (offset && dependsOn(offset, counter))
      return true;
  }
  return false;
}

namespace {

/// Looks at one op after the other.
class ShapeFinder {
public:
  explicit ShapeFinder(scf::ForallOp loop)
      : loop(loop), counter(loop.getInductionVars().back()) {}

  FailureOr<TaskShape> run() {
    WalkResult walked = loop.walk([&](Operation *op) {
      visit(op);
      return isTwo ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (walked.wasInterrupted())
      return loop.emitOpError() << "expected rows of one static width, got "
                                << name(width) << " and " << name(other);
    if (!element)
      element = Float32Type::get(loop.getContext());
    return TaskShape{side.value_or(moving.value_or(PairSide::Query)), element,
                     width == 0 ? 1 : width};
  }

private:
  void visit(Operation *op) {
    compute = op->getParentOfType<tile::ComputeOp>();
    llvm::TypeSwitch<Operation *>(op)
        .Case<InitOp, ScoreSweepOp, ReduceSweepOp, WeighOp, MergeOp>(
            [&](auto) { side = PairSide::Query; })
        .Case([&](FinalizeOp op) {
          side = PairSide::Query;
          setWidth(getLastSize(op.getTable()));
        })
        .Case([&](QueryGradOp op) {
          side = PairSide::Query;
          setWidth(getLastSize(op.getQueriesGrad()));
        })
        .Case([&](KeyGradOp op) {
          side = PairSide::Key;
          setWidth(getLastSize(op.getKeysGrad()));
        })
        .Case([&](CopyGradOp op) {
          side = PairSide::Key;
          setWidth(getLastSize(op.getSums()));
        })
        .Case([&](SumDifferencesOp op) {
          side = op.getSide();
          setWidth(getLastSize(op.getSums()));
        })
        .Case([&](LookupOp op) {
          setWidth(getLastSize(op.getTable()));
          see(op.getIndices(), 1, PairSide::Key);
        })
        .Case([&](DistanceOp op) {
          setWidth(getLastSize(op.getQueries()));
          see(op.getQueries(), 1, PairSide::Query);
          see(op.getKeys(), 1, PairSide::Key);
        })
        .Case([&](GradRowsOp op) {
          setWidth(getLastSize(op.getStack()));
          see(op.getSignals(), 1, PairSide::Query);
        })
        .Case([&](WeighGradOp op) {
          if (op.getFloats())
            side = PairSide::Query;
          see(op.getDistances(), 1, PairSide::Query);
          see(op.getDistances(), 2, PairSide::Key);
        })
        .Case([&](linalg::ContractOp op) { visitProduct(op); });
    for (Type type : op->getResultTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        setElement(tensor.getElementType());
  }

  void visitProduct(linalg::ContractOp op) {
    setElement(getElementTypeOrSelf(op.getOutputs()[0].getType()));
    int64_t depth = getLastSize(op.getInputs()[0]);
    if (multipliesStack(op) && !ShapedType::isDynamic(depth)) {
      setWidth(depth);
      see(op.getInputs()[0], 2, PairSide::Query);
      see(op.getInputs()[1], 1, PairSide::Key);
      return;
    }
    for (PairSide own : {PairSide::Query, PairSide::Key})
      if (sumsWeighted(op, own)) {
        side = own;
        setWidth(getLastSize(op.getOutputs()[0]));
      }
  }

  void see(Value tensor, int64_t axis, PairSide of) {
    Value memref = compute ? compute.getBuffer(tensor) : tensor;
    if (!moving && memref && moves(memref, axis, counter))
      moving = of;
  }
  void setWidth(int64_t own) {
    width = width == 0 ? own : width;
    other = own;
    isTwo = own != width || ShapedType::isDynamic(own);
  }
  static std::string name(int64_t size) {
    return ShapedType::isDynamic(size) ? "?" : std::to_string(size);
  }
  /// Accumulators are f32 or f64, whatever is looked up.
  void setElement(Type type) {
    auto own = dyn_cast<FloatType>(type);
    if (!element && own && own.getWidth() >= 32)
      element = own;
  }

  scf::ForallOp loop;
  Value counter;
  tile::ComputeOp compute;
  std::optional<PairSide> side, moving;
  FloatType element;
  int64_t width = 0, other = 0;
  bool isTwo = false;
};

} // namespace

FailureOr<TaskShape> raytention::findTaskShape(scf::ForallOp loop) {
  return ShapeFinder(loop).run();
}
