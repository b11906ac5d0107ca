//===- Report.cpp - what a run says on stdout -----------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/rt/Report.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using llvm::StringRef;
namespace json = llvm::json;

namespace raytention::tool {

json::Value jsonNumber(std::optional<double> value) {
  if (!value || !std::isfinite(*value))
    return nullptr;
  return *value;
}

json::Value jsonText(StringRef text) {
  return json::isUTF8(text) ? text.str() : json::fixUTF8(text);
}

/// GFLOP/s of the result; nothing where no time was measured.
static std::optional<double> usefulGflops(const Report &report) {
  double ms = report.result.report.runMs;
  if (!(ms > 0))
    return std::nullopt;
  return usefulFlops(report.inputs) / (ms * 1e6);
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static void line(llvm::raw_ostream &os, StringRef name,
                 const llvm::Twine &value) {
  os << llvm::formatv("{0,-14}{1}\n", name, value.str());
}

/// "3.2 MiB": three figures are enough for a person.
static std::string bytesText(int64_t bytes) {
  static constexpr const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = double(bytes);
  int unit = 0;
  for (; value >= 1024 && unit < 4; ++unit)
    value /= 1024;
  return unit ? llvm::formatv("{0:f1} {1}", value, units[unit]).str()
              : llvm::formatv("{0} B", bytes).str();
}

static void printShape(const Report &report, llvm::raw_ostream &os) {
  const RunInputs &in = report.inputs;
  line(os, "shape",
       llvm::formatv("B {0}, Tq {1}, T {2}, V {3}, D {4}, S {5}, {6}", in.batch,
                     in.numQueries, in.numKeys, in.vocab, in.dModel(),
                     report.result.width, dtypeName(in.spec.dtype))
           .str());
  line(os, "target",
       llvm::formatv("{0}, {1} thread{2}", targetName(report.target),
                     report.result.report.threads,
                     report.result.report.threads == 1 ? "" : "s")
           .str());
  line(os, "schedule", report.result.schedule);
}

static void printMemory(StringRef what, const RunReport &run,
                        std::optional<int64_t> peakExtraBytes,
                        llvm::raw_ostream &os) {
  line(os, what.str() + "workspace",
       bytesText(run.workspaceBytes) + ", " +
           bytesText(run.workspaceBytesPerThread) + " per thread");
  line(os, what.str() + "peak extra",
       peakExtraBytes ? bytesText(*peakExtraBytes)
                      : std::string("not known here"));
}

static void printTimes(const Report &report, llvm::raw_ostream &os) {
  const RunResult &result = report.result;
  line(os, "compile", llvm::formatv("{0:f1} ms", result.compileMs).str());
  line(os, "run", llvm::formatv("{0:f3} ms", result.report.runMs).str());
  if (auto gflops = usefulGflops(report))
    line(os, "useful", llvm::formatv("{0:f2} GFLOP/s", *gflops).str());
  printMemory("", result.report, result.peakExtraBytes, os);
  if (const auto &gradients = result.gradients) {
    line(os, "backward",
         llvm::formatv("{0:f3} ms", gradients->report.runMs).str());
    printMemory("  ", gradients->report, gradients->peakExtraBytes, os);
  }
}

static StringRef verdictText(oracle::Verdict verdict) {
  switch (verdict) {
  case oracle::Verdict::Passed:
    return "passed";
  case oracle::Verdict::Unchecked:
    return "unchecked";
  case oracle::Verdict::Failed:
    break;
  }
  return "FAILED";
}

/// The verdict on one item and, where it needs one, its reason.
static std::string itemText(const oracle::CheckItem &item) {
  std::string text = verdictText(item.verdict).str();
  if (item.verdict == oracle::Verdict::Failed)
    text += " at " + item.where;
  if (item.verdict == oracle::Verdict::Unchecked)
    text += ": the score error allows half of the value";
  if (item.isZero)
    text += " (the true value is 0 within rounding: errors are absolute)";
  if (item.nearTies > 0)
    text += llvm::formatv(" ({0} near tie{1})", item.nearTies,
                          item.nearTies == 1 ? "" : "s");
  return text;
}

static void printCheck(const CheckOutcome &check, llvm::raw_ostream &os) {
  const oracle::CheckReport &report = check.report;
  if (check.sampled)
    os << llvm::formatv("\ncheck of {0} sampled rows of {1}, as T^2 D > 1e12{2}"
                        ": {3}\n",
                        report.numRows, check.totalRows,
                        check.gradients ? " (gradients: dy zero elsewhere)"
                                        : "",
                        verdictText(report.verdict));
  else
    os << llvm::formatv("\ncheck of all {0} rows: {1}\n", report.numRows,
                        verdictText(report.verdict));
  os << llvm::formatv("  {0,-20} {1,10} {2,10} {3,12}\n", "item", "err", "tol",
                      "score error");
  for (const oracle::CheckItem &item : report.items)
    os << llvm::formatv("  {0,-20} {1,10:e2} {2,10:e2} {3,12:e2}  {4}\n",
                        item.name, item.err, item.tol,
                        item.relativeScoreError(), itemText(item));
}

static void printGradcheck(const GradcheckOutcome &check,
                           llvm::raw_ostream &os) {
  os << llvm::formatv("\ngradcheck by central differences: {0}\n",
                      check.passed ? "passed" : "FAILED");
  os << llvm::formatv("  {0,-20} {1,10} {2,10} {3,12} {4,10}\n", "item", "err",
                      "tol", "compared", "skipped");
  for (const GradcheckItem &item : check.items)
    os << llvm::formatv(
        "  {0,-20} {1,10:e2} {2,10:e2} {3,12} {4,10}  {5}\n", item.name,
        item.err, item.tol,
        llvm::formatv("{0} of {1}", item.compared, item.total).str(),
        item.skipped,
        item.passed ? std::string("passed") : "FAILED at " + item.where);
}

void printReport(const Report &report, llvm::raw_ostream &os) {
  printShape(report, os);
  printTimes(report, os);
  if (report.check)
    printCheck(*report.check, os);
  if (report.gradcheck)
    printGradcheck(*report.gradcheck, os);
  for (const Explanation &explanation : report.explanations) {
    os << "\n";
    printExplanation(explanation, os);
  }
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

/// Null where nothing was settled.
static json::Value verdictToJson(oracle::Verdict verdict) {
  if (verdict == oracle::Verdict::Unchecked)
    return nullptr;
  return verdict == oracle::Verdict::Passed;
}

static json::Object checkToJson(const CheckOutcome &check) {
  json::Array items;
  for (const oracle::CheckItem &item : check.report.items) {
    json::Object object{{"name", item.name},
                        {"err", jsonNumber(item.err)},
                        {"tol", jsonNumber(item.tol)},
                        {"score_error", jsonNumber(item.relativeScoreError())},
                        {"zero", item.isZero},
                        {"passed", verdictToJson(item.verdict)}};
    if (item.isZero)
      object["roundings"] = jsonNumber(item.roundings);
    items.push_back(std::move(object));
  }
  return json::Object{{"passed", verdictToJson(check.report.verdict)},
                      {"rows", check.report.numRows},
                      {"sampled", check.sampled},
                      {"items", std::move(items)}};
}

static json::Object gradcheckToJson(const GradcheckOutcome &check) {
  json::Array items;
  for (const GradcheckItem &item : check.items)
    items.push_back(json::Object{{"name", item.name},
                                 {"err", jsonNumber(item.err)},
                                 {"tol", jsonNumber(item.tol)},
                                 {"compared", item.compared},
                                 {"skipped", item.skipped},
                                 {"coordinates", item.total},
                                 {"passed", item.passed}});
  return json::Object{{"passed", check.passed}, {"items", std::move(items)}};
}

static json::Object backwardToJson(const GradientResult &gradients) {
  const RunReport &run = gradients.report;
  json::Object object{
      {"workspace_bytes", run.workspaceBytes},
      {"workspace_bytes_per_thread", run.workspaceBytesPerThread},
      {"peak_extra_bytes", nullptr},
      {"run_ms", jsonNumber(run.runMs)}};
  if (gradients.peakExtraBytes)
    object["peak_extra_bytes"] = *gradients.peakExtraBytes;
  return object;
}

static json::Object shapeToJson(const Report &report) {
  const RunInputs &in = report.inputs;
  return json::Object{{"batch", in.batch},
                      {"queries", in.numQueries},
                      {"keys", in.numKeys},
                      {"vocab", in.vocab},
                      {"d_model", in.dModel()},
                      {"signal_width", report.result.width},
                      {"dtype", dtypeName(in.spec.dtype)}};
}

void printJson(const Report &report, llvm::raw_ostream &os) {
  const RunResult &result = report.result;
  json::Object object{
      {"version", jsonVersion},
      {"shape", shapeToJson(report)},
      {"target", targetName(report.target)},
      {"schedule", jsonText(result.schedule)},
      {"threads", result.report.threads},
      {"workspace_bytes", result.report.workspaceBytes},
      {"workspace_bytes_per_thread", result.report.workspaceBytesPerThread},
      {"peak_extra_bytes", nullptr},
      {"compile_ms", jsonNumber(result.compileMs)},
      {"run_ms", jsonNumber(result.report.runMs)},
      {"useful_gflops", jsonNumber(usefulGflops(report))}};
  if (result.peakExtraBytes)
    object["peak_extra_bytes"] = *result.peakExtraBytes;
  if (result.gradients)
    object["backward"] = backwardToJson(*result.gradients);
  if (report.check)
    object["check"] = checkToJson(*report.check);
  if (report.gradcheck)
    object["gradcheck"] = gradcheckToJson(*report.gradcheck);
  if (!report.explanations.empty()) {
    json::Array explanations;
    for (const Explanation &explanation : report.explanations)
      explanations.push_back(explanationToJson(explanation));
    object["explain"] = std::move(explanations);
  }
  os << json::Value(std::move(object)) << "\n";
}

} // namespace raytention::tool
