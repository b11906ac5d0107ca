//===- ValidateTest.cpp - what is refused before any work -----------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/rt/Validate.h"

#include "raytention/DefaultInputs.h"
#include "tests/unit/Support.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace raytention;
using namespace raytention::tool;
using namespace raytention::test;

namespace {

/// Small good files: ids [2, 4] < 5, queries [2, 4, 3], table [5, 3].
class Validate : public ::testing::Test {
protected:
  void SetUp() override {
    ids("ids.npy", {2, 4}, {0, 1, 2, 3, 4, 0, 1, 2});
    floats("q.npy", {2, 4, 3}, std::vector<float>(24, 0.5f));
    floats("t.npy", {5, 3}, std::vector<float>(15, 0.25f));
    writeFile(folder.file("text"), "to be or not to be");
  }

  void ids(const std::string &name, std::vector<int64_t> shape,
           std::vector<int32_t> values) {
    writeFile(folder.file(name), npyBytes(NpyType::I4, shape, values));
  }
  void floats(const std::string &name, std::vector<int64_t> shape,
              std::vector<float> values) {
    writeFile(folder.file(name), npyBytes(NpyType::F4, shape, values));
  }

  /// Names with a '@' stand for files of the folder.
  llvm::Expected<RunInputs> assemble(std::vector<std::string> args) {
    std::vector<const char *> pointers = {"run"};
    for (std::string &arg : args) {
      if (arg[0] == '@')
        arg = folder.file(arg.substr(1));
      pointers.push_back(arg.c_str());
    }
    auto command = parseCommandLine(pointers);
    if (!command)
      return command.takeError();
    return assembleInputs(command->run);
  }

  void refuses(std::vector<std::string> args, const std::string &expected,
               const std::string &got) {
    std::string message = messageOf(assemble(std::move(args)));
    EXPECT_NE(message.find("expected " + expected), std::string::npos)
        << message << "\nwanted: " << expected;
    EXPECT_NE(message.find(got, message.find("got")), std::string::npos)
        << message << "\nwanted: " << got;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }

  TempFolder folder;
};

} // namespace

TEST_F(Validate, TakesGoodFiles) {
  auto in = assemble({"--ids", "@ids.npy", "--queries", "@q.npy", "--table",
                      "@t.npy", "--lengths", "4,2"});
  ASSERT_TRUE(bool(in)) << llvm::toString(in.takeError());
  EXPECT_EQ(in->batch, 2);
  EXPECT_EQ(in->numQueries, 4);
  EXPECT_EQ(in->numKeys, 4);
  EXPECT_EQ(in->vocab, 5);
  EXPECT_EQ(in->dModel(), 3);
  EXPECT_EQ(in->signalWidth(), 32);
  EXPECT_EQ(in->gammas.size(), 5u);
  EXPECT_EQ(in->gammas[0], double(0.99f));
  EXPECT_EQ(in->idAt(4), 4);
  EXPECT_EQ(in->visiblePairs(), 10 + 3);
  EXPECT_EQ(in->visibleKeys(1, 1), 2);
  EXPECT_EQ(in->visibleKeys(1, 2), 0);
}

TEST_F(Validate, DrawsWhatIsAbsent) {
  auto in = assemble({"--text", "@text", "--vocab", "word", "--seq-len", "4",
                      "--batch", "2", "--d-model", "6", "--dtype", "f64",
                      "--seed", "9"});
  ASSERT_TRUE(bool(in)) << llvm::toString(in.takeError());
  EXPECT_EQ(in->vocab, 5); // to, blank, be, or, not
  EXPECT_EQ(in->idAt(0), 0);
  EXPECT_EQ(in->idAt(3), 1);
  EXPECT_EQ(in->idAt(4), 3);
  double s = defaultDeviation(6);
  EXPECT_EQ(in->queries.as<double>()[7],
            s * normalAt(9, InputStream::Queries, 7));
  EXPECT_EQ(in->table.as<double>()[7], s * normalAt(9, InputStream::Table, 7));
  EXPECT_EQ(in->gammas[0], 0.99);
}

TEST_F(Validate, DrawsTheSameInEveryType) {
  std::vector<std::string> args = {"--text",    "@text", "--vocab",   "byte",
                                   "--seq-len", "4",     "--d-model", "6"};
  auto wide = assemble(args), narrow = assemble(args);
  args.insert(args.end(), {"--dtype", "bf16"});
  auto half = assemble(args);
  ASSERT_TRUE(wide && narrow && half);
  for (int i = 0; i < 24; ++i)
    EXPECT_NEAR(elementAt(half->queries, DType::BF16, i),
                elementAt(wide->queries, DType::F32, i), 0x1p-6);
}

TEST_F(Validate, HasTheSevenSignals) {
  auto in = assemble({"--ids", "@ids.npy", "--d-model", "4", "--channels",
                      "seven", "--dtype", "f64"});
  ASSERT_TRUE(bool(in)) << llvm::toString(in.takeError());
  EXPECT_EQ(in->spec.metric, "l2");
  EXPECT_EQ(in->gammas, std::vector<double>{0.7});
  EXPECT_EQ(in->signalWidth(), 22);
}

TEST_F(Validate, TakesEmptyInputs) {
  ids("none.npy", {0, 4}, {});
  ids("short.npy", {2, 0}, {});
  EXPECT_EQ(messageOf(assemble({"--ids", "@none.npy", "--d-model", "4"})), "");
  EXPECT_EQ(messageOf(assemble({"--ids", "@short.npy", "--d-model", "4"})), "");
}

TEST_F(Validate, RefusesShapes) {
  refuses({"--ids", "@ids.npy"}, "a width", "none");
  refuses({"--ids", "@none.npy", "--d-model", "4"}, "a readable .npy file",
          "No such file");
  refuses({"--ids", "@text", "--d-model", "4"}, "a .npy file", "one that");
  refuses({"--ids", "@t.npy", "--d-model", "4"}, "ids (<i4 or <i8)", "<f4");
  refuses({"--ids", "@ids.npy", "--queries", "@ids.npy"}, "floats", "<i4");
  refuses({"--ids", "@ids.npy", "--table", "@q.npy"}, "2 dimensions",
          "shape [2, 4, 3]");
  refuses({"--ids", "@ids.npy", "--table", "@t.npy", "--d-model", "4"},
          "3, as in --table", "4");
  refuses({"--ids", "@ids.npy", "--queries", "@q.npy", "--d-model", "4"},
          "3, as in --queries", "4");
  refuses({"--ids", "@ids.npy", "--d-model", "4", "--batch", "3"},
          "2, as in --ids", "3");
  refuses({"--ids", "@ids.npy", "--d-model", "4", "--seq-len", "5"},
          "4, as in --ids", "5");
  floats("wide.npy", {5, 4}, std::vector<float>(20));
  refuses({"--ids", "@ids.npy", "--queries", "@q.npy", "--table", "@wide.npy"},
          "shape [2, 4, 4]", "[2, 4, 3]");
  floats("thin.npy", {5, 0}, {});
  refuses({"--ids", "@ids.npy", "--table", "@thin.npy"}, "at least 1", "0");
  refuses({"--ids", "@ids.npy", "--d-model", "4", "--query-offset", "5"},
          "at most 4", "5");
  refuses({"--ids", "@ids.npy", "--queries", "@q.npy", "--query-offset", "1"},
          "at most 0", "1");
}

TEST_F(Validate, RefusesLengthsAndText) {
  std::vector<std::string> base = {"--ids", "@ids.npy", "--d-model", "4"};
  auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), base.begin(), base.end());
    return more;
  };
  refuses(with({"--lengths", "4"}), "2 (one per sequence)", "1");
  refuses(with({"--lengths", "4,5"}), "0..4", "5 at [1]");
  ids("lengths.npy", {2}, {-1, 4});
  refuses(with({"--lengths", "@lengths.npy"}), "0..4", "-1 at [0]");
  refuses({"--text", "@text", "--vocab", "word", "--d-model", "4"}, "a length",
          "none");
  refuses({"--text", "@text", "--vocab", "word", "--d-model", "4", "--seq-len",
           "6", "--batch", "2"},
          "at least 12 tokens (2 sequences of 6)", "11");
  refuses({"--text", "@text", "--vocab", "byte", "--d-model", "4", "--seq-len",
           "2000000000", "--batch", "2000000000"},
          "at least 4000000000000000000 tokens", "18");
  refuses({"--text", "@nothing", "--vocab", "byte"}, "a readable file",
          "No such file");
}

TEST_F(Validate, RefusesIds) {
  ids("high.npy", {2, 4}, {0, 1, 2, 3, 4, 0, 5, 2});
  ids("low.npy", {2, 4}, {0, 1, 2, 3, 4, 0, 1, -2});
  refuses({"--ids", "@high.npy", "--table", "@t.npy"}, "ids in 0..4",
          "5 at [1, 2]");
  refuses({"--ids", "@low.npy", "--d-model", "4"}, "ids in 0..4",
          "-2 at [1, 3]");
  writeFile(folder.file("huge.npy"),
            npyBytes<int64_t>(NpyType::I8, {2}, {0, INT64_MAX}));
  std::string message =
      messageOf(assemble({"--ids", "@huge.npy", "--d-model", "4"}));
  EXPECT_NE(message.find("expected ids"), std::string::npos) << message;
  writeFile(folder.file("wide.npy"),
            npyBytes<int32_t>(NpyType::I4, {2}, {0, INT32_MAX - 1}));
  message =
      messageOf(assemble({"--ids", "@wide.npy", "--d-model", "2000000000"}));
  EXPECT_NE(message.find("memory: expected"), std::string::npos) << message;
}

TEST_F(Validate, RefusesValues) {
  std::vector<float> values(24, 0.5f);
  values[17] = std::nanf("");
  floats("nan.npy", {2, 4, 3}, values);
  refuses({"--ids", "@ids.npy", "--queries", "@nan.npy"},
          "values that are finite in f32", "nan at [1, 1, 2]");
  std::vector<double> table(15, 0.25);
  table[4] = 1e39;
  writeFile(folder.file("big.npy"), npyBytes(NpyType::F8, {5, 3}, table));
  refuses({"--ids", "@ids.npy", "--table", "@big.npy"},
          "values that are finite in f32", "1e+39 at [1, 1]");
  EXPECT_EQ(messageOf(assemble({"--ids", "@ids.npy", "--table", "@big.npy",
                                "--dtype", "f64"})),
            "");
  table[4] = 3.4e38;
  writeFile(folder.file("edge.npy"), npyBytes(NpyType::F8, {5, 3}, table));
  refuses({"--ids", "@ids.npy", "--table", "@edge.npy", "--dtype", "bf16"},
          "values that are finite in bf16", "3.4e+38 at [1, 1]");
}

TEST_F(Validate, RefusesNormsBeyondTheDomain) {
  auto table = [&](double value) {
    std::vector<double> values(15, 0.25);
    values[4] = value;
    writeFile(folder.file("far.npy"), npyBytes(NpyType::F8, {5, 3}, values));
  };
  auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"--ids", "@ids.npy", "--table", "@far.npy",
                               "--queries", "@q.npy"});
    return more;
  };
  table(1e25);
  refuses(with({}), "(max ||q|| + max ||k||)^2 up to 2^120 in f32",
          "1.00e+50, from ||q|| = 8.66e-01 at [0, 0], ||k|| = 1.00e+25 at [1] "
          "and tau = 1");
  // Distances of that size fit, what is made of them does not.
  table(2e17);
  refuses(with({"--tau", "0.001", "--channels", "centroid"}),
          "(max ||q|| + max ||k||)^2 / t up to 2^120 in f32", "4.00e+36");
  table(1e10);
  refuses(with({"--channels", "spread"}), "the largest possible ||x||^2",
          "1.00e+40");
  refuses(with({"--channels", "max_score"}), "the largest possible ||x||^2",
          "1.00e+40");
  table(1e6); // distances of 1e12
  refuses(with({"--channels", "moment:2"}), "the largest possible ||x||^2",
          "1.00e+48");
  EXPECT_EQ(messageOf(assemble(with({"--channels", "moment:1"}))), "");
  table(1e10);
  for (const char *metric : {"sq_l2", "l2"})
    EXPECT_EQ(messageOf(assemble(
                  with({"--channels", "centroid", "--metric", metric}))),
              "");
  EXPECT_EQ(messageOf(assemble(with({"--metric", "l2"}))), "");
  table(1e17);
  EXPECT_EQ(messageOf(assemble(with({"--channels", "centroid"}))), "");
}

TEST_F(Validate, RefusesNormsBeyondTheDomainOfDouble) {
  auto with = [&](double value, std::vector<std::string> more) {
    writeFile(folder.file("far.npy"),
              npyBytes(NpyType::F8, {5, 3}, std::vector<double>(15, value)));
    more.insert(more.begin(), {"--ids", "@ids.npy", "--table", "@far.npy",
                               "--queries", "@q.npy", "--dtype", "f64"});
    return more;
  };
  refuses(with(1e300, {}), "(max ||q|| + max ||k||)^2 up to 2^1000 in f64",
          "3.00e+600");
  refuses(with(1e150, {}), "the largest possible ||x||^2 up to 2^1000",
          "9.00e+600");
  EXPECT_EQ(messageOf(assemble(with(1e150, {"--channels", "top:1"}))), "");
  EXPECT_EQ(messageOf(assemble(with(1e-161, {}))), "");
}

/// Of rows that no visible position reads nothing is asked.
TEST_F(Validate, TakesAnythingInPadding) {
  std::vector<float> queries(24, 0.5f), table(15, 0.25f), dy(8 * 3, 1);
  for (int n = 18; n < 24; ++n) // rows 2 and 3 of sequence 1
    queries[n] = dy[n] = n % 2 ? std::nanf("") : 1e38f;
  for (int n = 6; n < 12; ++n) // 2 and 3, which only padding names
    table[n] = n % 2 ? -INFINITY : 3e38f;
  ids("pad.npy", {2, 4}, {0, 1, 4, 0, 1, 0, 2, 3});
  floats("q.npy", {2, 4, 3}, queries);
  floats("t.npy", {5, 3}, table);
  floats("g.npy", {2, 4, 3}, dy);
  auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"--ids", "@pad.npy", "--queries", "@q.npy",
                               "--table", "@t.npy", "--grad", "@g.npy",
                               "--backward", "--channels", "centroid"});
    return more;
  };
  for (const char *dtype : {"f32", "f64"})
    EXPECT_EQ(messageOf(assemble(with({"--lengths", "4,2", "--dtype", dtype}))),
              "");
  refuses(with({"--lengths", "4,3"}), "values that are finite in f32",
          "nan at [1, 2, 1]");
  ids("pad.npy", {2, 4}, {0, 1, 3, 0, 1, 0, 2, 3});
  refuses(with({"--lengths", "4,2"}), "values that are finite in f32",
          "-inf at [3, 0]");
  ids("pad.npy", {2, 4}, {0, 1, 4, 0, 1, 0, 2, 5});
  refuses(with({"--lengths", "4,2"}), "ids in 0..4", "5 at [1, 3]");
}

TEST_F(Validate, RefusesLargeGradients) {
  auto with = [&](double value, std::vector<std::string> more) {
    std::vector<double> dy(24, 1);
    dy[13] = -value;
    writeFile(folder.file("g.npy"), npyBytes(NpyType::F8, {2, 4, 3}, dy));
    more.insert(more.begin(), {"--ids", "@ids.npy", "--table", "@t.npy",
                               "--queries", "@q.npy", "--grad", "@g.npy",
                               "--channels", "centroid", "--backward"});
    return more;
  };
  EXPECT_EQ(messageOf(assemble(with(0x1p60, {}))), "");
  refuses(with(0x1p61, {}), "|dy| up to 2^60 in f32",
          "-2.30584301e+18 at [1, 0, 1]");
  EXPECT_EQ(messageOf(assemble(with(0x1p500, {"--dtype", "f64"}))), "");
  refuses(with(0x1p501, {"--dtype", "f64"}), "|dy| up to 2^500 in f64",
          "at [1, 0, 1]");
}

TEST_F(Validate, RefusesGammasAndTau) {
  std::vector<std::string> base = {"--ids", "@ids.npy", "--d-model", "4"};
  auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), base.begin(), base.end());
    return more;
  };
  refuses(with({"--gammas", "0.5"}), "5 (the largest index", "1");
  refuses(with({"--gammas", "0.5", "--channels", "centroid"}),
          "0 (the largest index", "1");
  refuses(with({"--channels", "decay:backward:6"}), "7 (the largest index",
          "5");
  refuses(with({"--tau", "1e-60"}), "a temperature above 0", "1e-60");
  EXPECT_EQ(messageOf(assemble(with({"--channels", "decay:backward:1"}))), "");
}
