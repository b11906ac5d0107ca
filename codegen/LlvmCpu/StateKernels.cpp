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
