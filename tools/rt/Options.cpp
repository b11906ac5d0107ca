//===- Options.cpp - the command line of rt -------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/rt/Options.h"

#include "tools/rt/OptionTable.h"
#include "tools/rt/ToolError.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"

using llvm::Error;
using llvm::StringRef;

namespace raytention::tool {

StringRef dtypeName(DType dtype) {
  return dtype == DType::F64 ? "f64" : dtype == DType::BF16 ? "bf16" : "f32";
}

StringRef targetName(TargetKind target) {
  switch (target) {
  case TargetKind::Cpu:
    return "cpu";
  case TargetKind::Reference:
    return "reference";
  case TargetKind::Simt:
    return "simt";
  case TargetKind::Cuda:
    return "cuda";
  }
  llvm_unreachable("every target is listed");
}

static const Option *findOption(StringRef name) {
  for (const OptionGroup &group : runOptionGroups())
    for (const Option &option : group.options)
      if (option.name == name)
        return &option;
  return nullptr;
}

static Error unknownOption(StringRef name) {
  StringRef nearest;
  unsigned best = 3; // further off is no slip of the finger
  for (const OptionGroup &group : runOptionGroups())
    for (const Option &option : group.options) {
      unsigned distance = option.name.edit_distance(name, true, best);
      if (distance < best) {
        best = distance;
        nearest = option.name;
      }
    }
  return usageError("expected an option of rt run (rt run --help lists them)"
                    "{0}{1}, got {2}",
                    nearest.empty() ? "" : ", perhaps ", nearest, quoted(name));
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

static Error checkGradientOptions(const RunOptions &options) {
  if (!options.gradPath.empty() && !options.backward)
    return usageError("--grad: expected --backward with it, got none");
  if (options.gradcheck && !options.backward)
    return usageError("--gradcheck: expected --backward with it, got none");
  if (options.gradcheck && options.dtype != DType::F64)
    return usageError("--gradcheck: expected --dtype f64 with it (differences "
                      "of rounded values have no digits left), got {0}",
                      dtypeName(options.dtype));
  return Error::success();
}

/// What the folded schedule does not do yet.
static Error checkFoldOptions(const RunOptions &options) {
  const Schedule &schedule = options.schedule;
  if (schedule.space != Schedule::Space::Folded)
    return schedule.foldChunk ? usageError("--fold-chunk: expected --schedule "
                                           "folded with it, got none")
                              : Error::success();
  if (options.target != TargetKind::Cpu)
    return usageError("--schedule folded: expected --target cpu with it "
                      "(others are not there yet), got {0}",
                      targetName(options.target));
  if (schedule.family == Schedule::Family::Stored)
    return usageError("--schedule folded: expected --family auto or fused with "
                      "it (the other is not there yet), got stored");
  if (schedule.splitKeys > 1)
    return usageError("--schedule folded: expected --split-keys 1 with it, got "
                      "{0}",
                      schedule.splitKeys);
  return Error::success();
}

/// What a target does not do.
static Error checkTargetOptions(const RunOptions &options) {
  bool onDevice =
      options.target == TargetKind::Simt || options.target == TargetKind::Cuda;
  if (onDevice && options.backward)
    return usageError("--backward: expected --target cpu or reference with it "
                      "(gradients on devices are not there yet), got {0}",
                      targetName(options.target));
  if (options.schedule.family != Schedule::Family::Stored)
    return Error::success();
  if (options.target == TargetKind::Reference)
    return usageError("--family stored: expected --target cpu, simt or cuda "
                      "with it, got {0}",
                      targetName(options.target));
  if (options.schedule.scores == Schedule::Scores::Recompute)
    return usageError("--family stored: expected --scores auto or keep with it "
                      "(it stores them), got recompute");
  return Error::success();
}

/// Options that exclude or need each other.
static Error checkTogether(const RunOptions &options) {
  if (options.textPath.empty() == options.idsPath.empty())
    return usageError("expected one of --text and --ids, got {0}",
                      options.textPath.empty() ? "neither" : "both");
  if (!options.textPath.empty() && !options.vocabulary)
    return usageError("--text: expected --vocab byte or word with it, got "
                      "none");
  if (options.textPath.empty() && options.vocabulary)
    return usageError("--vocab: expected --text with it, got --ids");
  if (Error error = checkTargetOptions(options))
    return error;
  if (Error error = checkFoldOptions(options))
    return error;
  return checkGradientOptions(options);
}

static llvm::Expected<Command> parseRun(llvm::ArrayRef<const char *> args) {
  Command command;
  command.kind = Command::Kind::Run;
  llvm::StringSet<> seen;
  for (size_t i = 0; i < args.size(); ++i) {
    StringRef argument = args[i];
    if (argument == "--help" || argument == "-h") {
      command.kind = Command::Kind::RunHelp;
      return command;
    }
    auto [name, value] = argument.split('=');
    bool hasValue = argument.contains('=');
    if (!name.starts_with("--"))
      return usageError("expected an option of rt run, got {0}",
                        quoted(argument));
    const Option *option = findOption(name);
    if (!option)
      return unknownOption(name);
    if (!seen.insert(name).second && !option->repeatable)
      return usageError("{0}: expected once, got twice", name);
    if (option->valueName.empty() && hasValue)
      return usageError("{0}: expected no value, got {1}", name, quoted(value));
    if (!option->valueName.empty() && !hasValue) {
      if (i + 1 == args.size())
        return usageError("{0}: expected a value ({1}), got none", name,
                          option->valueName);
      value = args[++i];
    }
    if (Error error = option->store(name, value, command.run))
      return error;
  }
  if (Error error = checkTogether(command.run))
    return error;
  return command;
}

static llvm::Expected<Command> parseDoctor(llvm::ArrayRef<const char *> args) {
  Command command;
  command.kind = Command::Kind::Doctor;
  for (size_t i = 0; i < args.size(); ++i) {
    auto [name, value] = StringRef(args[i]).split('=');
    if (name == "--help" || name == "-h") {
      command.kind = Command::Kind::DoctorHelp;
      return command;
    }
    if (StringRef(args[i]) == "--json") {
      command.doctor.json = true;
      continue;
    }
    if (name != "--target")
      return usageError("expected --target or --json after rt doctor, got {0}",
                        quoted(args[i]));
    if (!StringRef(args[i]).contains('=') && i + 1 < args.size())
      value = args[++i];
    if (value != "auto" && value != "cpu" && value != "simt" && value != "cuda")
      return usageError("--target: expected auto, cpu, simt, cuda, got {0}",
                        quoted(value));
    command.doctor.target = value.str();
  }
  return command;
}

llvm::Expected<Command> parseCommandLine(llvm::ArrayRef<const char *> args) {
  if (args.empty())
    return usageError("expected a subcommand (run or doctor; rt --help lists "
                      "more), got none");
  StringRef word = args[0];
  Command command;
  if (word == "--help" || word == "-h" || word == "help")
    return command;
  if (word == "--version") {
    command.kind = Command::Kind::Version;
    return command;
  }
  if (word == "run")
    return parseRun(args.drop_front());
  if (word == "doctor")
    return parseDoctor(args.drop_front());
  return usageError("expected a subcommand that exists (run or doctor), got "
                    "{0}",
                    quoted(word));
}

void printHelp(llvm::raw_ostream &os) {
  os << "usage: rt run [options]\n"
        "       rt doctor [--target auto|cpu|simt|cuda] [--json]\n\n"
        "  run     runs an attention, --backward too; rt run --help lists its "
        "options\n"
        "  doctor  says what this machine has, and runs a kernel on each "
        "device\n\n"
        "exit codes: 0 done, 1 a check failed, 2 wrong input or options,\n"
        "            3 this machine lacks something\n";
}

void printDoctorHelp(llvm::raw_ostream &os) {
  os << "usage: rt doctor [--target auto|cpu|simt|cuda] [--json]\n\n"
        "Looks for NVRTC and the CUDA driver (RT_NVRTC and RT_LIBCUDA name "
        "their files,\n"
        "RT_HIDE_CUDA=1 hides them), compiles and runs a kernel on each device "
        "and checks\n"
        "its result. Exits 1 where one is wrong, 3 where --target is "
        "missing.\n";
}

void printRunHelp(llvm::raw_ostream &os) {
  os << "usage: rt run (--text FILE --vocab byte|word | --ids F.npy) "
        "[options]\n";
  for (const OptionGroup &group : runOptionGroups()) {
    os << "\n" << group.title << "\n";
    for (const Option &option : group.options) {
      std::string spelling = (option.name + " " + option.valueName).str();
      os << "  " << llvm::left_justify(spelling, 38) << " " << option.help
         << "\n";
    }
  }
  os << "\nchannels of a LIST, by commas\n";
  for (const std::string &channel : channelSpellings())
    os << "  " << channel << "\n";
}

} // namespace raytention::tool
