//===- FoldVocabularyPass.cpp - tokens instead of positions ------ -*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/SweepLayout.h"
#include "passes/Fold/Passes.h"
#include "passes/Tile/Cleanup.h"
#include "passes/Tile/ProducerFuser.h"
#include "passes/Tile/Schedule.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

namespace raytention {
#define GEN_PASS_DEF_FOLDVOCABULARYPASS
#include "passes/Fold/Passes.h.inc"
} // namespace raytention

using namespace mlir;
using namespace raytention;

namespace {

/// The ops of one attention on whole tensors.
struct Attention {
  FinalizeOp finish;
  ScoreSweepOp score;
  ReduceSweepOp reduce;
  DistanceOp distance;
  LookupOp lookup;

  static FailureOr<Attention> match(FinalizeOp finish) {
    Attention own;
    own.finish = finish;
    own.score = finish.getScoreFloats().getDefiningOp<ScoreSweepOp>();
    own.reduce = finish.getReduceFloats().getDefiningOp<ReduceSweepOp>();
    if (own.score)
      own.distance = own.score.getDistances().getDefiningOp<DistanceOp>();
    if (own.distance)
      own.lookup = own.distance.getKeys().getDefiningOp<LookupOp>();
    if (!own.reduce || !own.lookup || !own.isWhole())
      return finish.emitOpError()
             << "expected the finish of two sweeps over the keys of one lookup "
                "from position 0 on (--rt-to-sweeps)";
    return own;
  }

private:
  bool isWhole() {
    auto startsAtInit = [](Value state) {
      return bool(state.getDefiningOp<InitOp>());
    };
    return reduce.getDistances() == score.getDistances() &&
           reduce.getScoreState() == score.getFloats() &&
           reduce.getKeys() == lookup.getRows() &&
           finish.getSums() == reduce.getSums() &&
           lookup.getTable() == finish.getTable() &&
           lookup.getIndices() == finish.getIds() &&
           score.getChannels() == reduce.getChannels() &&
           score.getChannels() == finish.getSweepChannels() &&
           !reduce.getScoreChannels() && !finish.getReduceChannels() &&
           score.getMaskAttr() == reduce.getMaskAttr() &&
           score.getLengths() == reduce.getLengths() &&
           score.getRow() == reduce.getRow() &&
           isZeroInteger(OpFoldResult(score.getKey())) &&
           isZeroInteger(OpFoldResult(reduce.getKey())) &&
           !score.getKeyPositions() && !reduce.getKeyPositions() &&
           startsAtInit(score.getFloatsIn()) &&
           startsAtInit(reduce.getFloatsIn()) &&
           bool(reduce.getSumsIn().getDefiningOp<linalg::FillOp>());
  }
};

/// A state of both sweeps and their sums.
struct States {
  Value scoreFloats, scorePositions, reduceFloats, reducePositions, sums;
};

/// Keys of one set and their distances from the chunk's rows.
struct KeySet {
  Value keys, distances;
  Value key;               ///< position of the first, index
  Value positions, masses; ///< of a list
  Value lengths;           ///< of a range
};

class Folder {
public:
  Folder(RewriterBase &b, Attention attention, int64_t chunk)
      : b(b), own(attention), loc(attention.finish.getLoc()), chunk(chunk),
        layout(SweepLayout::get(own.score.getChannels())),
        element(getElementTypeOrSelf(own.finish.getSignals().getType())) {}

  void run() {
    b.setInsertionPoint(own.finish);
    zero = arith::ConstantIndexOp::create(b, loc, 0);
    batch = sizeOf(own.distance.getQueries(), 0);
    length = sizeOf(own.lookup.getIndices(), 1);
    buildDistinct();
    scf::ForOp loop = buildLoop();
    b.setInsertionPointAfter(loop);
    b.replaceOp(own.finish, loop.getResults().take_front(numFinished()));
  }

private:
  unsigned numFinished() { return own.finish->getNumResults(); }
  Value sizeOf(Value tensor, int64_t axis) {
    return getValueOrCreateConstantIndexOp(
        b, loc, tensor::getMixedSize(b, loc, tensor, axis));
  }
  Value sub(Value a, Value c) { return arith::SubIOp::create(b, loc, a, c); }
  Value add(Value a, Value c) { return arith::AddIOp::create(b, loc, a, c); }
  Value min(Value a, Value c) { return arith::MinSIOp::create(b, loc, a, c); }
  Value max(Value a, Value c) { return arith::MaxSIOp::create(b, loc, a, c); }
  Value makeFilled(ArrayRef<OpFoldResult> sizes, Type type, TypedAttr value) {
    Value empty = tensor::EmptyOp::create(b, loc, sizes, type);
    Value scalar = arith::ConstantOp::create(b, loc, value);
    return linalg::FillOp::create(b, loc, scalar, empty).getResult(0);
  }
  OpFoldResult fixed(int64_t size) { return b.getIndexAttr(size); }
  /// [batch, rows or keys, width]
  static RankedTensorType getType(Type element,
                                  int64_t width = ShapedType::kDynamic) {
    constexpr int64_t any = ShapedType::kDynamic;
    return RankedTensorType::get({any, any, width}, element);
  }
  /// One axis of a tensor cut to [begin, begin + size).
  struct Cut {
    int64_t axis;
    Value begin, size;
  };
  /// Begin, extent and strides of a part.
  struct Part {
    SmallVector<OpFoldResult> begin, extent, strides;
  };
  Part getPart(Value tensor, const Cut &cut) {
    Part part;
    int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
    part.begin.assign(rank, fixed(0));
    part.strides.assign(rank, fixed(1));
    for (int64_t axis = 0; axis < rank; ++axis)
      part.extent.push_back(tensor::getMixedSize(b, loc, tensor, axis));
    part.begin[cut.axis] = getAsOpFoldResult(cut.begin);
    part.extent[cut.axis] = getAsOpFoldResult(cut.size);
    return part;
  }
  /// What has no elements has no slices that verify.
  Value slice(Value tensor, const Cut &cut) {
    Part part = getPart(tensor, cut);
    if (hasNoElements(tensor.getType()))
      return tensor::EmptyOp::create(b, loc, part.extent,
                                     getElementTypeOrSelf(tensor.getType()));
    return tensor::ExtractSliceOp::create(b, loc, tensor, part.begin,
                                          part.extent, part.strides);
  }
  Value insert(Value value, Value into, const Cut &cut) {
    if (hasNoElements(into.getType()))
      return into;
    Part part = getPart(into, cut);
    return tensor::InsertSliceOp::create(b, loc, value, into, part.begin,
                                         part.extent, part.strides);
  }

  void buildDistinct() {
    Value ids = own.lookup.getIndices();
    Value vocab = sizeOf(own.lookup.getTable(), 0);
    auto type = cast<RankedTensorType>(ids.getType());
    Type i32 = b.getI32Type();
    auto op = DistinctOp::create(
        b, loc, type.clone(i32), type,
        RankedTensorType::get({type.getDimSize(1)}, i32), ids, vocab);
    slots = op.getSlots();
    tokens = op.getTokens();
    seen = op.getSeen();
  }

  scf::ForOp buildLoop() {
    SmallVector<OpFoldResult> sizes = {batch, fixed(layout.numPositions + 1),
                                       length};
    Value positions =
        makeFilled(sizes, b.getI32Type(), b.getI32IntegerAttr(-1));
    sizes[1] = fixed(layout.numMasses);
    Value masses =
        makeFilled(sizes, element, cast<TypedAttr>(b.getZeroAttr(element)));
    SmallVector<Value> inits(own.finish.getDpsInits());
    inits.append({positions, masses});
    Value rows = sizeOf(own.distance.getQueries(), 1);
    Value step = arith::ConstantIndexOp::create(b, loc, chunk);
    auto loop = scf::ForOp::create(b, loc, zero, rows, step, inits);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    buildBody(loop, min(sub(rows, loop.getInductionVar()), step), step);
    return loop;
  }

  void buildBody(scf::ForOp loop, Value count, Value step) {
    Value first = loop.getInductionVar();
    Value start = add(own.score.getRow(), first);
    ValueRange carried = loop.getRegionIterArgs();
    Value past = min(start, length);
    FoldKeysOp fold = buildFold(carried.take_back(2), first, start, past, step);
    Value queries = slice(own.distance.getQueries(), {1, first, count});
    KeySet history = buildHistory(fold, past, queries);
    KeySet chunk = buildChunk(start, past, queries, count);
    States states = buildStates(count);
    sweepScores(history, start, states);
    sweepScores(chunk, start, states);
    sweepSums(history, start, states);
    sweepSums(chunk, start, states);
    SmallVector<Value> results =
        buildFinish(states, start, first, count, carried);
    results.append({fold.getPositions(), fold.getMasses()});
    scf::YieldOp::create(b, loc, results);
  }

  /// Adds what lies between the chunk before, or the first position, and the
  /// chunk.
  FoldKeysOp buildFold(ValueRange list, Value first, Value start, Value past,
                       Value step) {
    Value isFirst =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, first, zero);
    Value before = sub(start, step);
    Value begin = arith::SelectOp::create(b, loc, isFirst, zero, before);
    return FoldKeysOp::create(
        b, loc, TypeRange{list[0].getType(), list[1].getType()}, slots,
        own.score.getGammas(), begin, past, list[0], list[1],
        own.score.getLengths(), own.score.getChannelsAttr());
  }

  /// How many distinct tokens stand before position `past`.
  Value buildNumSeen(Value past) {
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    Value last = max(sub(past, one), zero);
    Value found = tensor::ExtractOp::create(b, loc, seen, last);
    found = arith::IndexCastOp::create(b, loc, b.getIndexType(), found);
    Value isNone =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, past, zero);
    found = arith::SelectOp::create(b, loc, isNone, zero, found);
    return min(found, length);
  }

  KeySet buildKeys(Value ids, Value queries) {
    int64_t width =
        cast<RankedTensorType>(own.lookup.getRows().getType()).getDimSize(2);
    Type stored = getElementTypeOrSelf(own.lookup.getRows().getType());
    KeySet set;
    set.keys = LookupOp::create(b, loc, getType(stored, width),
                                own.lookup.getTable(), ids);
    set.distances = DistanceOp::create(b, loc, getType(element), queries,
                                       set.keys, own.distance.getMetricAttr(),
                                       own.distance.getPrecisionAttr());
    return set;
  }

  /// The tokens seen before the chunk: a prefix of all of them.
  KeySet buildHistory(FoldKeysOp fold, Value past, Value queries) {
    Value count = buildNumSeen(past);
    KeySet set = buildKeys(slice(tokens, {1, zero, count}), queries);
    set.key = zero;
    set.positions = slice(fold.getPositions(), {2, zero, count});
    set.masses = slice(fold.getMasses(), {2, zero, count});
    return set;
  }

  /// The positions of the chunk's own rows.
  KeySet buildChunk(Value start, Value past, Value queries, Value count) {
    Value size = min(sub(length, past), count);
    Value ids = slice(own.lookup.getIndices(), {1, past, size});
    KeySet set = buildKeys(ids, queries);
    set.key = start;
    set.lengths = own.score.getLengths();
    return set;
  }

  InitOp buildInit(SweepKind kind, Value count) {
    return InitOp::create(b, loc, getType(element, layout.numFloats(kind)),
                          getType(b.getI32Type(), layout.numInts(kind)),
                          SweepKindAttr::get(b.getContext(), kind),
                          own.score.getChannelsAttr(), batch, count, Value());
  }

  States buildStates(Value count) {
    InitOp score = buildInit(SweepKind::Score, count);
    InitOp reduce = buildInit(SweepKind::Reduce, count);
    auto type = cast<RankedTensorType>(own.reduce.getSums().getType());
    SmallVector<OpFoldResult> sizes = {batch, fixed(layout.numWeighted), count,
                                       fixed(type.getDimSize(3))};
    Value sums =
        makeFilled(sizes, element, cast<TypedAttr>(b.getZeroAttr(element)));
    return {score.getFloats(), score.getPositions(), reduce.getFloats(),
            reduce.getPositions(), sums};
  }

  void sweepScores(const KeySet &set, Value row, States &states) {
    auto op = ScoreSweepOp::create(
        b, loc,
        TypeRange{states.scoreFloats.getType(),
                  states.scorePositions.getType()},
        set.distances, own.score.getTau(), own.score.getGammas(), row, set.key,
        states.scoreFloats, states.scorePositions, set.lengths, set.positions,
        set.masses, own.score.getChannelsAttr(), own.score.getMaskAttr());
    states.scoreFloats = op.getFloats();
    states.scorePositions = op.getPositions();
  }

  void sweepSums(const KeySet &set, Value row, States &states) {
    auto op = ReduceSweepOp::create(
        b, loc,
        TypeRange{states.reduceFloats.getType(),
                  states.reducePositions.getType(), states.sums.getType()},
        set.distances, states.scoreFloats, own.reduce.getTau(),
        own.reduce.getGammas(), set.keys, row, set.key, set.lengths,
        states.reduceFloats, states.reducePositions, states.sums, set.positions,
        set.masses, own.reduce.getChannelsAttr(), ArrayAttr(),
        own.reduce.getMaskAttr());
    states.reduceFloats = op.getFloats();
    states.reducePositions = op.getPositions();
    states.sums = op.getSums();
  }

  /// The chunk's rows finished, in what the loop carries.
  SmallVector<Value> buildFinish(const States &states, Value start, Value first,
                                 Value count, ValueRange carried) {
    SmallVector<Value> outs;
    for (Value whole : carried.take_front(numFinished()))
      outs.push_back(slice(whole, {1, first, count}));
    SmallVector<Type> types(ValueRange(outs).getTypes());
    auto finish = FinalizeOp::create(
        b, loc, TypeRange(types), states.scoreFloats, states.scorePositions,
        states.reduceFloats, states.reducePositions, states.sums,
        own.finish.getTable(), own.finish.getIds(), own.finish.getTau(),
        own.finish.getGammas(), start, outs[0], outs[1], outs[2],
        outs.size() > 3 ? outs[3] : Value(), own.finish.getLengths(),
        own.finish.getChannelsAttr(), own.finish.getSweepChannelsAttr(),
        own.finish.getReduceChannelsAttr(), own.finish.getDecayOriginAttr());
    SmallVector<Value> results;
    for (auto [part, whole] : llvm::zip(finish->getResults(), carried))
      results.push_back(insert(part, whole, {1, first, count}));
    return results;
  }

  RewriterBase &b;
  Attention own;
  Location loc;
  int64_t chunk;
  SweepLayout layout;
  Type element;
  Value zero, batch, length, slots, tokens, seen;
};

struct FoldVocabularyPass
    : public raytention::impl::FoldVocabularyPassBase<FoldVocabularyPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    FailureOr<int64_t> rows =
        chooseSize(func, "chunk", chunk, &ScheduleAttr::getFoldChunk);
    if (failed(rows))
      return signalPassFailure();
    if (*rows == 0)
      return;
    SmallVector<FinalizeOp> finishes;
    func.walk([&](FinalizeOp op) {
      if (op->getParentOp() == func)
        finishes.push_back(op);
    });
    for (FinalizeOp finish : finishes) {
      FailureOr<Attention> attention = Attention::match(finish);
      if (failed(attention))
        return signalPassFailure();
      IRRewriter rewriter(func);
      Folder(rewriter, *attention, *rows).run();
      ++numFolded;
    }
    if (!finishes.empty())
      cleanUp(func);
  }
};

} // namespace
