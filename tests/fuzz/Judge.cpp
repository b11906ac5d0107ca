//===- Judge.cpp - whether a run of a case was right ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/fuzz/Judge.h"
#include "tests/fuzz/Domain.h"
#include "tests/fuzz/GradientTerms.h"
#include "tests/fuzz/RunCase.h"
#include "tests/numerics/Npy.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <algorithm>
#include <cmath>

using namespace raytention;
using namespace raytention::fuzz;
namespace json = llvm::json;

static Verdict fail(const llvm::Twine &why) {
  return {Verdict::Failed, why.str(), {}};
}

//===----------------------------------------------------------------------===//
// What a run says
//===----------------------------------------------------------------------===//

/// The items that did not pass: "top:1 err 1e-3 tol 2e-05 e 1e-6".
static std::string describeItems(const json::Object &check) {
  std::string text;
  const json::Array *items = check.getArray("items");
  if (!items)
    return text;
  for (const json::Value &value : *items) {
    const json::Object *item = value.getAsObject();
    if (!item || item->getBoolean("passed") != false)
      continue;
    auto number = [&](const char *name) {
      std::optional<double> found = item->getNumber(name);
      return found ? llvm::formatv("{0:e1}", *found).str() : "null";
    };
    text += (text.empty() ? "" : "; ") +
            item->getString("name").value_or("?").str() + " err " +
            number("err") + " tol " + number("tol") + " e " +
            number("score_error");
  }
  return text;
}

/// The verdict on exit code 1.
static Verdict judgeCheck(const Case &c, const ProgramResult &result) {
  llvm::StringRef line = llvm::StringRef(result.err).trim();
  llvm::Expected<json::Value> parsed = json::parse(result.out);
  const json::Object *check = nullptr;
  if (parsed && parsed->getAsObject())
    check = parsed->getAsObject()->getObject("check");
  if (!parsed)
    llvm::consumeError(parsed.takeError());
  if (line.contains("finite")) {
    // What sums before it divides may pass the limit a little sooner.
    long double terms = findLargestTerms(c);
    if (terms >= (c.type == Type::F64 ? 0x1p999 : 0x1p119))
      return {Verdict::Overflow, "", {}};
    return fail("terms of gradients up to " +
                llvm::Twine(llvm::formatv("2^{0}", std::ilogb(terms)).str()) +
                ", and: " + line);
  }
  if (!check)
    return fail("exit 1 without a check: " + line);
  const json::Value *passed = check->get("passed");
  if (passed && passed->getAsNull())
    return {Verdict::Unchecked, "", {}};
  return fail(describeItems(*check) + " (" + line.split('\n').first + ")");
}

/// The verdict on the exit code.
static Verdict judgeResult(const Case &c, const ProgramResult &result) {
  Domain domain = findDomain(c);
  llvm::StringRef line = llvm::StringRef(result.err).trim();
  switch (result.code) {
  case 0:
    if (domain.place == Domain::Outside)
      return fail("accepted outside of the domain, limit of " + domain.limit);
    return {};
  case 1:
    return judgeCheck(c, result);
  case 2:
    if (domain.place == Domain::Inside)
      return fail("refused inside of the domain: " + line);
    if (line.contains('\n') || !line.starts_with("rt: error: "))
      return fail("expected one line, got: " + line);
    return {Verdict::Refused, "", {}};
  default:
    return fail("exit code " + llvm::Twine(result.code) + ": " + line);
  }
}

//===----------------------------------------------------------------------===//
// What a run writes
//===----------------------------------------------------------------------===//

/// An output's row of `width` that has to be zero, or its first that is not
/// finite.
static std::string checkRows(const test::NpyArray &array, int64_t width,
                             llvm::function_ref<bool(int64_t)> isZero) {
  for (size_t i = 0; i < array.values.size(); ++i) {
    int64_t row = width ? int64_t(i) / width : 0;
    if (!std::isfinite(array.values[i]))
      return llvm::formatv("not finite at row {0}", row);
    if (isZero(row) && array.values[i] != 0)
      return llvm::formatv("{0:e2} in row {1}, expected zero", array.values[i],
                           row);
  }
  return "";
}

static std::string checkOutputs(const Case &c, const CaseFolder &folder) {
  std::vector<bool> read = findReadRows(c);
  auto isPadding = [&](int64_t row) {
    return !c.isVisible(row / c.numQueries, row % c.numQueries);
  };
  auto isUnread = [&](int64_t row) { return !read[row]; };
  auto never = [](int64_t) { return false; };
  for (const std::string &name : outputNames(c)) {
    auto array = test::readNpy(folder.file("out/" + name));
    if (!array)
      return name + " is missing";
    bool isSignals = name == "signals.npy" || name == "raw.npy";
    std::string wrong =
        isSignals              ? checkRows(*array, c.signalWidth(), isPadding)
        : name == "dq.npy"     ? checkRows(*array, c.width, isPadding)
        : name == "dtable.npy" ? checkRows(*array, c.width, isUnread)
                               : checkRows(*array, 0, never);
    if (!wrong.empty())
      return name + ": " + wrong;
  }
  return "";
}

/// The result of a run is the same again: not one bit differs.
static std::string compareOutputs(const Case &c, const CaseFolder &one,
                                  const CaseFolder &other) {
  for (const std::string &name : outputNames(c))
    if (readBytes(one.file("out/" + name)) !=
        readBytes(other.file("out/" + name)))
      return name;
  return "";
}

//===----------------------------------------------------------------------===//
// Relations
//===----------------------------------------------------------------------===//

/// Replaces what no visible row reads; whether there is anything.
static bool replaceUnread(Case &c, llvm::function_ref<double(double)> change) {
  bool any = false;
  auto replace = [&](std::vector<double> &values, int64_t row, int64_t width) {
    for (int64_t i = row * width; i < (row + 1) * width; ++i) {
      values[i] = change(values[i]);
      any = true;
    }
  };
  for (int64_t b = 0; b < c.batch; ++b)
    for (int64_t row = 0; row < c.numQueries; ++row) {
      if (c.isVisible(b, row))
        continue;
      replace(c.queries, b * c.numQueries + row, c.width);
      if (c.backward)
        replace(c.gradient, b * c.numQueries + row, c.signalWidth());
    }
  std::vector<bool> read = findReadRows(c);
  for (int64_t row = 0; row < c.vocab; ++row)
    if (!read[row])
      replace(c.table, row, c.width);
  return any;
}

/// The other case of a relation; whether it differs.
static bool changeCase(Case &c, Relation relation) {
  switch (relation) {
  case Relation::None:
    return false;
  case Relation::Threads:
    c.threads = c.threads == 1 ? 2 : 1;
    return true;
  case Relation::OtherUnread:
    return replaceUnread(c, [](double value) { return 1 - value / 2; });
  case Relation::NanUnread:
    return replaceUnread(c, [](double) { return NAN; });
  case Relation::Schedule:
    c.queryTile = c.queryTile == 5 ? 8 : 5;
    c.keyChunk = c.keyChunk == 7 ? 16 : 7;
    if (c.family == "stored") {
      c.queryChunk = c.queryChunk == 5 ? 9 : 5;
      return true;
    }
    if (c.foldChunk)
      c.foldChunk = c.foldChunk == 5 ? 9 : 5;
    else
      c.splitKeys = c.splitKeys == 2 ? 3 : 2;
    c.scores = c.scores == "keep" ? "recompute" : "keep";
    return c.target == "cpu";
  }
  return false;
}

Relation fuzz::chooseRelation(const Case &c, uint64_t number) {
  switch (number % 16) {
  case 1:
    return Relation::Threads;
  case 4:
    return Relation::OtherUnread;
  case 8:
    return Relation::NanUnread;
  case 11:
    return c.target == "cpu" ? Relation::Schedule : Relation::Threads;
  default:
    return Relation::None;
  }
}

static Verdict judgeRelation(const Case &c, Relation relation,
                             const CaseFolder &folder) {
  Case other = c;
  if (!changeCase(other, relation))
    return {};
  CaseFolder changed(other, "-changed");
  ProgramResult result =
      changed.run(/*check=*/relation == Relation::Schedule, /*out=*/true);
  Verdict verdict;
  if (relation == Relation::Schedule)
    verdict = judgeResult(other, result);
  else if (result.code != 0)
    verdict =
        fail("exit code " + llvm::Twine(result.code) +
             " of the changed case: " + llvm::StringRef(result.err).trim());
  else if (std::string name = compareOutputs(c, folder, changed); !name.empty())
    verdict = fail(name + " has other bits");
  if (verdict.kind != Verdict::Failed)
    return {};
  const char *names[] = {"", "threads", "other values where nothing is read",
                         "NaN where nothing is read", "another schedule"};
  verdict.why = std::string(names[int(relation)]) + ": " + verdict.why;
  verdict.commands = {result.command};
  changed.keep();
  return verdict;
}

Verdict fuzz::judge(const Case &c, Relation relation) {
  CaseFolder folder(c);
  ProgramResult result = folder.run(/*check=*/true, /*out=*/true);
  Verdict verdict = judgeResult(c, result);
  if (verdict.kind == Verdict::Unchecked) {
    // A failed check writes nothing.
    ProgramResult plain = folder.run(/*check=*/false, /*out=*/true);
    if (plain.code != 0)
      verdict = fail("unchecked, and exit code " + llvm::Twine(plain.code) +
                     " without a check");
  }
  if (verdict.kind == Verdict::Passed || verdict.kind == Verdict::Unchecked) {
    std::string wrong = checkOutputs(c, folder);
    if (!wrong.empty())
      verdict = fail(wrong);
  }
  if (verdict.kind == Verdict::Passed || verdict.kind == Verdict::Unchecked) {
    Verdict related = judgeRelation(c, relation, folder);
    if (related.kind == Verdict::Failed)
      verdict = related;
  }
  if (verdict.kind == Verdict::Failed) {
    folder.keep();
    verdict.commands.insert(verdict.commands.begin(), result.command);
  }
  return verdict;
}
