//===- Options.cpp - the command line of charlm ---------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "examples/charlm/Options.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

#include <cmath>

using llvm::StringRef;

namespace raytention::charlm {

namespace {

/// One option with a value: how it is spelled and where the value goes.
struct Option {
  StringRef name, valueName, help;
  std::function<Status(StringRef name, StringRef value, Options &)> store;
};

} // namespace

static Status wrong(StringRef name, const llvm::Twine &expected,
                    StringRef got) {
  return wrongInput(name + ": expected " + expected + ", got '" + got + "'");
}

static Status parsePath(StringRef name, StringRef value, std::string &out) {
  if (value.empty())
    return wrong(name, "a path", value);
  out = value.str();
  return Status();
}

template <typename T>
static Status parseInt(StringRef name, StringRef value, int64_t low,
                       int64_t high, T &out) {
  int64_t number;
  if (value.getAsInteger(10, number) || number < low || number > high)
    return wrong(name,
                 "an integer in " + llvm::Twine(low) + ".." + llvm::Twine(high),
                 value);
  out = T(number);
  return Status();
}

static Status parseFloat(StringRef name, StringRef value, int64_t high,
                         double &out) {
  double number;
  if (value.empty() || value.getAsDouble(number) ||
      !(number >= 0 && number <= double(high)))
    return wrong(name, "a number in 0.." + llvm::Twine(high), value);
  out = number;
  return Status();
}

static Status storeSeed(StringRef name, StringRef value, Options &options) {
  if (value.getAsInteger(10, options.train.seed))
    return wrong(name, "an integer in 0..2^64-1", value);
  options.generate.seed = options.train.seed;
  return Status();
}

static llvm::ArrayRef<Option> allOptions() {
  static const Option table[] = {
      {"--text", "FILE", "the text to learn (needed)",
       [](StringRef name, StringRef value, Options &o) {
         return parsePath(name, value, o.textPath);
       }},
      {"--steps", "N", "steps of Adam",
       [](StringRef name, StringRef value, Options &o) {
         return parseInt(name, value, 1, 100000000, o.train.steps);
       }},
      {"--minutes", "M", "stop after M minutes at the latest (0: no limit)",
       [](StringRef name, StringRef value, Options &o) {
         return parseFloat(name, value, 1000000, o.train.minutes);
       }},
      {"--seed", "N", "of the start, the batches and the sampling", storeSeed},
      {"--out", "DIR", "write curve.svg and sample.txt there",
       [](StringRef name, StringRef value, Options &o) {
         return parsePath(name, value, o.outPath);
       }},
      {"--generate", "N", "characters to write at the end",
       [](StringRef name, StringRef value, Options &o) {
         return parseInt(name, value, 0, 10000000, o.generate.count);
       }},
      {"--temperature", "X", "of the sampling (0: the likeliest)",
       [](StringRef name, StringRef value, Options &o) {
         return parseFloat(name, value, 100, o.generate.temperature);
       }},
      {"--threads", "N", "workers (0: all cores)",
       [](StringRef name, StringRef value, Options &o) {
         return parseInt(name, value, 0, 4096, o.threads);
       }},
      {"--d-model", "N", "width of the table",
       [](StringRef name, StringRef value, Options &o) {
         return parseInt(name, value, 1, 4096, o.dModel);
       }},
      {"--context", "N", "characters that are read at once",
       [](StringRef name, StringRef value, Options &o) {
         return parseInt(name, value, 2, 65536, o.train.context);
       }},
      {"--batch", "N", "sequences per step",
       [](StringRef name, StringRef value, Options &o) {
         return parseInt(name, value, 1, 65536, o.train.sequences);
       }},
      {"--rate", "X", "highest learning rate",
       [](StringRef name, StringRef value, Options &o) {
         return parseFloat(name, value, 10, o.train.rate);
       }},
  };
  return table;
}

Result<Options> parseOptions(llvm::ArrayRef<const char *> args) {
  Options options;
  for (size_t i = 0; i < args.size(); ++i) {
    StringRef argument = args[i];
    if (argument == "--help" || argument == "-h") {
      options.help = true;
      return options;
    }
    auto [name, value] = argument.split('=');
    const Option *option = llvm::find_if(
        allOptions(), [&](const Option &known) { return known.name == name; });
    if (option == allOptions().end())
      return wrongInput("expected an option (charlm --help lists "
                        "them), got '" +
                        argument + "'");
    if (!argument.contains('=')) {
      if (i + 1 == args.size())
        return wrongInput(name + ": expected a value (" + option->valueName +
                          "), got none");
      value = args[++i];
    }
    if (Status status = option->store(name, value, options); !status.ok())
      return status;
  }
  if (options.textPath.empty())
    return wrongInput("--text: expected a file, got none");
  options.generate.context = options.train.context;
  return options;
}

void printHelp(llvm::raw_ostream &os) {
  os << "usage: charlm --text FILE [options]\n\n"
        "Trains a character model of two RayTention layers, compares it with a "
        "trigram\nmodel and writes text.\n\n";
  for (const Option &option : allOptions())
    os << "  "
       << llvm::left_justify((option.name + " " + option.valueName).str(), 20)
       << " " << option.help << "\n";
  os << "\nexit codes: 0 done, 2 wrong input or options\n";
}

} // namespace raytention::charlm
