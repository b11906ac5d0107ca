//===- ThreadLoops.cpp - element code over the threads of a block -*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/ThreadLoops.h"
#include "dialect/RayTention/elements/Score.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace raytention;

/// Of sums: terms that are added one behind the other.
static constexpr int64_t kSumBlock = 32;

/// Threads count through the points, the last dimension fastest.
static ArrayAttr getMapping(OpBuilder &b, size_t rank) {
  SmallVector<Attribute> mapping;
  for (int64_t dim = rank; dim-- > 0;)
    mapping.push_back(gpu::GPUThreadMappingAttr::get(
        b.getContext(),
        static_cast<gpu::MappingId>(
            static_cast<int64_t>(gpu::MappingId::LinearDim0) + dim)));
  return b.getArrayAttr(mapping);
}

void ThreadLoops::forEach(ArrayRef<OpFoldResult> sizes,
                          llvm::function_ref<void(ValueRange)> body) {
  auto loop = scf::ForallOp::create(b, loc, sizes, ValueRange(),
                                    getMapping(b, sizes.size()));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVars());
}

SmallVector<OpFoldResult> ThreadLoops::sizesOf(Value memref, int count) {
  SmallVector<OpFoldResult> sizes = memref::getMixedSizes(b, loc, memref);
  if (count >= 0)
    sizes.resize(count);
  return sizes;
}

Value ThreadLoops::size(Value memref, int64_t axis) {
  return getValueOrCreateConstantIndexOp(
      b, loc, memref::getMixedSize(b, loc, memref, axis));
}

Value ThreadLoops::loadFloat(Value memref, ValueRange indices) {
  Value value = load(memref, indices);
  if (value.getType() == e.getFloatType())
    return value;
  return arith::ExtFOp::create(b, loc, e.getFloatType(), value);
}

Value ThreadLoops::loadIndex(Value memref, ValueRange indices) {
  return toIndex(load(memref, indices));
}

Value ThreadLoops::allocate(ArrayRef<OpFoldResult> sizes) {
  SmallVector<int64_t> shape;
  SmallVector<Value> dynamic;
  dispatchIndexOpFoldResults(sizes, dynamic, shape);
  auto type = MemRefType::get(shape, e.getFloatType());
  return memref::AllocOp::create(b, loc, type, dynamic);
}

ParameterValues ThreadLoops::loadParameters(Value tau, Value gammas) {
  Values bases;
  auto type = cast<MemRefType>(gammas.getType());
  for (int64_t i = 0; i < type.getDimSize(0); ++i)
    bases.push_back(load(gammas, {index(i)}));
  return makeParameters(e, load(tau, {}), bases);
}

Value ThreadLoops::sum(Value count, llvm::function_ref<Value(Value)> term) {
  Value zero = e.constant(0);
  auto addBlock = [&](Value first, ValueRange total) -> Values {
    Value end = min(add(first, kSumBlock), count);
    Values block =
        carry(first, end, 1, {zero}, [&](Value i, ValueRange sum) -> Values {
          return {e.add(sum[0], term(i))};
        });
    return {e.add(total[0], block[0])};
  };
  return carry(index(0), count, kSumBlock, {zero}, addBlock)[0];
}
