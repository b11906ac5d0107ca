//===- WarpgroupOps.cpp - matrix products of four warps -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/ops/ProductTiles.h"

#include "llvm/ADT/STLExtras.h"

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

/// m64n8 to m64n256, by eight.
static void takeShape(Form &form, Product &product) {
  StringRef shape = form.peekPart();
  bool deep = shape.ends_with("k16");
  if (!shape.starts_with("m64n") || !(deep || shape.ends_with("k8")))
    return form.fail("expected a shape from m64n8 to m64n256 and k16 or k8, "
                     "got '." +
                     shape + "'");
  product.depth = deep ? 16 : 8;
  std::vector<std::string> names;
  for (unsigned columns = 8; columns <= kMostColumns; columns += 8)
    names.push_back(
        ("m64n" + Twine(columns) + "k" + Twine(product.depth)).str());
  SmallVector<StringRef> choices(names.begin(), names.end());
  if (!is_contained(choices, shape))
    return form.fail("expected N from 8 to 256 in steps of 8, got '." + shape +
                     "'");
  product.columns = 8 * (1 + form.oneOf(choices));
  product.name = ("wgmma." + shape).str();
}

static void takeTypes(Form &form, Product &product) {
  product.halfAccumulators = form.oneOf({"f32", "f16"}) == 1;
  static const StringRef names[] = {"bf16", "f16", "tf32"};
  unsigned type = form.oneOf(names);
  product.type = static_cast<ElementType>(type);
  form.oneOf({names[type]});
  if ((product.depth == 8) != (product.type == ElementType::TensorFloat) ||
      (product.halfAccumulators && product.type != ElementType::Half))
    form.fail("expected f32.bf16.bf16, f32.f16.f16 or f16.f16.f16 of depth 16, "
              "or f32.tf32.tf32 of depth 8");
  product.name +=
      (product.halfAccumulators ? ".f16." : ".") + names[type].str();
}

static void takeAccumulators(Form &form, Product &product) {
  unsigned count = product.columns / (product.halfAccumulators ? 4 : 2);
  const Operand *operand = form.takeOperand();
  if (!operand || form.failed())
    return;
  if (operand->kind != Operand::Vector || operand->elements.size() != count)
    return form.fail("expected " + Twine(count) + " registers, got " +
                     Twine(operand->elements.size()));
  for (const Operand &element : operand->elements)
    product.accumulators.push_back(form.writtenRegister(
        element, product.halfAccumulators ? Type::B32 : Type::F32));
}

static void takeScaleD(Form &form) {
  const Operand *operand = form.takeOperand();
  if (!operand)
    return;
  Operand plain = *operand;
  plain.negated = false;
  form.code.saturate = operand->negated;
  form.addSource(form.readRegister(plain, Type::Pred));
}

/// 1 or -1.
static bool takeSign(Form &form) {
  const Operand *operand = form.takeOperand();
  bool negative = operand && operand->bits == ~uint64_t(0);
  if (operand &&
      (operand->kind != Operand::Integer || (!negative && operand->bits != 1)))
    form.fail("expected 1 or -1 as the sign of A and of B");
  return negative;
}

static void takeOperands(Form &form, Product &product) {
  takeAccumulators(form, product);
  const Operand *a = form.peekOperand();
  product.registersOfA = a && a->kind == Operand::Vector;
  if (product.registersOfA)
    form.sourceVector(Type::B32, 4, 4);
  else
    form.source(Type::B64);
  form.source(Type::B64);
  takeScaleD(form);
  bool negativeA = takeSign(form), negativeB = takeSign(form);
  product.negative = negativeA != negativeB;
  if (product.type == ElementType::TensorFloat)
    return;
  product.transposedA = !product.registersOfA && form.immediate(0, 1);
  product.transposedB = form.immediate(0, 1);
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
  if (form.immediate(24, 256) % 8)
    form.fail("expected a multiple of 8 from 24 to 256");
  form.code.run = &setMaxRegisters;
}

void raytention::simt::addWarpgroupOps(BuilderTable &table) {
  table["wgmma"] = &buildWarpgroup;
  table["setmaxnreg"] = &buildSetMaxRegisters;
}
