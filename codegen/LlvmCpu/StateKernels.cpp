//===- StateKernels.cpp - initial states and merged sums ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LlvmCpu/CpuKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace raytention;

void raytention::initState(KernelBuilder &k, ArrayRef<double> values,
                           Value state, Value parts) {
  auto type = cast<MemRefType>(state.getType());
  bool isPosition = type.getElementType().isInteger();
  ElementBuilder e(k.b, k.loc, k.layout.vectorType());
  k.loop(k.index(0), parts, 1, [&](Value part) {
    for (auto [field, value] : llvm::enumerate(values)) {
      Value initial = isPosition ? e.intConstant(value) : e.constant(value);
      for (int64_t lane = 0; lane < k.layout.itemLanes();
           lane += k.layout.lanes)
        k.storeVector(initial, state, {part, k.index(field), k.index(lane)});
    }
  });
}

void raytention::copyScores(KernelBuilder &k, const ScoreView &from,
                            Value count, const ScoreView &to) {
  k.loop(k.index(0), count, 1, [&](Value key) {
    for (int64_t lane = 0; lane < k.layout.itemLanes();
         lane += k.layout.lanes) {
      Value at = k.index(lane);
      Value scores = k.loadVector(from.data, {k.add(from.begin, key), at});
      k.storeVector(scores, to.data, {k.add(to.begin, key), at});
    }
  });
}

/// body(panel, row, lane) for every vector of one part of the sums.
static void forEachSum(KernelBuilder &k, Value sums,
                       llvm::function_ref<void(Value, Value, Value)> body) {
  auto type = cast<MemRefType>(sums.getType());
  Value zero = k.index(0);
  k.loop(zero, k.index(type.getDimSize(1)), 1, [&](Value panel) {
    k.loop(zero, k.index(type.getDimSize(2)), 1, [&](Value row) {
      for (int64_t lane = 0; lane < k.layout.panel; lane += k.layout.lanes)
        body(panel, row, k.index(lane));
    });
  });
}

void raytention::zeroSums(KernelBuilder &k, Value sums) {
  auto type = cast<MemRefType>(sums.getType());
  k.loop(k.index(0), k.index(type.getDimSize(0)), 1, [&](Value part) {
    forEachSum(k, sums, [&](Value panel, Value row, Value lane) {
      k.storeVector(k.zeroVector(), sums, {part, panel, row, lane});
    });
  });
}

void raytention::mergeSums(KernelBuilder &k, Value parts, int64_t numParts,
                           const PartView &merged) {
  ElementBuilder e(k.b, k.loc, k.layout.vectorType());
  Value zero = k.index(0);
  forEachSum(k, parts, [&](Value panel, Value row, Value lane) {
    Value first = k.loadVector(parts, {zero, panel, row, lane});
    Value sum =
        k.carry(k.index(1), k.index(numParts), 1, {first},
                [&](Value part, ValueRange acc) -> KernelBuilder::Values {
                  Value next = k.loadVector(parts, {part, panel, row, lane});
                  return {e.add(acc[0], next)};
                })[0];
    k.storeVector(sum, merged.data, {merged.part, panel, row, lane});
  });
}
