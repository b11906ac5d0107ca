//===- Attention.h - compile a RayTention and run it ------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The C++ interface: an attention is described by a spec, compiled once for a
// target, and run on any batch, lengths and vocabulary. Includes the standard
// library alone.
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_ATTENTION_H
#define RAYTENTION_ATTENTION_H

#include "raytention/Status.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace raytention {

/// Element type of queries and table. Under BF16 everything else is float.
enum class DType { F32, F64, BF16 };

/// Where an attention runs. Reference is the materialising lowering that the
/// others are checked against: scalar, and quadratic in memory. Simt executes
/// the kernels of Cuda on the CPU and finds their faults; both need NVRTC to
/// compile.
enum class TargetKind { Cpu, Reference, Simt, Cuda };

/// What is computed: the static part of an attention.
struct AttentionSpec {
  int64_t dModel = 0;
  DType dtype = DType::F32;
  /// Width of a token id in bits: 32 or 64.
  int idBits = 32;
  /// Channels in output order, in the spelling of the command line:
  /// "centroid", "decay:forward:0", "top:1", ...
  std::vector<std::string> channels;
  /// Number of decay bases passed at run time.
  int64_t numGammas = 0;
  std::string metric = "sq_l2";             ///< "sq_l2" or "l2"
  std::string decayOrigin = "sequence_end"; ///< "sequence_end" or "query"
  /// Distances by differences instead of by expansion.
  bool exactDistances = false;
};

/// The published channel lists.
std::vector<std::string> defaultChannels();
std::vector<std::string> sevenChannels();

/// How a channel's output is formed, which decides its width: a weighted sum of
/// keys (D), a copy of one key (D), or a number (1).
enum class OutputForm { Weighted, Copy, Scalar };

/// The form of a channel as the registered channel itself states it; the status
/// of an unknown one names those that exist.
Result<OutputForm> channelForm(std::string_view channel);

/// How large the value of a scalar channel may be where no distance passes
/// `distance` and no score `score`; 0 where no input makes it large. Errors as
/// channelForm().
Result<long double> largestScalar(std::string_view channel,
                                  long double distance, long double score,
                                  long double tau);

/// The spellings of the registered channels, sorted: "top:K" for any K.
std::vector<std::string> channelSpellings();

/// How it is computed; 0 lets the compiler choose.
struct Schedule {
  /// The loop nest: all of a query tile in one kernel or task, or a kernel per
  /// step with what passes between them stored.
  enum class Family { Auto, Fused, Stored };
  enum class Scores { Auto, Keep, Recompute };
  Family family = Family::Auto;
  int64_t queryTile = 0; ///< query rows per task
  int64_t keyChunk = 0;  ///< keys per step of a sweep
  int64_t splitKeys = 1; ///< independent key ranges, merged afterwards
  Scores scores = Scores::Auto;
  /// Family stored: query rows that its kernels take at a time; what passes
  /// between them is as large. 0: as the workspace cap wants it.
  int64_t queryChunk = 0;
};

struct CompileOptions {
  TargetKind target = TargetKind::Cpu;
  Schedule schedule;
  /// Bytes of scratch that one worker may use, everything that is neither
  /// input nor output counted but what passes between the loops of family
  /// stored: of each sequence of the batch about as much again. On a device,
  /// bytes that a whole run may use.
  int64_t workspaceCap = int64_t(64) << 20;
  /// The number of keys that compile() prepares for; 0: few. A hint: runs with
  /// any other number find the code they need, or compile it.
  int64_t expectedKeys = 0;
  /// Whether gradients are compiled too: runBackward() needs it.
  bool backward = false;
};

/// Inputs of one run. Pointers are to C-order arrays that outlive the call.
struct Inputs {
  int64_t batch = 1;
  int64_t numQueries = 0;        ///< Tq
  int64_t numKeys = 0;           ///< T
  int64_t vocab = 0;             ///< V
  const void *queries = nullptr; ///< [B, Tq, D], dtype
  const void *table = nullptr;   ///< [V, D], dtype
  const void *ids = nullptr;     ///< [B, T], int32 or int64, 0 <= id < V
  double tau = 1.0;
  std::vector<double> gammas;       ///< [numGammas], each in [2^-100, 1]
  int64_t queryOffset = 0;          ///< row i of q stands at i + queryOffset
  const int64_t *lengths = nullptr; ///< [B], 0..T; null: all T
};

/// Outputs of one run: double under F64, else float. Null: not wanted, except
/// for signals.
struct Outputs {
  void *signals = nullptr;    ///< y [B, Tq, S], normalised
  void *norm = nullptr;       ///< [B, Tq]: ||x||; x = y * max(norm, 1e-10)
  int32_t *indices = nullptr; ///< [B, Tq, numIndices()]: the chosen key of
                              ///< each copying channel, in channel order
  void *logSums = nullptr;    ///< [B, Tq, numLogSums()]: what gradients need of
                              ///< the row's log-sums; see rt.attend
};

/// What a forward run left for the backward one; types as in Outputs. All are
/// needed.
struct Residuals {
  const void *signals = nullptr;    ///< y [B, Tq, S]
  const void *norm = nullptr;       ///< [B, Tq]
  const int32_t *indices = nullptr; ///< [B, Tq, numIndices()]
  const void *logSums = nullptr;    ///< [B, Tq, numLogSums()]
};

/// Gradients of `sum dSignals * y`: double under F64, else float. All are
/// written, none may be null; those of size 0 excepted. Formulas: SEMANTICS,
/// "Gradient".
struct Gradients {
  void *queries = nullptr; ///< [B, Tq, D]
  void *table = nullptr;   ///< [V, D], dense
  void *tau = nullptr;     ///< one number
  void *gammas = nullptr;  ///< [numGammas]
};

struct RunReport {
  /// On a device: kernels and allocations, without the copies of inputs and
  /// outputs.
  double runMs = 0;
  int threads = 1; ///< of this machine
  int64_t workspaceBytes = 0;
  int64_t workspaceBytesPerThread = 0;
  /// Of code that no run before needed; not in runMs.
  double compileMs = 0;
};

/// A compiled attention. Runs may follow each other from any one thread.
///
/// What its schedule leaves open depends on the number of keys T of a run:
/// whether scores, or what a gradient stores, fit the workspace cap. So there
/// is a variant of the code for each schedule that runs came to need, a few
/// however many T there are. One is compiled by compile(), each other by the
/// first run that needs it, whose report says how long that took. The variant,
/// and so the bits of a result, follow from T alone, not from what ran before.
/// A run is refused only where no variant fits the cap.
class Attention {
public:
  virtual ~Attention();

  /// Compiles for this machine. Errors name what is not supported.
  static Result<std::unique_ptr<Attention>>
  compile(const AttentionSpec &spec, const CompileOptions &options);

  /// Compiles the function @attend of a module at any stage of the pipeline
  /// (an edited dump, for example); `spec` says what its arguments are. There
  /// is one variant, and runs that break the cap are refused.
  static Result<std::unique_ptr<Attention>>
  compileModule(std::string_view mlirText, const AttentionSpec &spec,
                const CompileOptions &options);

  /// Checks the inputs (ids, lengths, tau, gammas), then runs on `threads`
  /// workers (0: all cores; without a meaning on cuda). The result does not
  /// depend on `threads`. On simt a fault of a kernel (a race, an access out of
  /// bounds, uninitialised shared memory) is an error.
  virtual Result<RunReport> run(const Inputs &inputs, const Outputs &outputs,
                                int threads) = 0;

  /// Gradients from `dSignals [B, Tq, S]`, the gradient of y, and what run()
  /// left for the same inputs. The result does not depend on `threads`: same
  /// bits in every run. Needs CompileOptions::backward.
  virtual Result<RunReport> runBackward(const Inputs &inputs,
                                        const Residuals &residuals,
                                        const void *dSignals,
                                        const Gradients &gradients,
                                        int threads) = 0;

  virtual int64_t signalWidth() const = 0; ///< S
  virtual int64_t numLogSums() const = 0;  ///< saved numbers per row
  virtual int64_t numIndices() const = 0;  ///< copying channels
  virtual double compileMs() const = 0;    ///< of all variants so far
  /// The schedule as in the IR: of the last run, before it that of compile().
  virtual std::string scheduleText() const = 0;
  virtual int numVariants() const { return 1; } ///< compiled so far
};

/// The IR of `spec` after one stage of the target: "attention", "sweeps",
/// "products", "tiled", "cpu", "llvm"; "reference"; an error names them.
/// Without CompileOptions::expectedKeys, the IR for any number of keys: scores
/// are kept, a gradient is stored only where the schedule says so.
Result<std::string> printStage(const AttentionSpec &spec,
                               const CompileOptions &options,
                               std::string_view stage);

} // namespace raytention

#endif // RAYTENTION_ATTENTION_H
