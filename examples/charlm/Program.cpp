//===- Program.cpp - trains, compares and writes --------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "examples/charlm/Program.h"

#include "examples/charlm/Plot.h"
#include "examples/charlm/Trigram.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using llvm::formatv;
using llvm::raw_ostream;
using llvm::StringRef;

namespace raytention::charlm {

Result<std::unique_ptr<Model<float>>>
makeModel(const Options &options, const Corpus &corpus, Shards &shards) {
  ModelShape shape;
  shape.vocab = corpus.vocab();
  shape.dModel = options.dModel;
  shape.hidden = 4 * options.dModel;
  shape.channels = defaultChannels();
  // Sharper than the published decays, and weights that start nearly even: the
  // order of the last few characters matters most.
  shape.gammas = {0.99, 0.5, 0.7, 0.9, 0.2};
  shape.tau = 5;
  auto attention = AttentionBlock<float>::compile(shape, /*backward=*/true);
  if (!attention)
    return attention.status();
  shape.signals = (*attention)->signalWidth();
  return std::make_unique<Model<float>>(
      std::move(shape),
      AttentionBlock<float>(std::move(*attention), options.threads), shards,
      options.train.seed);
}

//===----------------------------------------------------------------------===//
// What is printed
//===----------------------------------------------------------------------===//

static void printScales(const Model<float> &model, StringRef when,
                        raw_ostream &os) {
  for (int64_t i = 0; i < model.shape.layers; ++i) {
    Scales scales = model.scales(i);
    os << formatv("layer {0}     {1}: tau {2:f4}, gammas", i + 1, when,
                  scales.tau);
    for (double gamma : scales.gammas)
      os << formatv(" {0:f4}", gamma);
    os << "\n";
  }
}

static void printStart(const Corpus &corpus, const Trigram &trigram,
                       double baseline, const Model<float> &model,
                       raw_ostream &os) {
  os << formatv("text        {0} bytes, {1} distinct; {2} to train on, {3} to "
                "validate\n",
                corpus.ids.size(), corpus.vocab(), corpus.training().size(),
                corpus.validation().size());
  os << formatv("trigram     {0:f4} nats per character; weights", baseline);
  for (double weight : trigram.weights())
    os << formatv(" {0:f4}", weight);
  os << formatv(
      "\nmodel       D {0}, {1} layers, {2} signals, {3} parameters\n",
      model.shape.dModel, model.shape.layers, model.shape.signals,
      model.parameters.size());
  printScales(model, "before", os);
  os << "\n    step  training  validation (a part)   time\n";
  os.flush();
}

static void printPoint(const CurvePoint &point, raw_ostream &os) {
  os << formatv("{0,8}  {1,8:f4}  {2,10:f4}  {3,15:f1} s\n", point.step,
                point.training, point.validation, point.seconds);
  os.flush();
}

static void printResult(double baseline, double loss, raw_ostream &os) {
  os << formatv("\nvalidation  model {0:f4}, trigram {1:f4} nats per "
                "character: {2:f4} {3}\n",
                loss, baseline, std::abs(baseline - loss),
                loss < baseline ? "better" : "worse");
}

//===----------------------------------------------------------------------===//
// What is written
//===----------------------------------------------------------------------===//

static Status writeFile(StringRef folder, StringRef name,
                        llvm::function_ref<void(raw_ostream &)> body) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  std::error_code code;
  llvm::raw_fd_ostream os(path, code);
  if (!code) {
    body(os);
    os.close();
    code = os.error();
    os.clear_error();
  }
  if (code)
    return wrongInput("--out: expected to write '" + path.str() +
                      "', got: " + code.message());
  return Status();
}

static Status makeFolder(const std::string &path) {
  if (path.empty())
    return Status();
  if (std::error_code code = llvm::sys::fs::create_directories(path))
    return wrongInput("--out: expected a folder at '" + path +
                      "', got: " + code.message());
  return Status();
}

/// A line break stands before every speech, so it is where the text starts.
static std::vector<int32_t> promptOf(const Corpus &corpus) {
  auto newline = llvm::find(corpus.alphabet, '\n');
  return {newline == corpus.alphabet.end()
              ? corpus.ids[0]
              : int32_t(newline - corpus.alphabet.begin())};
}

static Status writeText(const Options &options, const Corpus &corpus,
                        Model<float> &model, raw_ostream &os) {
  if (options.generate.count == 0)
    return Status();
  auto ids = generate(model, promptOf(corpus), options.generate);
  if (!ids)
    return ids.status();
  std::string text = corpus.textOf(*ids);
  os << "\n" << text << "\n";
  if (options.outPath.empty())
    return Status();
  return writeFile(options.outPath, "sample.txt",
                   [&](raw_ostream &file) { file << text << "\n"; });
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

static Result<Corpus> loadFor(const Options &options) {
  Result<Corpus> corpus = loadCorpus(options.textPath);
  if (!corpus)
    return corpus.status();
  int64_t least = 2 * (options.train.context + 2);
  if (corpus->ids.size() < size_t(least))
    return wrongInput(
        formatv("--text: expected at least {0} bytes for a context of {1}, got "
                "{2}",
                least, options.train.context, corpus->ids.size())
            .str());
  return corpus;
}

/// -log P per character of exactly what the model is scored on.
static double scoreTrigram(const Trigram &trigram, const Corpus &corpus) {
  return trigram.natsPerChar(
      llvm::ArrayRef<int32_t>(corpus.ids).drop_front(size_t(corpus.split - 2)));
}

static Status program(const Options &options, raw_ostream &os) {
  Result<Corpus> corpus = loadFor(options);
  if (!corpus)
    return corpus.status();
  if (Status status = makeFolder(options.outPath); !status.ok())
    return status;
  Shards shards(options.threads);
  auto model = makeModel(options, *corpus, shards);
  if (!model)
    return model.status();
  Trigram trigram = Trigram::fit(corpus->training(), corpus->vocab());
  double baseline = scoreTrigram(trigram, *corpus);
  printStart(*corpus, trigram, baseline, **model, os);

  Trainer trainer(**model, *corpus, options.train);
  auto curve =
      trainer.run([&](const CurvePoint &point) { printPoint(point, os); });
  if (!curve)
    return curve.status();
  auto windows = scoringBatches(corpus->ids, corpus->split,
                                options.train.context, options.train.sequences,
                                /*stride=*/1);
  Result<double> loss = meanLoss(**model, windows);
  if (!loss)
    return loss.status();
  printResult(baseline, *loss, os);
  printScales(**model, "after", os);
  if (!options.outPath.empty())
    if (Status status = writeFile(
            options.outPath, "curve.svg",
            [&](raw_ostream &file) { plotCurve(*curve, baseline, file); });
        !status.ok())
      return status;
  return writeText(options, *corpus, **model, os);
}

int runCharLm(llvm::ArrayRef<const char *> args, raw_ostream &out,
              raw_ostream &err) {
  Result<Options> options = parseOptions(args);
  if (options && options->help) {
    printHelp(out);
    return 0;
  }
  Status status = options ? program(*options, out) : options.status();
  if (status.ok())
    return 0;
  err << "charlm: error: " << status.message() << "\n";
  return 2;
}

} // namespace raytention::charlm
