//===- ProgramCutter.cpp - a fused loop as several parallel ones ----------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/exec/ProgramCutter.h"
#include "passes/Tile/Bounds.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace raytention;
using namespace raytention::test;

ProgramCutter::ProgramCutter(ModuleOp module, StringRef function)
    : func(module.lookupSymbol<func::FuncOp>(function)), b(func),
      loc(func.getLoc()) {}

Value ProgramCutter::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Value ProgramCutter::number(OpFoldResult size) {
  return getValueOrCreateConstantIndexOp(b, loc, size);
}

/// Of all sequences; the ids are the third argument.
Value ProgramCutter::numKeys() {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&func.getBody().front());
  return tensor::DimOp::create(b, loc, func.getArgument(2), 1);
}

Value ProgramCutter::numQueries() {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&func.getBody().front());
  return tensor::DimOp::create(b, loc, func.getArgument(0), 1);
}

static int64_t getRowAxis(Value value) {
  return cast<RankedTensorType>(value.getType()).getRank() - 2;
}

int64_t ProgramCutter::getTileAxis(Value value) const {
  return getRowAxis(value) + (columnTiles.contains(value) ? 1 : 0);
}

ProgramCutter::Sizes ProgramCutter::getWholeSizes(scf::ForallOp loop,
                                                  Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  Sizes sizes;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    if (axis == 0)
      sizes.push_back(loop.getMixedUpperBound()[0]);
    else if (axis == getTileAxis(value))
      sizes.push_back(rowsOf.contains(loop) ? rowsOf[loop].second
                                            : loop.getMixedUpperBound()[1]);
    else if (type.isDynamicDim(axis))
      sizes.push_back(axis == getRowAxis(value) ? numQueries() : numKeys());
    else
      sizes.push_back(b.getIndexAttr(type.getDimSize(axis)));
  }
  return sizes;
}

/// The size of a tile along an axis, as the code names it.
static OpFoldResult getTileSize(Value value, int64_t axis) {
  if (auto op = value.getDefiningOp<GradRowsOp>();
      op && axis == cast<RankedTensorType>(value.getType()).getRank() - 2)
    return findSize(op.getSignals(), 1);
  if (auto op = value.getDefiningOp<WeighOp>(); op && axis >= 2)
    return findSize(op.getDistances(), axis - 1);
  if (auto op = value.getDefiningOp<WeighGradOp>())
    value = value == op.getWeights() ? op.getProducts() : op.getDistances();
  return findSize(value, axis);
}

/// What is made again where it is read.
static bool isLight(Operation *op) {
  return isa<tensor::ExtractSliceOp, tensor::EmptyOp, tensor::DimOp,
             linalg::FillOp, InitOp>(op) ||
         op->getDialect()->getNamespace() == "arith";
}

static SmallVector<OpFoldResult> ones(OpBuilder &b, int64_t rank) {
  return SmallVector<OpFoldResult>(rank, b.getIndexAttr(1));
}

void ProgramCutter::cutBefore(Operation *op) {
  auto loop = op->getParentOfType<scf::ForallOp>();
  op = loop.getBody()->findAncestorOpInBlock(*op);
  SmallVector<Operation *> first;
  SmallVector<Value> crossing;
  for (Operation &own : *loop.getBody()) {
    if (&own == op)
      break;
    first.push_back(&own);
    if (!isLight(&own))
      for (Value result : own.getResults())
        if (llvm::any_of(result.getUsers(), [&](Operation *user) {
              return !loop.getBody()
                          ->findAncestorOpInBlock(*user)
                          ->isBeforeInBlock(op);
            }))
          crossing.push_back(result);
  }
  // What has no elements is made anew.
  llvm::erase_if(crossing, [&](Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    if (!llvm::is_contained(type.getShape(), 0))
      return false;
    b.setInsertionPoint(op);
    Sizes sizes;
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      sizes.push_back(getTileSize(value, axis));
    value.replaceUsesWithIf(
        tensor::EmptyOp::create(b, loc, sizes, type.getElementType()),
        [&](OpOperand &use) {
          return !loop.getBody()
                      ->findAncestorOpInBlock(*use.getOwner())
                      ->isBeforeInBlock(op);
        });
    return true;
  });
  Value base = rowsOf.contains(loop) ? rowsOf[loop].first : Value();
  b.setInsertionPoint(loop);
  SmallVector<Value> outputs;
  for (Value value : crossing)
    outputs.push_back(tensor::EmptyOp::create(
        b, loc, getWholeSizes(loop, value),
        cast<RankedTensorType>(value.getType()).getElementType()));
  auto front = scf::ForallOp::create(
      b, loc, loop.getMixedLowerBound(), loop.getMixedUpperBound(),
      loop.getMixedStep(), outputs, std::nullopt);
  rowsOf[front] = rowsOf.lookup(loop);
  if (!base)
    rowsOf.erase(front);
  // Where a tile stands in what passes.
  auto getPlace = [&](Value value, ValueRange counters, Sizes &offsets,
                      Sizes &sizes, const IRMapping &map) {
    for (int64_t axis = 0;
         axis < cast<RankedTensorType>(value.getType()).getRank(); ++axis) {
      offsets.push_back(b.getIndexAttr(0));
      OpFoldResult size = getTileSize(value, axis);
      if (auto own = dyn_cast<Value>(size))
        size = map.lookupOrDefault(own);
      sizes.push_back(size);
    }
    offsets[0] = counters[0];
    offsets[getTileAxis(value)] =
        base ? arith::SubIOp::create(b, loc, counters[1], base).getResult()
             : counters[1];
  };
  IRMapping map;
  map.map(loop.getInductionVars(), front.getInductionVars());
  b.setInsertionPoint(front.getTerminator());
  SmallVector<Operation *> clones;
  for (Operation *own : first)
    clones.push_back(b.clone(*own, map));
  SmallVector<std::pair<Sizes, Sizes>> places(crossing.size());
  for (auto [value, place] : llvm::zip(crossing, places))
    getPlace(value, front.getInductionVars(), place.first, place.second, map);
  b.setInsertionPointToStart(front.getTerminator().getBody());
  for (auto [value, place, argument] :
       llvm::zip(crossing, places, front.getRegionOutArgs()))
    tensor::ParallelInsertSliceOp::create(b, loc, map.lookup(value), argument,
                                          place.first, place.second,
                                          ones(b, place.first.size()));
  for (Operation *clone : llvm::reverse(clones))
    if (isOpTriviallyDead(clone))
      clone->erase();
  b.setInsertionPoint(op);
  for (auto [value, whole] : llvm::zip(crossing, front.getResults())) {
    passed[key(value)] = whole;
    Sizes offsets, sizes;
    getPlace(value, loop.getInductionVars(), offsets, sizes, IRMapping());
    Value read = tensor::ExtractSliceOp::create(
        b, loc, cast<RankedTensorType>(value.getType()), whole, offsets, sizes,
        ones(b, sizes.size()));
    value.replaceUsesWithIf(read, [&](OpOperand &use) {
      Operation *user = loop.getBody()->findAncestorOpInBlock(*use.getOwner());
      return user && !user->isBeforeInBlock(op) &&
             use.getOwner() != read.getDefiningOp();
    });
  }
  for (Operation *own : llvm::reverse(first))
    if (isOpTriviallyDead(own))
      own->erase();
}

Value ProgramCutter::keepChunks(Value value, bool isFull, bool areRows) {
  Operation *op = value.getDefiningOp();
  auto loop = op->getParentOfType<scf::ForOp>();
  auto type = cast<RankedTensorType>(value.getType());
  int64_t last = type.getRank() - 1, axis = areRows ? last - 1 : last;
  b.setInsertionPoint(loop);
  Sizes whole, sizes, offsets(last + 1, b.getIndexAttr(0));
  for (int64_t own = 0; own <= last; ++own)
    sizes.push_back(getTileSize(value, own));
  whole = sizes;
  whole[axis] = areRows  ? numQueries()
                : isFull ? numKeys()
                         : loop.getUpperBound();
  Value kept = tensor::EmptyOp::create(b, loc, whole, type.getElementType());
  if (isFull) {
    Value zero = arith::ConstantOp::create(
        b, loc, cast<TypedAttr>(b.getZeroAttr(type.getElementType())));
    kept = linalg::FillOp::create(b, loc, zero, kept).getResult(0);
  }
  auto front = scf::ForOp::create(b, loc, loop.getLowerBound(),
                                  loop.getUpperBound(), loop.getStep(), kept);
  IRMapping map;
  map.map(loop.getInductionVar(), front.getInductionVar());
  map.map(loop.getRegionIterArgs(), loop.getInits());
  b.setInsertionPointToStart(front.getBody());
  for (Operation &own : loop.getBody()->without_terminator()) {
    b.clone(own, map);
    if (&own == op)
      break;
  }
  for (OpFoldResult &size : sizes)
    if (auto own = dyn_cast<Value>(size))
      size = map.lookupOrDefault(own);
  offsets[axis] = front.getInductionVar();
  Value next = tensor::InsertSliceOp::create(b, loc, map.lookup(value),
                                             front.getRegionIterArgs()[0],
                                             offsets, sizes, ones(b, last + 1));
  scf::YieldOp::create(b, loc, next);
  b.setInsertionPointAfter(op);
  for (int64_t own = 0; own <= last; ++own)
    sizes[own] = getTileSize(value, own);
  offsets[axis] = loop.getInductionVar();
  Value read = tensor::ExtractSliceOp::create(
      b, loc, type, front.getResult(0), offsets, sizes, ones(b, last + 1));
  value.replaceAllUsesExcept(read, read.getDefiningOp());
  if (areRows)
    columnTiles.insert(front.getResult(0));
  return front.getResult(0);
}

void ProgramCutter::loopOverRows(scf::ForallOp loop, int64_t rows) {
  b.setInsertionPoint(loop);
  Value all = number(loop.getMixedUpperBound()[1]);
  auto host =
      scf::ForOp::create(b, loc, index(0), all, index(rows), loop.getOutputs());
  loop->replaceAllUsesWith(host.getResults());
  b.setInsertionPointToStart(host.getBody());
  Value first = host.getInductionVar();
  Value left = arith::SubIOp::create(b, loc, all, first);
  Value some = arith::MinSIOp::create(b, loc, left, index(rows));
  Value end = arith::AddIOp::create(b, loc, first, some);
  SmallVector<OpFoldResult> begins = loop.getMixedLowerBound(),
                            ends = loop.getMixedUpperBound();
  begins[1] = first;
  ends[1] = end;
  auto inner = scf::ForallOp::create(b, loc, begins, ends, loop.getMixedStep(),
                                     host.getRegionIterArgs(), std::nullopt);
  scf::YieldOp::create(b, loc, inner.getResults());
  inner.getTerminator()->erase();
  for (auto [from, to] : llvm::zip(loop.getBody()->getArguments(),
                                   inner.getBody()->getArguments()))
    from.replaceAllUsesWith(to);
  inner.getBody()->getOperations().splice(inner.getBody()->end(),
                                          loop.getBody()->getOperations());
  loop->erase();
  // A tile ends where the chunk of rows does.
  inner.getBody()->walk([&](arith::SubIOp op) {
    if (op.getLhs() == all && op.getRhs() == inner.getInductionVar(1))
      op.getLhsMutable().assign(end);
  });
  rowsOf[inner] = {first, some};
}

void ProgramCutter::hoistChunks(scf::ForallOp loop) {
  b.setInsertionPoint(loop);
  auto initial = cast<scf::ForallOp>(b.clone(*loop));
  auto initialChunks = *initial.getBody()->getOps<scf::ForOp>().begin();
  initialChunks->replaceAllUsesWith(initialChunks.getInits());
  initialChunks.erase();
  auto chunks = *loop.getBody()->getOps<scf::ForOp>().begin();
  Value step = index(*getConstantIntValue(chunks.getStep()));
  auto host = scf::ForOp::create(b, loc, index(0), numKeys(), step,
                                 initial.getResults());
  loop->replaceAllUsesWith(host.getResults());
  b.setInsertionPointToStart(host.getBody());
  loop->moveBefore(host.getBody(), host.getBody()->end());
  loop.getOutputsMutable().assign(host.getRegionIterArgs());
  b.setInsertionPointAfter(loop);
  scf::YieldOp::create(b, loc, loop.getResults());
  // What stands there is what the chunk adds to.
  b.setInsertionPoint(chunks);
  IRMapping map;
  map.map(chunks.getInductionVar(), host.getInductionVar());
  for (Operation &op : *loop.getTerminator().getBody()) {
    auto insert = cast<tensor::ParallelInsertSliceOp>(op);
    auto result = cast<OpResult>(insert.getSource());
    for (OpFoldResult offset : insert.getMixedOffsets())
      if (auto value = dyn_cast<Value>(offset); value && value.getDefiningOp())
        value.getDefiningOp()->moveBefore(chunks);
    map.map(chunks.getRegionIterArg(result.getResultNumber()),
            tensor::ExtractSliceOp::create(
                b, loc, cast<RankedTensorType>(result.getType()),
                insert.getDest(), insert.getMixedOffsets(),
                insert.getMixedSizes(), insert.getMixedStrides()));
  }
  for (auto [argument, init] :
       llvm::zip(chunks.getRegionIterArgs(), chunks.getInits()))
    if (!map.contains(argument))
      map.map(argument, init);
  for (Operation &op : chunks.getBody()->without_terminator()) {
    Operation *clone = b.clone(op, map);
    // A tile may see no key of the chunk.
    if (auto size = dyn_cast<arith::MinSIOp>(clone))
      map.map(op.getResult(0),
              arith::MaxSIOp::create(b, loc, size, index(0)).getResult());
  }
  for (auto [result, yielded] :
       llvm::zip(chunks.getResults(), chunks.getYieldedValues()))
    result.replaceAllUsesWith(map.lookupOrDefault(yielded));
  chunks.erase();
}

void ProgramCutter::lookUpOnce(int64_t chunk) {
  SmallVector<LookupOp> lookups;
  func.walk([&](LookupOp op) { lookups.push_back(op); });
  LookupOp one = lookups.front();
  Value ids = func.getArgument(2), keys = numKeys();
  Operation *after = keys.getDefiningOp();
  b.setInsertionPointAfter(after);
  auto type = cast<RankedTensorType>(one.getRows().getType());
  OpFoldResult batch = tensor::getMixedSize(b, loc, ids, 0);
  OpFoldResult width = b.getIndexAttr(type.getDimSize(2));
  OpFoldResult zero = b.getIndexAttr(0), unit = b.getIndexAttr(1);
  Value empty = tensor::EmptyOp::create(
      b, loc, ArrayRef<OpFoldResult>{batch, keys, width},
      type.getElementType());
  auto loop = scf::ForallOp::create(
      b, loc, ArrayRef<OpFoldResult>{zero, zero},
      ArrayRef<OpFoldResult>{batch, OpFoldResult(keys)},
      ArrayRef<OpFoldResult>{unit, b.getIndexAttr(chunk)}, empty, std::nullopt);
  b.setInsertionPoint(loop.getTerminator());
  Value entry = loop.getInductionVar(0), first = loop.getInductionVar(1);
  Value left = arith::SubIOp::create(b, loc, keys, first);
  OpFoldResult some =
      arith::MinSIOp::create(b, loc, left, index(chunk)).getResult();
  Value tile = tensor::ExtractSliceOp::create(
      b, loc, ids, ArrayRef<OpFoldResult>{entry, first},
      ArrayRef<OpFoldResult>{unit, some}, ones(b, 2));
  auto dynamic = RankedTensorType::get(
      {1, ShapedType::kDynamic, type.getDimSize(2)}, type.getElementType());
  Value rows = LookupOp::create(b, loc, dynamic, one.getTable(), tile);
  b.setInsertionPointToStart(loop.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(
      b, loc, rows, loop.getRegionOutArgs()[0],
      ArrayRef<OpFoldResult>{entry, first, zero},
      ArrayRef<OpFoldResult>{unit, some, width}, ones(b, 3));
  for (LookupOp lookup : lookups) {
    auto slice = lookup.getIndices().getDefiningOp<tensor::ExtractSliceOp>();
    Sizes offsets = slice.getMixedOffsets(), sizes = slice.getMixedSizes();
    offsets.push_back(zero);
    sizes.push_back(width);
    b.setInsertionPoint(lookup);
    Value read = tensor::ExtractSliceOp::create(
        b, loc, cast<RankedTensorType>(lookup.getRows().getType()),
        loop.getResult(0), offsets, sizes, ones(b, 3));
    lookup.getRows().replaceAllUsesWith(read);
    lookup.erase();
  }
}

void ProgramCutter::readInstead(Value use, Value from, Value row,
                                Value column) {
  auto type = cast<RankedTensorType>(use.getType());
  auto loop = use.getDefiningOp()->getParentOfType<scf::ForallOp>();
  b.setInsertionPointAfterValue(use);
  Sizes offsets, sizes;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    offsets.push_back(b.getIndexAttr(0));
    sizes.push_back(getTileSize(use, axis));
  }
  offsets[0] = loop.getInductionVar(0);
  offsets[getRowAxis(use)] = row;
  if (column)
    offsets.back() = column;
  Value read = tensor::ExtractSliceOp::create(b, loc, type, from, offsets,
                                              sizes, ones(b, sizes.size()));
  use.replaceAllUsesWith(read);
}
