//===- VerifyStagePass.cpp - only what is legal at a stage -----*- C++ -*-===//
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Pipelines/Passes.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace raytention {
#define GEN_PASS_DEF_VERIFYSTAGEPASS
#include "passes/Pipelines/Passes.h.inc"
} // namespace raytention

using namespace mlir;
using namespace raytention;

namespace {

/// What a stage may hold: whole dialects and single ops of others.
struct Stage {
  StringRef name;
  SmallVector<StringRef> dialects, ops;
};

/// Whole or in loops.
SmallVector<StringRef> getProductOps() {
  return {"linalg.fill",    "linalg.contract",    "linalg.yield",
          "rt.lookup",      "rt.distance",        "rt.init",
          "rt.score_sweep", "rt.reduce_sweep",    "rt.weigh",
          "rt.merge",       "rt.finalize",        "rt.grad_rows",
          "rt.distinct",    "rt.fold_keys",       "rt.weigh_grad",
          "rt.sum_differences", "rt.copy_grad",
          "rt.query_grad",  "rt.key_grad",        "rt.parameter_grad",
          "rt.scatter_add"};
}

const SmallVector<Stage> &getStages() {
  static const SmallVector<Stage> stages = {
      {"attention",
       {"builtin", "func", "arith", "tensor"},
       {"rt.attend", "rt.attend_grad"}},
      {"reference",
       {"builtin", "func", "arith", "math", "tensor", "linalg"},
       {"rt.lookup", "rt.distance", "rt.softmax", "rt.decay", "rt.reduce",
        "rt.arg_select", "rt.normalize", "rt.scatter_add", "rt.clear_padding"}},
      {"linalg",
       {"builtin", "func", "arith", "math", "tensor", "linalg", "scf", "cf"},
       {}},
      {"sweeps",
       {"builtin", "func", "arith", "tensor"},
       {"linalg.fill", "linalg.yield", "rt.lookup", "rt.distance", "rt.init",
        "rt.score_sweep", "rt.reduce_sweep", "rt.merge", "rt.finalize",
        "rt.grad_rows", "rt.query_grad_sweep", "rt.key_grad_sweep",
        "rt.query_grad", "rt.key_grad", "rt.parameter_grad", "rt.scatter_add"}},
      {"products",
       {"builtin", "func", "arith", "tensor", "scf", "affine"},
       getProductOps()},
      {"tiled",
       {"builtin", "func", "arith", "tensor", "scf", "affine"},
       getProductOps()},
      {"kernels",
       {"builtin", "func", "arith", "scf", "memref", "gpu", "rt_tile"},
       {"linalg.fill", "linalg.contract", "linalg.yield", "rt.lookup",
        "rt.distance", "rt.init", "rt.score_sweep", "rt.reduce_sweep",
        "rt.weigh", "rt.finalize"}},
      {"plan",
       {"builtin", "func", "arith", "math", "scf", "memref", "gpu"},
       {}},
      {"cpu",
       {"builtin", "func", "arith", "math", "scf", "cf", "memref", "vector",
        "llvm"},
       {}},
      {"llvm", {"builtin", "llvm"}, {}},
  };
  return stages;
}

bool isLegal(const Stage &stage, Operation *op) {
  StringRef name = op->getName().getStringRef();
  return llvm::is_contained(stage.ops, name) ||
         llvm::is_contained(stage.dialects,
                            op->getName().getDialectNamespace());
}

struct VerifyStagePass
    : public raytention::impl::VerifyStagePassBase<VerifyStagePass> {
  using Base::Base;

  void runOnOperation() override {
    const Stage *found = llvm::find_if(
        getStages(), [&](const Stage &known) { return known.name == stage; });
    if (found == getStages().end()) {
      reportUnknown();
      return signalPassFailure();
    }
    WalkResult walked = getOperation()->walk([&](Operation *op) {
      ++numChecked;
      if (isLegal(*found, op))
        return WalkResult::advance();
      op->emitOpError() << "is not legal at stage " << found->name;
      return WalkResult::interrupt();
    });
    if (walked.wasInterrupted())
      signalPassFailure();
    markAllAnalysesPreserved();
  }

  void reportUnknown() {
    auto names = llvm::map_range(getStages(),
                                 [](const Stage &known) { return known.name; });
    getOperation()->emitError()
        << "expected a stage out of " << llvm::join(names, ", ") << ", got '"
        << stage << "'";
  }
};

} // namespace

std::unique_ptr<Pass> raytention::createVerifyStagePass(StringRef stage) {
  VerifyStagePassOptions options;
  options.stage = stage.str();
  return createVerifyStagePass(options);
}
