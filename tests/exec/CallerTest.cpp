//===- CallerTest.cpp - what a run owes to its caller ---------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The same bits under any rounding mode, in any process, while other threads
// do what they do; and the caller's modes as they were.
//
//===----------------------------------------------------------------------===//

#include "raytention/Attention.h"

#include "raytention/DefaultInputs.h"
#include "tests/support/Results.h"

#include "gtest/gtest.h"

#include <atomic>
#include <cfenv>
#include <clocale>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

using namespace raytention;

namespace {

/// A self-attention over T tokens, each of its own, with gradients.
class Caller {
public:
  /// Compiles fastest with a single channel and no gradients.
  explicit Caller(int64_t keys, bool backward,
                  TargetKind target = TargetKind::Cpu, DType dtype = DType::F32)
      : keys(keys), ids(keys) {
    spec.dModel = width;
    spec.dtype = dtype;
    spec.channels = {"centroid"};
    if (backward)
      spec.channels = {"centroid", "decay:backward:0", "top:1", "entropy"};
    spec.numGammas = backward;
    options.target = target;
    options.backward = backward;
    queries = table = bytes(width);
    uint32_t state = 1;
    for (int64_t i = 0; i < keys * width; ++i) {
      store(queries, i, double((state = state * 1664525u + 1) >> 8) / 1e7);
      store(table, i, double((state = state * 1664525u + 1) >> 8) / 1e7);
    }
    for (int64_t i = 0; i < keys; ++i)
      ids[i] = int32_t(i);
    inputs.numQueries = inputs.numKeys = inputs.vocab = keys;
    inputs.queries = queries.data();
    inputs.table = table.data();
    inputs.ids = ids.data();
    inputs.gammas.assign(backward, 0.3);
    inputs.tau = 0.7;
  }

  void compile() {
    attention = test::cantFail(Attention::compile(spec, options));
  }

  /// The bits of the signals, the norms and the gradients.
  std::string bits(int threads) {
    std::string signals = bytes(attention->signalWidth()), norm = bytes(1),
                logSums = bytes(attention->numLogSums());
    std::vector<int32_t> indices(keys * attention->numIndices());
    Outputs outputs;
    outputs.signals = signals.data();
    outputs.norm = norm.data();
    outputs.indices = indices.data();
    outputs.logSums = logSums.data();
    test::cantFail(attention->run(inputs, outputs, threads));
    if (!options.backward)
      return signals + norm;
    std::string dq = bytes(width), dtable = dq, dtau(8, 0), dgammas(8, 0);
    Residuals residuals{signals.data(), norm.data(), indices.data(),
                        logSums.data()};
    Gradients gradients{dq.data(), dtable.data(), dtau.data(), dgammas.data()};
    test::cantFail(attention->runBackward(inputs, residuals, signals.data(),
                                          gradients, threads));
    return signals + norm + dq + dtable + dtau + dgammas;
  }

private:
  static constexpr int64_t width = 8;
  std::string bytes(int64_t perKey) const {
    return std::string(keys * perKey * (spec.dtype == DType::F64 ? 8 : 4), 0);
  }
  void store(std::string &array, int64_t index, double value) const {
    if (spec.dtype == DType::F64)
      reinterpret_cast<double *>(array.data())[index] = value;
    else
      reinterpret_cast<float *>(array.data())[index] = float(value);
  }

  int64_t keys;
  AttentionSpec spec;
  CompileOptions options;
  std::string queries, table;
  std::vector<int32_t> ids;
  Inputs inputs;
  std::unique_ptr<Attention> attention;
};

constexpr int kModes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};

/// Modes of this thread while it lives. Its destructor says whether anything
/// but the flags of the exceptions is another by then.
class Modes {
public:
  Modes(int rounding, bool flush, bool trap) : rounding(rounding) {
    std::fegetenv(&before);
    std::fesetround(rounding);
#if defined(__x86_64__)
    if (flush)
      _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
    std::feclearexcept(FE_ALL_EXCEPT);
    if (trap)
      feenableexcept(FE_ALL_EXCEPT);
    else
      std::feraiseexcept(FE_UNDERFLOW);
    traps = fegetexcept();
    flags = std::fetestexcept(FE_ALL_EXCEPT);
    control = state();
  }
  ~Modes() {
    int roundingNow = std::fegetround(), trapsNow = fegetexcept(),
        flagsNow = std::fetestexcept(FE_ALL_EXCEPT);
    unsigned controlNow = state();
    std::fesetenv(&before);
    EXPECT_EQ(roundingNow, rounding);
    EXPECT_EQ(trapsNow, traps);
    EXPECT_EQ(flagsNow, flags);
    EXPECT_EQ(controlNow, control);
  }

private:
  static unsigned state() {
#if defined(__x86_64__)
    return _mm_getcsr();
#else
    return 0;
#endif
  }
  std::fenv_t before;
  int rounding, traps, flags;
  unsigned control;
};

/// Exit status of `body` in a process of its own; far too long ends it.
int inChild(llvm::function_ref<bool()> body) {
  pid_t child = fork();
  if (child == 0) {
    alarm(120);
    _exit(body() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

//===----------------------------------------------------------------------===//
// Rounding
//===----------------------------------------------------------------------===//

/// The workers start under one mode and serve under others.
TEST(Caller, SameBitsUnderEveryRoundingMode) {
  Caller caller(4100, false);
  caller.compile();
  std::string expected = caller.bits(1);
  for (int first : kModes) {
    caller.bits(1); // the next has new workers
    for (int mode : {first, FE_TONEAREST}) {
      std::string bits;
      {
        Modes modes(mode, false, false);
        bits = caller.bits(3);
      }
      EXPECT_TRUE(bits == expected) << first << " then " << mode;
    }
  }
}

TEST(Caller, SameGradientsUnderEveryMode) {
  for (DType dtype : {DType::F32, DType::F64})
    for (TargetKind target : {TargetKind::Cpu, TargetKind::Reference}) {
      Caller caller(60, true, target, dtype);
      caller.compile();
      std::string expected = caller.bits(1);
      for (int mode : kModes)
        for (bool flush : {false, true})
          for (bool trap : {false, true}) {
            std::string bits;
            {
              Modes modes(mode, flush, trap);
              bits = caller.bits(1 + trap);
            }
            EXPECT_TRUE(bits == expected) << mode << flush << trap;
          }
    }
}

TEST(Caller, CompilesAlikeUnderEveryMode) {
  for (TargetKind target : {TargetKind::Cpu, TargetKind::Reference}) {
    Caller caller(40, false, target);
    caller.compile();
    std::string expected = caller.bits(1);
    {
      Modes modes(FE_UPWARD, true, true);
      caller.compile();
    }
    EXPECT_TRUE(caller.bits(1) == expected);
  }
}

TEST(Caller, DrawsAlikeUnderEveryMode) {
  std::vector<float> expected(1000), got(1000);
  fillNormal(7, InputStream::Table, 1, 0, 1000, expected.data());
  for (int mode : kModes) {
    {
      Modes modes(mode, true, true);
      fillNormal(7, InputStream::Table, 1, 0, 1000, got.data());
    }
    EXPECT_EQ(got, expected) << mode;
  }
}

//===----------------------------------------------------------------------===//
// Forks
//===----------------------------------------------------------------------===//

TEST(Caller, RunsInTheChildOfAFork) {
  Caller caller(256, true);
  caller.compile();
  std::string expected = caller.bits(2);
  EXPECT_EQ(
      inChild([&] {
        bool same = caller.bits(2) == expected && caller.bits(3) == expected;
        return same && inChild([&] { return caller.bits(3) == expected; }) == 0;
      }),
      0);
  EXPECT_TRUE(caller.bits(2) == expected);
}

TEST(Caller, CompilesInTheChildOfAFork) {
  Caller caller(64, false);
  caller.compile();
  std::string expected = caller.bits(2);
  EXPECT_EQ(inChild([&] {
              caller.compile(); // ends the one of the parent
              return caller.bits(2) == expected;
            }),
            0);
}

/// The child has the attention as it was in the middle of a run.
TEST(Caller, ForksWhileAnotherThreadRuns) {
  Caller caller(700, false), other(700, false);
  caller.compile();
  other.compile();
  std::string expected = caller.bits(1);
  EXPECT_TRUE(other.bits(2) == expected);
  std::atomic<bool> stop{false};
  std::thread runner([&] {
    for (int run = 0; !stop; ++run)
      EXPECT_TRUE(caller.bits(2 + run % 2) == expected);
  });
  for (int fork = 0; fork < 12; ++fork)
    EXPECT_EQ(inChild([&] {
                return other.bits(2) == expected &&
                       caller.bits(2) == expected && other.bits(3) == expected;
              }),
              0);
  stop = true;
  runner.join();
}

TEST(Caller, ForksWhileAnotherThreadCompiles) {
  Caller caller(32, false), other(32, false);
  caller.compile();
  std::string expected = caller.bits(1);
  std::atomic<bool> stop{false};
  std::thread compiler([&] {
    while (!stop)
      other.compile();
  });
  for (int fork = 0; fork < 4; ++fork)
    EXPECT_EQ(inChild([&] {
                caller.compile();
                return caller.bits(2) == expected;
              }),
              0);
  stop = true;
  compiler.join();
}

} // namespace
