//===- BackwardTest.cpp - rt run --backward -------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the tool does around a backward run, with an attention that asks the
// oracle.
//
//===----------------------------------------------------------------------===//

#include "raytention/DefaultInputs.h"
#include "tests/unit/OracleAttention.h"

#include "llvm/Support/JSON.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace raytention;
using namespace raytention::tool;
using namespace raytention::test;

namespace {

const std::string plays = RAYTENTION_TEST_DATA "/plays.txt";

/// `rt run --backward` on 24 words of the plays with more options.
std::vector<std::string> backwardArgs(std::vector<std::string> more) {
  std::vector<std::string> args = {
      "run",  "--backward", "--text", plays,       "--vocab",
      "word", "--seq-len",  "24",     "--d-model", "4"};
  args.insert(args.end(), more.begin(), more.end());
  return args;
}

bool has(const std::string &text, llvm::StringRef part) {
  return llvm::StringRef(text).contains(part);
}

/// One part of what `rt --json` printed.
llvm::json::Object parseReport(const ToolOutput &output) {
  auto value = llvm::json::parse(output.out);
  if (!value) {
    ADD_FAILURE() << llvm::toString(value.takeError()) << output.err;
    return {};
  }
  return *value->getAsObject();
}

} // namespace

TEST(Backward, ReportsForPeople) {
  ToolOutput output =
      runRtOnOracle(backwardArgs({"--check", "--gradcheck", "--dtype", "f64"}));
  EXPECT_EQ(output.code, 0) << output.err << output.out;
  EXPECT_TRUE(has(output.out, "backward      2.000 ms")) << output.out;
  EXPECT_TRUE(has(output.out, "check of all 24 rows: passed")) << output.out;
  for (const char *item : {"dq", "dtable", "dtau", "dgammas"})
    EXPECT_TRUE(has(output.out, std::string("\n  ") + item + " ")) << item;
  EXPECT_TRUE(has(output.out, "gradient padding")) << output.out;
  EXPECT_TRUE(has(output.out, "gradcheck by central differences: passed"))
      << output.out;
  EXPECT_TRUE(has(output.out, "64 of 96")) << output.out;
}

TEST(Backward, ReportsForPrograms) {
  for (const char *dtype : {"f32", "f64"}) {
    std::vector<std::string> more = {"--check", "--json", "--dtype", dtype};
    if (dtype[1] == '6')
      more.push_back("--gradcheck");
    llvm::json::Object report =
        parseReport(runRtOnOracle(backwardArgs(std::move(more))));
    const llvm::json::Object *backward = report.getObject("backward");
    ASSERT_TRUE(backward);
    EXPECT_EQ(backward->getNumber("run_ms"), 2.0);
    EXPECT_EQ(backward->getInteger("workspace_bytes"), 64);
    EXPECT_TRUE(backward->get("peak_extra_bytes"));
    const llvm::json::Object *check = report.getObject("check");
    ASSERT_TRUE(check);
    EXPECT_EQ(check->getBoolean("passed"), true);
    // Twelve channels, four gradients, and tokens that no query sees.
    ASSERT_EQ(check->getArray("items")->size(), 17u);
    const llvm::json::Object *dq =
        (*check->getArray("items"))[12].getAsObject();
    EXPECT_EQ(dq->getString("name"), "dq");
    for (const char *field : {"err", "tol", "score_error"})
      EXPECT_TRUE(dq->getNumber(field)) << field;
    if (dtype[1] == '3')
      continue;
    const llvm::json::Object *gradcheck = report.getObject("gradcheck");
    ASSERT_TRUE(gradcheck);
    EXPECT_EQ(gradcheck->getBoolean("passed"), true);
    ASSERT_EQ(gradcheck->getArray("items")->size(), 4u);
    const llvm::json::Object *item =
        (*gradcheck->getArray("items"))[3].getAsObject();
    EXPECT_EQ(item->getString("name"), "dgammas");
    EXPECT_EQ(item->getInteger("compared"), 5);
    EXPECT_EQ(item->getInteger("coordinates"), 5);
    EXPECT_EQ(item->getInteger("skipped"), 0);
  }
}

TEST(Backward, WritesGradientsOfTheDrawnDy) {
  TempFolder folder;
  std::string out = folder.file("out");
  ASSERT_EQ(
      runRtOnOracle(backwardArgs({"--out", out, "--channels", "predecessor"}))
          .code,
      0);
  auto dq = readNpy(out + "/dq.npy", true, 3, false);
  auto dtable = readNpy(out + "/dtable.npy", true, 2, false);
  auto dtau = readNpy(out + "/dtau.npy", true, 0, false);
  auto dgammas = readNpy(out + "/dgammas.npy", true, 1, false);
  auto signals = readNpy(out + "/signals.npy", true, 3, false);
  auto raw = readNpy(out + "/raw.npy", true, 3, false);
  ASSERT_TRUE(dq && dtable && dtau && dgammas && signals && raw);
  EXPECT_EQ(dq->shape, (llvm::SmallVector<int64_t, 4>{1, 24, 4}));
  EXPECT_EQ(dtable->shape, (llvm::SmallVector<int64_t, 4>{13338, 4}));
  EXPECT_EQ(dtau->shape.size(), 0u);
  EXPECT_EQ(dgammas->shape, (llvm::SmallVector<int64_t, 4>{0}));
  EXPECT_EQ(dtable->type, NpyType::F4);
  // The first token occurs once in 24: its gradient is G of row 0 alone.
  double along = 0, norm = 0;
  for (int64_t d = 0; d < 4; ++d) {
    along += signals->floatAt(d) * float(normalAt(0, InputStream::Grad, d));
    norm += raw->floatAt(d) * raw->floatAt(d);
  }
  for (int64_t d = 0; d < 4; ++d)
    EXPECT_NEAR(
        dtable->floatAt(d),
        (normalAt(0, InputStream::Grad, d) - signals->floatAt(d) * along) /
            std::sqrt(norm),
        1e-5);
}

TEST(Backward, ForwardLeavesNoGradientsBehind) {
  TempFolder folder;
  std::string out = folder.file("out");
  ASSERT_EQ(runRtOnOracle(backwardArgs({"--out", out})).code, 0);
  std::vector<std::string> args = backwardArgs({"--out", out});
  args.erase(args.begin() + 1);
  ASSERT_EQ(runRtOnOracle(args).code, 0);
  EXPECT_EQ(readFile(out + "/dq.npy"), "");
  EXPECT_NE(readFile(out + "/raw.npy"), "");
}

TEST(Backward, ReadsAndRefusesGradients) {
  TempFolder folder;
  std::vector<float> ones(24 * 4, 1), wild = ones;
  wild[29] = NAN;
  writeFile(folder.file("good.npy"),
            npyBytes<float>(NpyType::F4, {24, 4}, ones));
  writeFile(folder.file("wild.npy"),
            npyBytes<float>(NpyType::F4, {1, 24, 4}, wild));
  auto run = [&](const char *name, const char *channels) {
    return runRtOnOracle(backwardArgs(
        {"--check", "--channels", channels, "--grad", folder.file(name)}));
  };
  EXPECT_EQ(run("good.npy", "centroid").code, 0);
  ToolOutput shape = run("good.npy", "centroid,spread");
  EXPECT_EQ(shape.code, 2);
  EXPECT_TRUE(has(shape.err, "--grad: expected shape [1, 24, 5], got "
                             "[1, 24, 4]"))
      << shape.err;
  ToolOutput value = run("wild.npy", "centroid");
  EXPECT_EQ(value.code, 2);
  EXPECT_TRUE(has(value.err, "got nan at [0, 7, 1]")) << value.err;
  EXPECT_EQ(run("none.npy", "centroid").code, 2);
}

TEST(Backward, FindsPlantedFaults) {
  using oracle::Gradients;
  const std::pair<const char *, oracle::GradientPart Gradients::*> parts[] = {
      {"dq", &Gradients::queries},
      {"dtable", &Gradients::table},
      {"dtau", &Gradients::tau},
      {"dgammas", &Gradients::gammas}};
  for (auto [name, part] : parts)
    for (const char *how : {"--check", "--gradcheck"}) {
      TempFolder folder;
      auto fault = [part = part](Gradients &gradients, int64_t) {
        for (double &value : (gradients.*part).values)
          value += value == 0 ? 0 : 1e-5 * std::max(1.0, std::fabs(value));
      };
      ToolOutput output = runRtOnOracle(
          backwardArgs({how, "--dtype", "f64", "--out", folder.file("bad")}),
          fault);
      EXPECT_EQ(output.code, 1) << name << how << output.out << output.err;
      size_t line = output.out.find(std::string("\n  ") + name + " ");
      ASSERT_NE(line, std::string::npos);
      EXPECT_TRUE(has(
          output.out.substr(line + 1, output.out.find('\n', line + 1) - line),
          "FAILED at ["))
          << output.out;
      EXPECT_TRUE(has(output.err, "nothing written to --out")) << output.err;
      EXPECT_EQ(folder.entries().size(), 0u);
    }
}

/// With or without a check: the gradient is named, and no file is left.
TEST(Backward, NamesAGradientThatIsNotFinite) {
  using oracle::Gradients;
  const std::pair<const char *, oracle::GradientPart Gradients::*> parts[] = {
      {"dq", &Gradients::queries},
      {"dtable", &Gradients::table},
      {"dtau", &Gradients::tau},
      {"dgammas", &Gradients::gammas}};
  for (auto [name, part] : parts)
    for (double value : {double(INFINITY), double(NAN)})
      for (bool check : {false, true}) {
        TempFolder folder;
        std::vector<std::string> args =
            backwardArgs({"--out", folder.file("bad")});
        if (check)
          args.push_back("--check");
        ToolOutput output = runRtOnOracle(
            args, [&, part = part](Gradients &gradients, int64_t) {
              (gradients.*part).values.back() = value;
            });
        EXPECT_EQ(output.code, 1) << output.out << output.err;
        EXPECT_TRUE(
            has(output.err, std::string(name) + ": expected finite values"))
            << output.err;
        EXPECT_EQ(llvm::StringRef(output.err).count('\n'), 1u) << output.err;
        EXPECT_EQ(folder.entries().size(), 0u);
      }
}

/// Queries so near their key that the score error is larger than the score.
TEST(Backward, SaysWhatIsUncheckedAndWhatIsZero) {
  TempFolder folder;
  writeFile(folder.file("q.npy"),
            npyBytes<float>(NpyType::F4, {1, 2, 1}, {500.0f, 500.0f}));
  writeFile(folder.file("k.npy"),
            npyBytes<float>(NpyType::F4, {1, 1}, {500.125f}));
  writeFile(folder.file("i.npy"),
            npyBytes<int32_t>(NpyType::I4, {1, 2}, {0, 0}));
  std::vector<std::string> args = {"run",
                                   "--check",
                                   "--ids",
                                   folder.file("i.npy"),
                                   "--queries",
                                   folder.file("q.npy"),
                                   "--table",
                                   folder.file("k.npy"),
                                   "--channels",
                                   "max_score,decay:backward:0",
                                   "--gammas",
                                   "0.5",
                                   "--backward",
                                   "--out",
                                   folder.file("out")};
  ToolOutput output = runRtOnOracle(args);
  EXPECT_EQ(output.code, 1) << output.err;
  EXPECT_TRUE(has(output.out, "check of all 2 rows: unchecked")) << output.out;
  EXPECT_TRUE(has(output.out, "unchecked: the score error")) << output.out;
  EXPECT_TRUE(has(output.out, "passed (the true value is 0 within rounding"))
      << output.out;
  EXPECT_FALSE(has(output.out, "FAILED")) << output.out;
  EXPECT_EQ(folder.entries().size(), 3u); // no out
  args.push_back("--json");
  llvm::json::Object report = parseReport(runRtOnOracle(args));
  const llvm::json::Object *check = report.getObject("check");
  ASSERT_TRUE(check);
  EXPECT_TRUE(check->get("passed")->getAsNull());
  auto item = [&](size_t n) {
    return (*check->getArray("items"))[n].getAsObject();
  };
  EXPECT_EQ(item(0)->getString("name"), "max_score");
  EXPECT_TRUE(item(0)->get("passed")->getAsNull());
  EXPECT_EQ(item(1)->getBoolean("passed"), true);
  EXPECT_EQ(item(1)->getBoolean("zero"), false);
  EXPECT_EQ(item(5)->getString("name"), "dgammas");
  EXPECT_EQ(item(5)->getBoolean("zero"), true);
  EXPECT_EQ(item(5)->getBoolean("passed"), true);
  // A failure outweighs it.
  ToolOutput failed = runRtOnOracle(
      args, [](oracle::Gradients &g, int64_t) { g.gammas.values[0] = 1; });
  EXPECT_EQ(parseReport(failed).getObject("check")->getBoolean("passed"),
            false);
}

/// The second query is as far from either key: its largest score has a kink
/// there, seen from the query and from both keys.
TEST(Backward, GradcheckCountsKinks) {
  TempFolder folder;
  writeFile(folder.file("q.npy"),
            npyBytes<double>(NpyType::F8, {1, 2, 1}, {0.5, 0.0}));
  writeFile(folder.file("k.npy"),
            npyBytes<double>(NpyType::F8, {2, 1}, {-1.0, 1.0}));
  writeFile(folder.file("i.npy"),
            npyBytes<int32_t>(NpyType::I4, {1, 2}, {0, 1}));
  llvm::json::Object report = parseReport(runRtOnOracle(
      {"run", "--backward", "--gradcheck", "--dtype=f64", "--json", "--ids",
       folder.file("i.npy"), "--queries", folder.file("q.npy"), "--table",
       folder.file("k.npy"), "--channels", "max_score,predecessor"}));
  const llvm::json::Object *gradcheck = report.getObject("gradcheck");
  ASSERT_TRUE(gradcheck);
  EXPECT_EQ(gradcheck->getBoolean("passed"), true);
  const llvm::json::Array &items = *gradcheck->getArray("items");
  EXPECT_EQ(items[0].getAsObject()->getInteger("skipped"), 1);
  EXPECT_EQ(items[0].getAsObject()->getInteger("compared"), 1);
  EXPECT_EQ(items[1].getAsObject()->getInteger("skipped"), 2);
}

/// A million keys are too many to compare, T^2 D > 1e12, even where the few
/// queries see none but the first.
TEST(Backward, SampledChecksMaskTheGradient) {
  int64_t rowsWithGradient[2] = {0, 0};
  int run = 0;
  TempFolder folder;
  writeFile(folder.file("q.npy"),
            npyBytes<float>(NpyType::F4, {600, 1}, std::vector<float>(600, 1)));
  ToolOutput output = runRtOnOracle(
      {"run", "--backward", "--check", "--text", plays, "--vocab", "byte",
       "--seq-len", "1000001", "--query-offset", "0", "--queries",
       folder.file("q.npy"), "--channels", "centroid,top:1", "--dtype", "f64"},
      [&](oracle::Gradients &, int64_t rows) {
        ASSERT_LT(run, 2);
        rowsWithGradient[run++] = rows;
      });
  EXPECT_EQ(output.code, 0) << output.err << output.out;
  EXPECT_EQ(run, 2);
  EXPECT_EQ(rowsWithGradient[0], 600);
  EXPECT_LT(rowsWithGradient[1], 500);
  EXPECT_GT(rowsWithGradient[1], 150);
  EXPECT_TRUE(has(output.out, "(gradients: dy zero elsewhere): passed"))
      << output.out;
}

/// Decay bases at the end of the domain, temperatures about their floor.
TEST(Backward, GradcheckStaysInTheDomain) {
  for (const char *options :
       {"--gammas 7.888609052210118e-31,1e-30,1e-20,1e-9,1e-3",
        "--gammas 7.888609052210118e-31,1e-30,1e-20,1e-9,1e-3 --decay-origin "
        "query",
        "--gammas 1,1,0.99999999,1e-6,1", "--tau 0.01", "--tau 0.0100000001",
        "--tau 0.0099999999", "--tau 1e-5"}) {
    std::vector<std::string> args = {
        "run",       "--text", plays,        "--vocab", "word",
        "--seq-len", "6",      "--d-model",  "4",       "--backward",
        "--dtype",   "f64",    "--gradcheck"};
    llvm::SmallVector<llvm::StringRef> words;
    llvm::StringRef(options).split(words, ' ', -1, false);
    for (llvm::StringRef word : words)
      args.push_back(word.str());
    ToolOutput output = runRtOnOracle(args);
    EXPECT_EQ(output.code, 0) << options << output.out << output.err;
    for (const char *item : {"dtau ", "dgammas "}) { // none is skipped
      llvm::StringRef line =
          llvm::StringRef(output.out).split(std::string("\n  ") + item).second;
      EXPECT_TRUE(has(line.split('\n').first.str(), item[1] == 't'
                                                        ? "1 of 1          0"
                                                        : "5 of 5          0"))
          << options << output.out;
    }
  }
}

/// The compiled attention itself.
/// On the floor of tau, as the path rounds it, and under it; the second list
/// has no other gradient of tau.
TEST(Backward, PassesItsChecksAtTheFloorOfTau) {
  for (auto [dtype, tau] :
       {std::pair{"f32", "0.01"}, std::pair{"bf16", "0.01"},
        std::pair{"f64", "0.001"}, std::pair{"f64", "0.01"}}) {
    auto args = [&, dtype = dtype, tau = tau](const char *channels) {
      return std::vector<std::string>{
          "run",       "--text",  plays,        "--vocab",    "word",
          "--seq-len", "6",       "--d-model",  "2",          "--tau",
          tau,         "--dtype", dtype,        "--channels", channels,
          "--gammas",  "0.9",     "--backward", "--check"};
    };
    ToolOutput output = runRt(args("decay:backward:0,spread"));
    EXPECT_EQ(output.code, 0) << dtype << tau << output.out;
    if (dtype[0] == 'b') // not what the stand-in reads
      continue;
    output = runRtOnOracle(args("centroid,decay:backward:0,entropy"));
    EXPECT_EQ(output.code, 0) << dtype << tau << output.out;
  }
}

/// Scores of tens of thousands: distances that cancel must not meet.
TEST(Backward, StaysExactAtLowTemperatures) {
  for (const char *channels : {"predecessor,spread", "spread,predecessor"}) {
    ToolOutput output =
        runRt({"run", "--text", plays, "--vocab", "byte", "--seq-len", "64",
               "--d-model", "300", "--tau", "0.011", "--backward", "--check",
               "--channels", channels});
    EXPECT_EQ(output.code, 0) << channels << output.out << output.err;
  }
}

/// One key, one number, a decay that leaves one key: gradients that are 0 but
/// for what rounding leaves of large terms.
TEST(Backward, ChecksPassWhereGradientsCancel) {
  for (const char *options :
       {"--seq-len 1 --d-model 64 --channels centroid",
        "--seq-len 1 --d-model 3", "--seq-len 64 --d-model 1 --channels top:2",
        "--seq-len 31 --d-model 5 --channels decay:backward:0 --gammas 1e-12 "
        "--decay-origin query --metric l2"}) {
    std::vector<std::string> args = {"run",  "--text",     plays,    "--vocab",
                                     "word", "--backward", "--check"};
    llvm::SmallVector<llvm::StringRef> words;
    llvm::StringRef(options).split(words, ' ', -1, false);
    for (llvm::StringRef word : words)
      args.push_back(word.str());
    ToolOutput output = runRt(args);
    EXPECT_EQ(output.code, 0) << options << output.out << output.err;
  }
}

TEST(Backward, PassesItsChecksOnTheCpu) {
  for (const char *scores : {"keep", "recompute"}) {
    ToolOutput output = runRt(backwardArgs(
        {"--check", "--gradcheck", "--dtype", "f64", "--scores", scores,
         "--channels", "centroid,decay:backward:0,spread,top:1"}));
    EXPECT_EQ(output.code, 0) << scores << output.out << output.err;
  }
}
