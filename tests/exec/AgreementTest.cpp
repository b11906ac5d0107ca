//===- AgreementTest.cpp - streaming equals reference -----------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Drawn configurations run through both pipelines. A draw fixes what is
// compiled (channels, metric, origin, type, schedule) and four run-time shapes
// around the edges of its tiles; both are printed.
//
//===----------------------------------------------------------------------===//

#include "raytention/Attention.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <set>

using namespace raytention;

namespace {

constexpr int kCompiled = 50, kShapes = 4;

struct Draw {
  AttentionSpec spec;
  CompileOptions options;
};

struct Shape {
  int64_t batch, numQueries, numKeys, vocab, offset;
  std::vector<int64_t> lengths; ///< empty: absent
};

/// The dtype's stored form of random data.
struct Data {
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<uint16_t> halves;
  const void *pointer(DType type) const {
    if (type == DType::F64)
      return doubles.data();
    return type == DType::F32 ? static_cast<const void *>(floats.data())
                              : halves.data();
  }
};

class Generator {
public:
  explicit Generator(unsigned seed) : random(seed) {}

  int64_t integer(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }
  template <typename T> T pick(std::vector<T> choices) {
    return choices[integer(0, choices.size() - 1)];
  }
  double real(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  }

  Draw draw() {
    Draw draw;
    AttentionSpec &spec = draw.spec;
    spec.dModel = pick<int64_t>({1, 2, 3, 7, 8, 15, 16, 17, 33, 64});
    spec.dtype = pick<DType>(
        {DType::F64, DType::F64, DType::F64, DType::F32, DType::BF16});
    spec.idBits = pick<int>({32, 64});
    spec.metric = pick<std::string>({"sq_l2", "l2"});
    spec.decayOrigin = pick<std::string>({"sequence_end", "query"});
    spec.exactDistances = integer(0, 3) == 0;
    spec.numGammas = 5;
    spec.channels = channels();
    Schedule &schedule = draw.options.schedule;
    schedule.queryTile = pick<int64_t>({8, 16, 32});
    schedule.keyChunk = pick<int64_t>({16, 30, 64});
    schedule.splitKeys = pick<int64_t>({1, 2, 3});
    schedule.scores = pick<Schedule::Scores>(
        {Schedule::Scores::Keep, Schedule::Scores::Recompute});
    return draw;
  }

  Shape shape(const Schedule &schedule) {
    int64_t q = schedule.queryTile, k = schedule.keyChunk;
    Shape shape;
    shape.batch = integer(1, 3);
    shape.numKeys = pick<int64_t>({0, 1, 2, q - 1, q, q + 1, k - 1, k, k + 1,
                                   2 * k + 1, integer(1, 150)});
    shape.offset = integer(0, 2) ? 0 : integer(0, shape.numKeys);
    shape.numQueries = shape.numKeys - shape.offset;
    shape.vocab = integer(1, 40);
    if (integer(0, 1))
      for (int64_t b = 0; b < shape.batch; ++b)
        shape.lengths.push_back(integer(0, shape.numKeys));
    return shape;
  }

  Data normal(int64_t count, double scale) {
    std::normal_distribution<double> gauss(0, scale);
    Data data;
    for (int64_t i = 0; i < count; ++i) {
      float value = gauss(random);
      uint32_t bits;
      memcpy(&bits, &value, 4);
      data.halves.push_back(bits >> 16);
      data.floats.push_back(value);
      data.doubles.push_back(value);
    }
    return data;
  }

private:
  std::vector<std::string> channels() {
    int64_t kind = integer(0, 5);
    if (kind == 0)
      return defaultChannels();
    if (kind == 1)
      return sevenChannels();
    std::vector<std::string> all = {"centroid",
                                    "decay:forward:0",
                                    "decay:backward:1",
                                    "decay:backward:4",
                                    "predecessor",
                                    "top:1",
                                    "top:2",
                                    "top:3",
                                    "antitop",
                                    "spread",
                                    "entropy",
                                    "max_score",
                                    "moment:1",
                                    "moment:3"};
    std::vector<std::string> list;
    for (int64_t i = 0, n = integer(1, 9); i < n; ++i)
      list.push_back(pick(all)); // equal channels are welcome
    return list;
  }

  std::mt19937 random;
};

/// Signals and norm in double.
struct Values {
  std::vector<double> signals, norm;
  std::vector<int32_t> indices;
};

template <typename T>
Result<Values> runAs(Attention &attention, const Inputs &in) {
  int64_t rows = in.batch * in.numQueries;
  std::vector<T> signals(rows * attention.signalWidth(), NAN), norm(rows, NAN);
  Values result;
  result.indices.resize(rows * attention.numIndices(), -7);
  Outputs out{signals.data(), norm.data(), result.indices.data()};
  auto report = attention.run(in, out, 2);
  if (!report)
    return report.status();
  result.signals.assign(signals.begin(), signals.end());
  result.norm.assign(norm.begin(), norm.end());
  return result;
}

std::string describe(const Draw &draw, const Shape &shape) {
  std::string lengths;
  for (int64_t length : shape.lengths)
    lengths += (lengths.empty() ? "" : ",") + std::to_string(length);
  const Schedule &s = draw.options.schedule;
  static const char *types[] = {"f32", "f64", "bf16"};
  return llvm::formatv(
      "D={0} {1} {2} {3}{4} tile={5} chunk={6} split={7} {8} B={9} Tq={10} "
      "T={11} V={12} offset={13} lengths=[{14}] channels={15:$[ ]}",
      draw.spec.dModel, types[static_cast<int>(draw.spec.dtype)],
      draw.spec.metric, draw.spec.decayOrigin,
      draw.spec.exactDistances ? " exact" : "", s.queryTile, s.keyChunk,
      s.splitKeys, s.scores == Schedule::Scores::Keep ? "keep" : "recompute",
      shape.batch, shape.numQueries, shape.numKeys, shape.vocab, shape.offset,
      lengths,
      llvm::make_range(draw.spec.channels.begin(), draw.spec.channels.end()));
}

std::unique_ptr<Attention> compile(const Draw &draw, TargetKind target) {
  CompileOptions options = draw.options;
  options.target = target;
  auto attention = Attention::compile(draw.spec, options);
  if (!attention) {
    ADD_FAILURE() << attention.status().message();
    return nullptr;
  }
  return std::move(*attention);
}

/// Both pipelines round differently; f64 shows that they compute the same.
void expectSame(const Values &a, const Values &b, DType type) {
  double tol = type == DType::F64 ? 1e-10 : 2e-3;
  ASSERT_EQ(a.signals.size(), b.signals.size());
  for (size_t i = 0; i < a.signals.size(); ++i)
    ASSERT_LE(std::fabs(a.signals[i] - b.signals[i]), tol) << "signal " << i;
  for (size_t i = 0; i < a.norm.size(); ++i)
    ASSERT_LE(std::fabs(a.norm[i] - b.norm[i]),
              tol * (1 + std::fabs(b.norm[i])))
        << "norm " << i;
}

void runShape(Generator &generator, const Draw &draw, const Shape &shape,
              Attention &streaming, Attention &reference) {
  const AttentionSpec &spec = draw.spec;
  double scale = std::sqrt(5 / std::sqrt(6.0 * spec.dModel));
  Data queries =
      generator.normal(shape.batch * shape.numQueries * spec.dModel, scale);
  Data table = generator.normal(shape.vocab * spec.dModel, scale);
  std::vector<int32_t> narrow;
  std::vector<int64_t> wide;
  for (int64_t i = 0; i < shape.batch * shape.numKeys; ++i) {
    narrow.push_back(generator.integer(0, shape.vocab - 1));
    wide.push_back(narrow.back());
  }
  Inputs in;
  in.batch = shape.batch;
  in.numQueries = shape.numQueries;
  in.numKeys = shape.numKeys;
  in.vocab = shape.vocab;
  in.queries = queries.pointer(spec.dtype);
  in.table = table.pointer(spec.dtype);
  in.ids = spec.idBits == 32 ? static_cast<void *>(narrow.data()) : wide.data();
  in.tau = generator.real(0.3, 2);
  for (int i = 0; i < 5; ++i)
    in.gammas.push_back(generator.real(0.2, 1));
  in.queryOffset = shape.offset;
  in.lengths = shape.lengths.empty() ? nullptr : shape.lengths.data();
  bool isDouble = spec.dtype == DType::F64;
  auto a =
      isDouble ? runAs<double>(streaming, in) : runAs<float>(streaming, in);
  auto b =
      isDouble ? runAs<double>(reference, in) : runAs<float>(reference, in);
  ASSERT_TRUE(static_cast<bool>(a)) << a.status().message();
  ASSERT_TRUE(static_cast<bool>(b)) << b.status().message();
  expectSame(*a, *b, spec.dtype);
}

class Agreement : public testing::TestWithParam<Schedule::Family> {};

INSTANTIATE_TEST_SUITE_P(Families, Agreement,
                         testing::Values(Schedule::Family::Fused,
                                         Schedule::Family::Stored),
                         [](const auto &test) {
                           bool isFused = test.param == Schedule::Family::Fused;
                           return isFused ? "fused" : "stored";
                         });

/// The same draws in the family `stored`, some of them in chunks of rows.
void setStored(Schedule &schedule, int number) {
  schedule.family = Schedule::Family::Stored;
  schedule.splitKeys = 1;
  schedule.scores = Schedule::Scores::Keep;
  schedule.queryChunk = (number % 3) * schedule.queryTile;
}

TEST_P(Agreement, StreamingEqualsReferenceOnDrawnConfigurations) {
  Generator generator(20);
  std::map<std::string, int> covered;
  for (int i = 0; i < kCompiled; ++i) {
    Draw draw = generator.draw();
    auto reference = compile(draw, TargetKind::Reference);
    if (GetParam() == Schedule::Family::Stored)
      setStored(draw.options.schedule, i);
    auto streaming = compile(draw, TargetKind::Cpu);
    ASSERT_TRUE(streaming && reference);
    for (int j = 0; j < kShapes; ++j) {
      Shape shape = generator.shape(draw.options.schedule);
      std::string text = describe(draw, shape);
      llvm::outs() << "draw " << i * kShapes + j << ": " << text << "\n";
      llvm::outs().flush();
      SCOPED_TRACE(text);
      runShape(generator, draw, shape, *streaming, *reference);
      if (HasFatalFailure())
        return;
      for (const std::string &name : std::set<std::string>(
               draw.spec.channels.begin(), draw.spec.channels.end()))
        ++covered[name];
      ++covered[draw.spec.metric];
      ++covered[draw.spec.decayOrigin];
      if (GetParam() == Schedule::Family::Fused)
        covered["split > 1"] += draw.options.schedule.splitKeys > 1;
      covered["lengths"] += !shape.lengths.empty();
      covered["offset"] += shape.offset > 0;
    }
  }
  for (auto &[what, count] : covered) {
    llvm::outs() << what << ": in " << count << " configurations\n";
    EXPECT_GE(count, 20) << what;
  }
}

} // namespace
