//===- Options.h - the command line of rt -----------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A table of options per subcommand, one row each. It is not llvm::cl, which
// keeps its options in globals beside those of LLVM itself and prints its own
// messages: here a wrong option is one Error, so one line.
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TOOLS_RT_OPTIONS_H
#define RAYTENTION_TOOLS_RT_OPTIONS_H

#include "raytention/Attention.h"
#include "tools/rt/Text.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>

namespace raytention::tool {

/// A row to explain: position `position` of sequence `sequence`.
struct ExplainRow {
  int64_t sequence = 0;
  int64_t position = 0;
};

/// What `rt run` was asked for. Empty paths and optionals: not given.
struct RunOptions {
  std::optional<int64_t> dModel, seqLen, batch;
  std::string textPath, idsPath, queriesPath, tablePath, gradPath, irPath,
      outPath;
  std::optional<Vocabulary> vocabulary;
  uint64_t seed = 0;
  double tau = 1;
  std::optional<std::vector<double>> gammas;
  enum class ChannelSet { Default, Seven, List };
  ChannelSet channelSet = ChannelSet::Default;
  std::vector<std::string> channelList; ///< of ChannelSet::List
  std::optional<std::string> metric;    ///< seven has its own default
  std::string decayOrigin = "sequence_end";
  DType dtype = DType::F32;
  bool exactDistances = false;
  int64_t queryOffset = 0;
  /// One length per sequence, or the .npy file that holds them.
  std::optional<std::vector<int64_t>> lengths;
  std::string lengthsPath;

  TargetKind target = TargetKind::Cpu;
  Schedule schedule;
  int threads = 0; ///< 0: all cores
  int64_t workspaceCap = int64_t(64) << 20;

  bool backward = false, check = false, gradcheck = false, json = false;
  std::vector<ExplainRow> explain;
  int64_t repeat = 1;
};

/// What `rt doctor` was asked for.
struct DoctorOptions {
  std::string target = "auto"; ///< "auto", "cpu", "simt" or "cuda"
  bool json = false;
};

/// One whole command line.
struct Command {
  enum class Kind { Run, Doctor, Help, RunHelp, DoctorHelp, Version };
  Kind kind = Kind::Help;
  RunOptions run;
  DoctorOptions doctor;
};

/// Parses the arguments after the program's name. Errors are one line each
/// with expected and got (exit code 2), or name what is missing (3).
llvm::Expected<Command> parseCommandLine(llvm::ArrayRef<const char *> args);

void printHelp(llvm::raw_ostream &os);
void printRunHelp(llvm::raw_ostream &os);
void printDoctorHelp(llvm::raw_ostream &os);

llvm::StringRef dtypeName(DType dtype);        ///< "f32", "f64" or "bf16"
llvm::StringRef targetName(TargetKind target); ///< "cpu", "simt", ...

} // namespace raytention::tool

#endif // RAYTENTION_TOOLS_RT_OPTIONS_H
