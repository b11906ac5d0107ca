//===- Slicer.cpp - slices along batch, rows and keys ------ -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/Slicer.h"

using namespace mlir;
using namespace raytention::pairs;

LogicalResult raytention::pairs::getLoopTile(
    Value result, ArrayRef<Axis> axes, ArrayRef<Range> domain,
    ArrayRef<OpFoldResult> begin, ArrayRef<OpFoldResult> extent,
    SmallVectorImpl<OpFoldResult> &offsets,
    SmallVectorImpl<OpFoldResult> &sizes) {
  for (const Range &range : domain) {
    offsets.push_back(range.offset);
    sizes.push_back(range.size);
  }
  auto type = cast<RankedTensorType>(result.getType());
  for (auto [dim, axis] : llvm::enumerate(axes)) {
    if (axis != Whole) {
      offsets[axis] = begin[dim];
      sizes[axis] = extent[dim];
    } else if (!isZeroInteger(begin[dim]) ||
               getConstantIntValue(extent[dim]) != type.getDimSize(dim)) {
      return failure();
    }
  }
  return success();
}
