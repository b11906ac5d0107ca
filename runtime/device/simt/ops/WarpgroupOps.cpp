//===- WarpgroupOps.cpp - matrix products of four warps -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/ops/ProductTiles.h"

using namespace llvm;
using namespace raytention::simt;
using namespace raytention::simt::wgmma;

namespace {

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The operands of one product as the first lane has them.
struct Operands {
  const uint32_t *a; ///< registers, or that of the descriptor
  uint64_t descriptorA = 0, descriptorB = 0;
  Mask accumulate = 0;
};

bool isSame(const uint64_t *values, Mask lanes) {
  uint64_t differ = 0, first = values[__builtin_ctz(lanes)];
  forEachLane(lanes, [&](unsigned lane) { differ |= values[lane] ^ first; });
  return !differ;
}

Operands readOperands(Warp &warp, const Instruction &at, const Product &product,
                      Mask lanes) {
  Operands result;
  unsigned lane = __builtin_ctz(lanes);
  const uint32_t *op = result.a = at.op;
  if (product.registersOfA)
    op += 4;
  else
    result.descriptorA = warp.reg<uint64_t>(*op++)[lane];
  result.descriptorB = warp.reg<uint64_t>(op[0])[lane];
  Mask held = warp.predicate(op[1]);
  result.accumulate = at.saturate ? ~held : held;
  return result;
}

void checkLanes(Warp &warp, const Product &product, Mask lanes,
                const Operands &operands) {
  Worker &worker = *warp.block->worker;
  if (lanes != kAllLanes)
    worker.report(FindingKind::DivergentCollective, warp, warp.pc,
                  __builtin_ctz(lanes), 0, [&] {
                    return "expected all 32 lanes of the warp, got " +
                           describeHex(lanes);
                  });
  unsigned b = product.registersOfA ? 4 : 1;
  bool same = isSame(warp.reg<uint64_t>(operands.a[b]), lanes) &&
              (product.registersOfA ||
               isSame(warp.reg<uint64_t>(operands.a[0]), lanes));
  if (!same)
    worker.report(FindingKind::BadDescriptor, warp, warp.pc,
                  __builtin_ctz(lanes), 0, [] {
                    return "expected the same descriptors in all lanes, got "
                           "others in some";
                  });
}

void check(Warp &warp, const Product &product, Mask lanes,
           const Operands &operands) {
  checkLanes(warp, product, lanes, operands);
  noteIssue(warp, operands.descriptorA, operands.descriptorB);
  checkFragments(warp, product, operands.a, lanes, operands.accumulate);
  if (!product.registersOfA)
    checkDescriptor(warp, 'A', operands.descriptorA);
  checkDescriptor(warp, 'B', operands.descriptorB);
}

template <class Element>
void readTiles(Warp &warp, const Product &product, const Operands &operands,
               Tiles &tiles) {
  uint8_t bytes[kMostColumns * kMostDepth * 2];
  unsigned depth = product.depth, columns = product.columns;
  if (product.registersOfA) {
    gatherA<Element>(warp, operands.a, depth, tiles);
  } else {
    readMatrixA(warp, product, operands.descriptorA, bytes);
    bool turned = product.transposedA;
    widen<Element>(bytes, turned ? depth : kRows, turned ? kRows : depth,
                   tiles.a[0], kMostDepth, turned);
  }
  readMatrixB(warp, product, operands.descriptorB, bytes);
  bool turned = product.transposedB;
  widen<Element>(bytes, turned ? depth : columns, turned ? columns : depth,
                 tiles.b[0], kMostColumns, !turned);
}

void count(Warp &warp, const Product &product) {
  Worker &worker = *warp.block->worker;
  if (!worker.profiling)
    return;
  worker.profile.matrixFlops += 2 * kRows * product.columns * product.depth;
  if (warp.index % kWarpsPerGroup == 0)
    ++worker.profile.matrixProducts[product.name];
}

template <class Element>
void multiply(Warp &warp, const Instruction &at, Mask lanes) {
  Worker &worker = *warp.block->worker;
  const Product &product = worker.launch.kernel.products[at.target];
  Operands operands = readOperands(warp, at, product, lanes);
  ++warp.products.issued;
  ++warp.block->mbarriers.progress;
  if (worker.checks)
    check(warp, product, lanes, operands);
  Tiles tiles;
  readTiles<Element>(warp, product, operands, tiles);
  if (product.negative)
    for (auto &row : tiles.a)
      for (unsigned k = 0; k < product.depth; ++k)
        row[k] = -row[k];
  bool half = product.halfAccumulators;
  (half ? gatherHalfC : gatherC)(warp, product, operands.accumulate, tiles);
  tiles.multiply(product.columns, product.depth);
  (half ? scatterHalfC : scatterC)(warp, product, lanes, tiles);
  count(warp, product);
  if (!worker.checks)
    return;
  for (uint32_t reg : product.accumulators)
    warp.written(reg) |= lanes;
  beginProduct(warp, product, operands.a, operands.descriptorA,
               operands.descriptorB);
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

void fenceRegisters(Warp &warp, const Instruction &, Mask) {
  ++warp.products.fences;
}

void commitGroup(Warp &warp, const Instruction &, Mask) {
  ++warp.products.committed;
  warp.products.groupEnds.push_back(warp.products.issued);
}

/// How many registers a warp has is not modelled.
void setMaxRegisters(Warp &, const Instruction &, Mask) {}

} // namespace

static void takeAligned(Form &form) {
  form.oneOf({"sync"});
  form.oneOf({"aligned"});
  form.code.flow = Flow::Collective;
  form.code.aligned = true;
}

/// m64n8k8 to m64n256k16; N by eight.
static SmallVector<StringRef, 64> shapeNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (unsigned columns = 8; columns <= kMostColumns; columns += 8)
      for (const char *depth : {"k8", "k16"})
        all.push_back(("m64n" + Twine(columns) + depth).str());
    return all;
  }();
  return {names.begin(), names.end()};
}

static void takeShape(Form &form, Product &product) {
  unsigned index = form.oneOf(
      shapeNames(), "a shape from m64n8 to m64n256, by 8, and k16 or k8");
  product.columns = 8 * (1 + index / 2);
  product.depth = index % 2 ? 16 : 8;
  product.name = ("wgmma." + shapeNames()[index]).str();
}

static void takeTypes(Form &form, Product &product) {
  static const StringRef names[] = {"bf16", "f16", "tf32"};
  bool deep = product.depth == 16;
  static const StringRef sums[] = {"f32", "f16"};
  product.halfAccumulators =
      form.oneOf(ArrayRef<StringRef>(sums).take_front(deep ? 2 : 1));
  static constexpr ElementType types[] = {
      ElementType::BFloat, ElementType::Half, ElementType::TensorFloat};
  unsigned first = !deep ? 2 : product.halfAccumulators ? 1 : 0;
  unsigned last = !deep ? 2 : 1;
  unsigned type =
      first +
      form.oneOf(ArrayRef<StringRef>(names).slice(first, last - first + 1));
  product.type = types[type];
  form.oneOf(names[type]);
  product.name +=
      (product.halfAccumulators ? ".f16." : ".") + names[type].str();
}

static void takeOperands(Form &form, Product &product) {
  bool half = product.halfAccumulators;
  product.accumulators = form.destList(half ? Type::B32 : Type::F32,
                                       product.columns / (half ? 4 : 2));
  const Operand *a = form.peekOperand();
  product.registersOfA = form.either(a && a->kind == Operand::Vector);
  if (product.registersOfA)
    form.sourceVector(Type::B32, 4);
  else
    form.source(Type::B64);
  form.source(Type::B64);
  form.code.saturate = form.sourcePredicate();
  constexpr uint64_t signs[] = {1, ~uint64_t(0)}, turns[] = {0, 1};
  bool negativeA = form.immediateOf(signs) != 1;
  bool negativeB = form.immediateOf(signs) != 1;
  product.negative = negativeA != negativeB;
  if (product.type == ElementType::TensorFloat)
    return;
  product.transposedA = !product.registersOfA && form.immediateOf(turns);
  product.transposedB = form.immediateOf(turns);
}

static void buildProduct(Form &form) {
  takeAligned(form);
  Product product;
  takeShape(form, product);
  takeTypes(form, product);
  if (form.failed())
    return;
  takeOperands(form, product);
  form.code.run = product.type == ElementType::BFloat ? &multiply<BFloat>
                  : product.type == ElementType::Half ? &multiply<Half>
                                                      : &multiply<TensorFloat>;
  form.code.isProduct = true;
  form.code.target = form.kernel.kernel.products.size();
  form.kernel.kernel.products.push_back(std::move(product));
}

static void buildWarpgroup(Form &form) {
  switch (form.oneOf({"mma_async", "fence", "commit_group", "wait_group"})) {
  case 0:
    return buildProduct(form);
  case 1:
    form.code.run = &fenceRegisters;
    break;
  case 2:
    form.code.run = &commitGroup;
    break;
  default:
    takeAligned(form);
    form.code.flow = Flow::Products;
    form.code.offset = form.immediate(0, INT32_MAX);
    return;
  }
  takeAligned(form);
}

static void buildSetMaxRegisters(Form &form) {
  form.oneOf({"inc", "dec"});
  takeAligned(form);
  form.oneOf({"u32"});
  SmallVector<uint64_t> counts;
  for (uint64_t count = 24; count <= 256; count += 8)
    counts.push_back(count);
  form.immediateOf(counts);
  form.code.run = &setMaxRegisters;
}

void raytention::simt::addWarpgroupOps(BuilderTable &table) {
  table["wgmma"] = &buildWarpgroup;
  table["setmaxnreg"] = &buildSetMaxRegisters;
}
