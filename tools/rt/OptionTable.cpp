//===- OptionTable.cpp - the options of rt run ----------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/rt/OptionTable.h"

#include "tools/rt/Channels.h"
#include "tools/rt/ToolError.h"

#include <cmath>

using llvm::Error;
using llvm::StringRef;

namespace raytention::tool {

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static Error wrong(StringRef name, const llvm::Twine &expected, StringRef got) {
  return usageError("{0}: expected {1}, got {2}", name, expected.str(),
                    quoted(got));
}

template <typename T>
static Error parseInt(StringRef name, StringRef value, int64_t low,
                      int64_t high, T &out) {
  int64_t number;
  if (value.getAsInteger(10, number) || number < low || number > high)
    return wrong(name,
                 "an integer in " + llvm::Twine(low) + ".." + llvm::Twine(high),
                 value);
  out = T(number);
  return Error::success();
}

static Error parseFloat(StringRef name, StringRef value, double &out) {
  if (value.empty() || value.getAsDouble(out) || !std::isfinite(out))
    return wrong(name, "a finite number", value);
  return Error::success();
}

/// Extents fit 31 bits: an index of a key is an int32.
constexpr int64_t extentLimit = INT32_MAX;

template <typename Member>
static auto intOption(Member member, int64_t low, int64_t high) {
  return [=](StringRef name, StringRef value, RunOptions &options) {
    return parseInt(name, value, low, high, options.*member);
  };
}

static auto pathOption(std::string RunOptions::*member) {
  return [=](StringRef name, StringRef value, RunOptions &options) -> Error {
    if (value.empty())
      return wrong(name, "a path", value);
    options.*member = value.str();
    return Error::success();
  };
}

static auto flagOption(bool RunOptions::*member) {
  return [=](StringRef, StringRef, RunOptions &options) -> Error {
    options.*member = true;
    return Error::success();
  };
}

static auto scheduleOption(int64_t Schedule::*member) {
  return [=](StringRef name, StringRef value, RunOptions &options) {
    return parseInt(name, value, 1, extentLimit, options.schedule.*member);
  };
}

/// One of a few words, each with a value.
template <typename T>
static Error parseWord(StringRef name, StringRef value,
                       std::initializer_list<std::pair<StringRef, T>> words,
                       T &out) {
  std::string known;
  for (auto &[word, meaning] : words) {
    if (value == word) {
      out = meaning;
      return Error::success();
    }
    known += (known.empty() ? "" : ", ") + word.str();
  }
  return wrong(name, known, value);
}

/// A comma-separated list of numbers.
template <typename T, typename Parse>
static Error parseList(StringRef value, Parse parse, std::vector<T> &out) {
  llvm::SmallVector<StringRef> parts;
  value.split(parts, ',');
  for (StringRef part : parts) {
    T number;
    if (Error error = parse(part.trim(), number))
      return error;
    out.push_back(number);
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Options with a value of their own
//===----------------------------------------------------------------------===//

/// An option that the command line names and that is not there yet.
static auto later(StringRef instead) {
  return [=](StringRef name, StringRef value, RunOptions &) -> Error {
    return usageError("{0}{1}{2} is not there yet: expected {3}", name,
                      value.empty() ? "" : " ", value, instead);
  };
}

static Error storeTau(StringRef name, StringRef value, RunOptions &options) {
  if (Error error = parseFloat(name, value, options.tau))
    return error;
  if (options.tau <= 0)
    return wrong(name, "a temperature above 0", value);
  return Error::success();
}

static Error storeGammas(StringRef name, StringRef value, RunOptions &options) {
  return parseList(
      value,
      [&](StringRef part, double &number) -> Error {
        if (Error error = parseFloat(name, part, number))
          return error;
        if (number < 0x1p-100 || number > 1)
          return wrong(name, "decay bases in [2^-100, 1]", part);
        return Error::success();
      },
      options.gammas.emplace());
}

static Error storeLengths(StringRef name, StringRef value,
                          RunOptions &options) {
  if (value.ends_with(".npy")) {
    options.lengthsPath = value.str();
    return Error::success();
  }
  return parseList(
      value,
      [&](StringRef part, int64_t &number) {
        return parseInt(name, part, 0, extentLimit, number);
      },
      options.lengths.emplace());
}

static Error storeChannels(StringRef name, StringRef value,
                           RunOptions &options) {
  using Set = RunOptions::ChannelSet;
  options.channelSet = value == "default" ? Set::Default
                       : value == "seven" ? Set::Seven
                                          : Set::List;
  if (options.channelSet != Set::List)
    return Error::success();
  auto list = parseChannelList(value);
  if (!list)
    return list.takeError();
  options.channelList = std::move(*list);
  return Error::success();
}

static Error storeSeed(StringRef name, StringRef value, RunOptions &options) {
  if (value.getAsInteger(10, options.seed))
    return wrong(name, "an integer in 0..2^64-1", value);
  return Error::success();
}

static Error storeTarget(StringRef name, StringRef value, RunOptions &options) {
  return parseWord<TargetKind>(name, value,
                               {{"auto", TargetKind::Cpu},
                                {"cpu", TargetKind::Cpu},
                                {"reference", TargetKind::Reference},
                                {"simt", TargetKind::Simt},
                                {"cuda", TargetKind::Cuda}},
                               options.target);
}

static Error storeFamily(StringRef name, StringRef value, RunOptions &options) {
  using Family = Schedule::Family;
  return parseWord<Family>(name, value,
                           {{"auto", Family::Auto},
                            {"fused", Family::Fused},
                            {"stored", Family::Stored}},
                           options.schedule.family);
}

static Error storeMath(StringRef name, StringRef value, RunOptions &options) {
  if (value == "tf32")
    return later("--math auto or ffma")(name, value, options);
  bool ignored;
  return parseWord<bool>(name, value, {{"auto", true}, {"ffma", true}},
                         ignored);
}

static Error storeSchedule(StringRef name, StringRef value,
                           RunOptions &options) {
  using Space = Schedule::Space;
  return parseWord<Space>(name, value,
                          {{"auto", Space::Auto},
                           {"direct", Space::Direct},
                           {"folded", Space::Folded}},
                          options.schedule.space);
}

/// "I", or "B:I" for a sequence other than the first.
static Error storeExplain(StringRef name, StringRef value,
                          RunOptions &options) {
  ExplainRow row;
  StringRef position = value;
  if (value.contains(':')) {
    StringRef sequence;
    std::tie(sequence, position) = value.split(':');
    if (Error error = parseInt(name, sequence, 0, extentLimit, row.sequence))
      return error;
  }
  if (Error error = parseInt(name, position, 0, extentLimit, row.position))
    return error;
  options.explain.push_back(row);
  return Error::success();
}

/// A store function for a word with a fixed meaning each.
template <typename T, typename Member>
static auto wordOption(Member member,
                       std::initializer_list<std::pair<StringRef, T>> words) {
  std::vector<std::pair<StringRef, T>> kept(words);
  return [=](StringRef name, StringRef value, RunOptions &options) -> Error {
    std::string known;
    for (auto &[word, meaning] : kept) {
      if (value == word) {
        options.*member = meaning;
        return Error::success();
      }
      known += (known.empty() ? "" : ", ") + word.str();
    }
    return wrong(name, known, value);
  };
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static const std::vector<Option> &inputOptions() {
  static const std::vector<Option> table = {
      {"--d-model", "N", "width D; taken from --table or --queries if given",
       intOption(&RunOptions::dModel, 1, extentLimit)},
      {"--seq-len", "T", "keys per sequence; taken from --ids if given",
       intOption(&RunOptions::seqLen, 0, extentLimit)},
      {"--batch", "B", "sequences (1); taken from --ids if given",
       intOption(&RunOptions::batch, 0, extentLimit)},
      {"--text", "FILE", "tokens are those of a text; needs --vocab",
       pathOption(&RunOptions::textPath)},
      {"--vocab", "byte|word", "how the text is cut into tokens",
       wordOption<Vocabulary>(
           &RunOptions::vocabulary,
           {{"byte", Vocabulary::Byte}, {"word", Vocabulary::Word}})},
      {"--ids", "F.npy", "token ids [B, T], <i4 or <i8",
       pathOption(&RunOptions::idsPath)},
      {"--queries", "F.npy", "queries [B, Tq, D]; drawn if absent",
       pathOption(&RunOptions::queriesPath)},
      {"--table", "F.npy", "embedding table [V, D]; drawn if absent",
       pathOption(&RunOptions::tablePath)},
      {"--grad", "F.npy",
       "gradient dy of the signals [B, Tq, S]; drawn if absent",
       pathOption(&RunOptions::gradPath)},
      {"--seed", "N", "seed of what is drawn (0)", storeSeed},
      {"--query-offset", "N", "position of the first query (0)",
       intOption(&RunOptions::queryOffset, 0, extentLimit)},
      {"--lengths", "F.npy|a,b,..", "tokens of each sequence (all T)",
       storeLengths},
  };
  return table;
}

static const std::vector<Option> &functionOptions() {
  static const std::vector<Option> table = {
      {"--tau", "X", "temperature, above 0 (1)", storeTau},
      {"--gammas", "a,b,..", "decay bases (0.99,0.5,0.88,0.993,0.3)",
       storeGammas},
      {"--channels", "default|seven|LIST",
       "a published list, or a LIST of channels, see below", storeChannels},
      {"--metric", "sq_l2|l2", "distance (sq_l2; l2 for seven)",
       wordOption<std::string>(&RunOptions::metric,
                               {{"sq_l2", "sq_l2"}, {"l2", "l2"}})},
      {"--decay-origin", "sequence_end|query",
       "where backward decays count from (sequence_end)",
       wordOption<std::string>(
           &RunOptions::decayOrigin,
           {{"sequence_end", "sequence_end"}, {"query", "query"}})},
      {"--dtype", "f32|f64|bf16", "of queries and table (f32)",
       wordOption<DType>(
           &RunOptions::dtype,
           {{"f32", DType::F32}, {"f64", DType::F64}, {"bf16", DType::BF16}})},
      {"--math", "auto|ffma|tf32", "product unit (auto)", storeMath},
      {"--precision", "fast|exact", "distances by expansion or by differences",
       wordOption<bool>(&RunOptions::exactDistances,
                        {{"fast", false}, {"exact", true}})},
  };
  return table;
}

static Error storeScores(StringRef name, StringRef value, RunOptions &options) {
  using Scores = Schedule::Scores;
  return parseWord<Scores>(name, value,
                           {{"auto", Scores::Auto},
                            {"keep", Scores::Keep},
                            {"recompute", Scores::Recompute}},
                           options.schedule.scores);
}

static const std::vector<Option> &scheduleOptions() {
  static const std::vector<Option> table = {
      {"--target", "auto|cpu|reference|simt|cuda",
       "where it runs (auto: cpu); simt is CUDA on the CPU", storeTarget},
      {"--schedule", "auto|direct|folded",
       "keys: positions or distinct tokens (auto)", storeSchedule},
      {"--family", "auto|fused|stored",
       "one loop nest, or a kernel per step (auto)", storeFamily},
      {"--query-tile", "N", "query rows per task (chosen)",
       scheduleOption(&Schedule::queryTile)},
      {"--query-chunk", "N", "query rows at a time in family stored (chosen)",
       scheduleOption(&Schedule::queryChunk)},
      {"--fold-chunk", "N", "query rows at a time in schedule folded (chosen)",
       scheduleOption(&Schedule::foldChunk)},
      {"--chunk", "N", "keys per step of a sweep (chosen)",
       scheduleOption(&Schedule::keyChunk)},
      {"--split-keys", "N", "independent key ranges (1)",
       scheduleOption(&Schedule::splitKeys)},
      {"--scores", "auto|keep|recompute", "between the sweeps (auto)",
       storeScores},
      {"--no-skip", "", "not there yet",
       later("no such flag: nothing is skipped")},
      {"--threads", "N", "workers (0: all cores)",
       intOption(&RunOptions::threads, 0, 1024)},
      {"--workspace-cap", "BYTES",
       "scratch per worker, or of a device (67108864)",
       intOption(&RunOptions::workspaceCap, 1, INT64_MAX)},
      {"--ir", "FILE", "run this module, at any stage, instead",
       pathOption(&RunOptions::irPath)},
  };
  return table;
}

static const std::vector<Option> &resultOptions() {
  static const std::vector<Option> table = {
      {"--out", "DIR", "write signals.npy, raw.npy and the gradients",
       pathOption(&RunOptions::outPath)},
      {"--backward", "", "gradients too", flagOption(&RunOptions::backward)},
      {"--check", "", "compare with the float64 oracle",
       flagOption(&RunOptions::check)},
      {"--gradcheck", "", "compare gradients with central differences",
       flagOption(&RunOptions::gradcheck)},
      {"--explain", "I", "say what position I (or B:I) attends to; repeatable",
       storeExplain, true},
      {"--repeat", "N", "runs; the median time is reported (1)",
       intOption(&RunOptions::repeat, 1, 1000000)},
      {"--json", "", "one object on stdout", flagOption(&RunOptions::json)},
      {"--profile", "", "not there yet", later("no such flag")},
  };
  return table;
}

llvm::ArrayRef<OptionGroup> runOptionGroups() {
  static const OptionGroup all[] = {{"Inputs", inputOptions()},
                                    {"Function", functionOptions()},
                                    {"Schedule", scheduleOptions()},
                                    {"Results", resultOptions()}};
  return all;
}

} // namespace raytention::tool
