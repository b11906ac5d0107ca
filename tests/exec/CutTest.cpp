//===- CutTest.cpp - what passes between parallel loops on the CPU --------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program whose task is cut into several parallel loops, with plain buffers
// of the function between them, computes what the uncut one does.
//
//===----------------------------------------------------------------------===//

#include "runtime/api/CompilerContext.h"
#include "tests/exec/GradientProblem.h"
#include "tests/exec/ProgramCutter.h"
#include "tests/support/Results.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <map>

using namespace mlir;
using namespace raytention;
using namespace raytention::test;

namespace {

constexpr int64_t kChunk = 192, kRows = 64;

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

scf::ForOp chunksOf(Operation *op) { return op->getParentOfType<scf::ForOp>(); }
/// Where the rows of a step of the loop around `op` begin.
Value rowOf(Operation *op) {
  Value step = chunksOf(op).getInductionVar();
  for (Operation *user : step.getUsers())
    if (isa<arith::AddIOp>(user) &&
        llvm::any_of(user->getUsers(), llvm::IsaPred<tensor::ExtractSliceOp>))
      return user->getResult(0);
  return step;
}
scf::ForallOp tilesOf(Operation *op) {
  return op->getParentOfType<scf::ForallOp>();
}

/// Distances and states.
void passScores(ProgramCutter &cut) {
  cut.cutBefore(chunksOf(cut.all<WeighOp>()[0]));
}

/// Distances, states, weights, sums: four loops.
void passAll(ProgramCutter &cut) {
  cut.cutBefore(cut.all<FinalizeOp>()[0]);
  cut.keepChunks(cut.all<WeighOp>()[0].getWeights(), /*isFull=*/false);
  cut.cutBefore(chunksOf(cut.all<linalg::ContractOp>()[0]));
  cut.cutBefore(chunksOf(cut.all<WeighOp>()[0]));
}

void passAllAndKeys(ProgramCutter &cut) {
  passAll(cut);
  cut.lookUpOnce(kChunk);
}

void passRowChunks(ProgramCutter &cut) {
  cut.loopOverRows(tilesOf(cut.all<FinalizeOp>()[0]), kRows);
  passAllAndKeys(cut);
}

/// Each chunk of keys adds to the states, and to the sums, of all rows.
void passKeyChunks(ProgramCutter &cut) {
  cut.cutBefore(chunksOf(cut.all<WeighOp>()[0]));
  cut.cutBefore(cut.all<FinalizeOp>()[0]);
  cut.hoistChunks(tilesOf(cut.all<WeighOp>()[0]));
  cut.hoistChunks(tilesOf(cut.all<ScoreSweepOp>()[0]));
}

/// What the gradient's sweeps give to the ops that finish.
void passSums(ProgramCutter &cut) {
  cut.cutBefore(cut.all<QueryGradOp>()[0]);
  cut.cutBefore(cut.all<KeyGradOp>()[0]);
}

/// Each chunk of keys adds to the gradients of all rows.
void passGradientChunks(ProgramCutter &cut) {
  cut.cutBefore(chunksOf(cut.all<WeighGradOp>()[0]));
  cut.cutBefore(cut.all<QueryGradOp>()[0]);
  cut.hoistChunks(tilesOf(cut.all<WeighGradOp>()[0]));
}

/// Rows and their stack, from the side of queries to both.
void passGradRows(ProgramCutter &cut) {
  auto own = cut.all<GradRowsOp>()[0];
  Value rows = own.getRows(), stack = own.getStack();
  cut.cutBefore(chunksOf(cut.all<WeighGradOp>()[0]));
  auto other = cut.all<GradRowsOp>()[1];
  Value row = rowOf(other);
  cut.readInstead(other.getRows(), cut.getPassed(rows), row);
  cut.readInstead(other.getStack(), cut.getPassed(stack), row);
}

/// A value [.., rows, keys] of a pair op that both sides have: those of the
/// query side, for both.
void passPairs(ProgramCutter &cut, Value (*getPairs)(ProgramCutter &, int)) {
  Value kept = cut.keepChunks(getPairs(cut, 0), /*isFull=*/true);
  cut.cutBefore(chunksOf(cut.all<SumDifferencesOp>()[0]));
  Value other = getPairs(cut, 1);
  cut.readInstead(other, cut.getPassed(kept), rowOf(other.getDefiningOp()),
                  tilesOf(other.getDefiningOp()).getInductionVar(1));
}

/// The op of the side of queries, or of keys: further loops stand between.
template <typename Op> Op ofSide(ProgramCutter &cut, int side) {
  SmallVector<Op> ops = cut.all<Op>();
  return side == 0 ? ops.front() : ops.back();
}

void passCoefficients(ProgramCutter &cut) {
  passPairs(cut, [](ProgramCutter &cut, int side) -> Value {
    return ofSide<WeighGradOp>(cut, side).getCoefficients();
  });
}

void passPairValues(ProgramCutter &cut) {
  passPairs(cut, [](ProgramCutter &cut, int side) -> Value {
    return ofSide<DistanceOp>(cut, side).getDistances();
  });
  passPairs(cut, [](ProgramCutter &cut, int side) -> Value {
    return ofSide<WeighGradOp>(cut, side).getProducts();
  });
}

/// The weights of the side of keys, from one of its loops to the other.
void passWeights(ProgramCutter &cut) {
  auto last = cut.all<WeighGradOp>().back();
  scf::ForOp loop = chunksOf(last);
  cut.keepChunks(last.getWeights(), /*isFull=*/true, /*areRows=*/true);
  cut.cutBefore(loop);
}

void passGradient(ProgramCutter &cut) {
  passCoefficients(cut);
  passGradRows(cut);
  passSums(cut);
  cut.lookUpOnce(kChunk);
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

struct Case {
  const char *name;
  void (*cut)(ProgramCutter &);
  int64_t width;
  DType type;
  const char *metric;
  bool isBackward;
};

/// Signals, norms and chosen keys.
template <typename Input, typename T>
std::vector<double> runForward(const GradientProblem &problem,
                               Attention &attention) {
  auto convert = [](const std::vector<double> &values) {
    std::vector<Input> own;
    for (double value : values) {
      if constexpr (std::is_same_v<Input, uint16_t>) {
        float narrow = value;
        uint32_t bits;
        memcpy(&bits, &narrow, 4);
        own.push_back(bits >> 16);
      } else {
        own.push_back(value);
      }
    }
    return own;
  };
  std::vector<Input> queries = convert(problem.queries),
                     table = convert(problem.table);
  Inputs inputs;
  inputs.batch = problem.batch;
  inputs.numQueries = problem.numQueries;
  inputs.numKeys = problem.numKeys;
  inputs.vocab = problem.vocab;
  inputs.queries = queries.data();
  inputs.table = table.data();
  inputs.ids = problem.ids.data();
  inputs.tau = problem.tau[0];
  inputs.gammas = problem.gammas;
  inputs.queryOffset = problem.offset;
  inputs.lengths = problem.lengths.empty() ? nullptr : problem.lengths.data();
  int64_t rows = problem.batch * problem.numQueries;
  std::vector<T> signals(rows * attention.signalWidth(), NAN), norm(rows, NAN);
  std::vector<int32_t> indices(rows * attention.numIndices() + 1, -7);
  auto report =
      attention.run(inputs, {signals.data(), norm.data(), indices.data()}, 2);
  if (!report)
    ADD_FAILURE() << report.status().message();
  std::vector<double> all(signals.begin(), signals.end());
  all.insert(all.end(), norm.begin(), norm.end());
  all.insert(all.end(), indices.begin(), indices.end());
  return all;
}

std::vector<double> run(const Case &one, const GradientProblem &problem,
                        Attention &attention) {
  if (!one.isBackward)
    return one.type == DType::F64
               ? runForward<double, double>(problem, attention)
           : one.type == DType::F32
               ? runForward<float, float>(problem, attention)
               : runForward<uint16_t, float>(problem, attention);
  GradientValues values = problem.computeGradients(attention, one.type, 2);
  std::vector<double> all = values.queries;
  for (auto *part : {&values.table, &values.tau, &values.gammas})
    all.insert(all.end(), part->begin(), part->end());
  return all;
}

GradientProblem makeProblem(const Case &one, int64_t keys, int64_t offset,
                            bool hasLengths) {
  std::vector<std::string> channels = {"centroid", "decay:backward:1", "top:2",
                                       "entropy"};
  if (!one.isBackward)
    for (const char *more : {"decay:forward:0", "antitop", "spread"})
      channels.push_back(more);
  GradientProblem problem(7, channels,
                          GradientShape{2, keys, offset, one.width, 11});
  problem.spec.metric = one.metric;
  if (hasLengths)
    problem.lengths = {keys, keys / 2 + 1};
  return problem;
}

std::unique_ptr<Attention> compile(const Case &one, bool isCut) {
  AttentionSpec spec = makeProblem(one, 1, 0, false).spec;
  spec.dtype = one.type;
  CompileOptions options;
  options.backward = one.isBackward;
  options.expectedKeys = 512;
  if (!isCut)
    return test::cantFail(Attention::compile(spec, options));
  std::string text = test::cantFail(printStage(spec, options, "tiled"));
  CompilerContext compiler;
  auto module =
      parseSourceString<ModuleOp>(text, ParserConfig(&compiler.context));
  ProgramCutter cutter(*module, one.isBackward ? "attend_backward" : "attend");
  one.cut(cutter);
  std::string edited;
  llvm::raw_string_ostream(edited) << *module;
  auto attention = Attention::compileModule(edited, spec, options);
  if (attention)
    return std::move(*attention);
  ADD_FAILURE() << attention.status().message() << "\n" << edited;
  return nullptr;
}

/// The first difference beyond `tolerance`, of the largest value.
std::string compare(const std::vector<double> &got,
                    const std::vector<double> &expected, double tolerance) {
  double scale = 1;
  for (double value : expected)
    scale = std::max(scale, std::fabs(value));
  for (size_t i = 0; i < expected.size(); ++i)
    if (!(std::fabs(got[i] - expected[i]) <= tolerance * scale))
      return "number " + std::to_string(i) + " of " +
             std::to_string(expected.size()) + ": expected " +
             std::to_string(expected[i]) + ", got " + std::to_string(got[i]);
  return "";
}

std::string getName(const Case &one) {
  const char *type = one.type == DType::F64   ? "F64"
                     : one.type == DType::F32 ? "F32"
                                              : "Bf16";
  return one.name + std::to_string(one.width) + type +
         (one.metric == std::string("l2") ? "L2" : "");
}
void PrintTo(const Case &one, std::ostream *os) { *os << getName(one); }

/// The uncut program of cases that differ in their cuts alone.
Attention *getWhole(const Case &one) {
  static std::map<std::string, std::unique_ptr<Attention>> known;
  Case uncut = one;
  uncut.name = one.isBackward ? "Backward" : "Forward";
  auto &attention = known[getName(uncut)];
  if (!attention)
    attention = compile(one, false);
  return attention.get();
}

class CutProgram : public testing::TestWithParam<Case> {};

TEST_P(CutProgram, ComputesTheSame) {
  const Case &one = GetParam();
  auto cut = compile(one, true);
  if (!cut)
    return;
  Attention *whole = getWhole(one);
  // Forward, no sum is done in another order.
  double tolerance = !one.isBackward          ? 0
                     : one.type == DType::F64 ? 1e-13
                                              : 1e-5;
  for (auto [keys, offset, hasLengths] :
       {std::tuple<int64_t, int64_t, bool>(1, 0, false),
        {31, 0, false},
        {33, 5, true},
        {191, 0, true},
        {193, 0, false},
        {300, 110, true}}) {
    GradientProblem problem = makeProblem(one, keys, offset, hasLengths);
    EXPECT_EQ(
        compare(run(one, problem, *cut), run(one, problem, *whole), tolerance),
        "")
        << keys << " keys, offset " << offset;
  }
}

std::string nameParameter(const testing::TestParamInfo<Case> &info) {
  return getName(info.param);
}

const Case kCases[] = {
    {"Scores", passScores, 64, DType::F32, "sq_l2", false},
    {"All", passAll, 20, DType::F32, "l2", false},
    {"AllAndKeys", passAllAndKeys, 1, DType::F64, "sq_l2", false},
    {"RowChunks", passRowChunks, 20, DType::F32, "l2", false},
    {"KeyChunks", passKeyChunks, 64, DType::F32, "sq_l2", false},
    {"Pairs", passPairValues, 20, DType::F32, "l2", true},
    {"Weights", passWeights, 20, DType::F32, "l2", true},
    {"GradientChunks", passGradientChunks, 20, DType::F32, "l2", true},
    {"Gradient", passGradient, 64, DType::BF16, "sq_l2", true},
};

const Case kLongCases[] = {
    {"All", passAll, 96, DType::F64, "sq_l2", false},
    {"AllAndKeys", passAllAndKeys, 64, DType::BF16, "l2", false},
    {"Gradient", passGradient, 1, DType::F64, "l2", true},
    {"Gradient", passGradient, 96, DType::F32, "sq_l2", true},
};

INSTANTIATE_TEST_SUITE_P(Cuts, CutProgram, testing::ValuesIn(kCases),
                         nameParameter);
INSTANTIATE_TEST_SUITE_P(Long, CutProgram, testing::ValuesIn(kLongCases),
                         nameParameter);

} // namespace
