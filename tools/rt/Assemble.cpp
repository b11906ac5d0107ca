//===- Assemble.cpp - reads and draws the inputs --------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "raytention/DefaultInputs.h"
#include "tools/rt/Channels.h"
#include "tools/rt/InputFile.h"
#include "tools/rt/RunInputs.h"
#include "tools/rt/ToolError.h"
#include "tools/rt/Validate.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace raytention::tool {

namespace {

/// The files of a run, read once; draws what is not given.
class Assembler {
public:
  explicit Assembler(const RunOptions &options) : options(options) {}

  Error assemble() {
    if (Error error = readFiles())
      return error;
    if (Error error = describeFunction())
      return error;
    if (Error error = resolveShape())
      return error;
    if (Error error = checkMemory(inputs))
      return error;
    if (Error error = resolveLengths())
      return error;
    if (Error error = placeIds())
      return error;
    if (Error error =
            placeFloats("--queries", queries, InputStream::Queries,
                        {inputs.batch, inputs.numQueries, inputs.dModel()},
                        seenRows(inputs), inputs.queries))
      return error;
    if (Error error = placeFloats("--table", table, InputStream::Table,
                                  {inputs.vocab, inputs.dModel()},
                                  seenTokens(inputs), inputs.table))
      return error;
    if (Error error = checkNorms(inputs))
      return error;
    return inputs.backward ? placeGradient() : Error::success();
  }

  RunInputs inputs;

private:
  Error readFiles();
  Error readText();
  Error describeFunction();
  Error chooseGammas();
  Error resolveShape();
  Error resolveKeys();
  Error resolveWidth();
  Error resolveVocabulary();
  Error resolveLengths();
  Error placeIds();
  Error placeGradient();
  Error placeFloats(StringRef name, const std::optional<NpyArray> &file,
                    InputStream stream, llvm::ArrayRef<int64_t> shape,
                    const std::vector<bool> &seen, Buffer &out);
  Error placeFloats(StringRef name, const std::optional<NpyArray> &file,
                    InputStream stream, double scale, DType dtype,
                    llvm::ArrayRef<int64_t> shape,
                    const std::vector<bool> &seen, Buffer &out);

  const RunOptions &options;
  std::optional<NpyArray> ids, queries, table, grad;
};

} // namespace

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// Reads an optional file into `array`.
static Error readOptional(StringRef path, bool floats, unsigned rank,
                          bool optionalBatch, std::optional<NpyArray> &array) {
  if (path.empty())
    return Error::success();
  Expected<NpyArray> read = readNpy(path, floats, rank, optionalBatch);
  if (!read)
    return read.takeError();
  array = std::move(*read);
  for (int64_t extent : array->shape)
    if (extent > INT32_MAX)
      return usageError("{0}: expected extents below 2^31, got shape {1}", path,
                        shapeText(array->shape));
  return Error::success();
}

Error Assembler::readFiles() {
  if (Error error = readOptional(options.idsPath, false, 2, true, ids))
    return error;
  if (Error error = readOptional(options.queriesPath, true, 3, true, queries))
    return error;
  if (Error error = readOptional(options.tablePath, true, 2, false, table))
    return error;
  if (Error error = readOptional(options.gradPath, true, 3, true, grad))
    return error;
  return options.textPath.empty() ? Error::success() : readText();
}

Error Assembler::readText() {
  auto file =
      readWhole(options.textPath, "--text " + options.textPath, INT32_MAX);
  if (!file)
    return file.takeError();
  inputs.tokens = tokenize((*file)->getBuffer(), *options.vocabulary);
  return Error::success();
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

Error Assembler::describeFunction() {
  using Set = RunOptions::ChannelSet;
  AttentionSpec &spec = inputs.spec;
  spec.channels = options.channelSet == Set::Default ? defaultChannels()
                  : options.channelSet == Set::Seven ? sevenChannels()
                                                     : options.channelList;
  bool seven = options.channelSet == Set::Seven;
  spec.metric = options.metric.value_or(seven ? "l2" : "sq_l2");
  spec.decayOrigin = options.decayOrigin;
  spec.dtype = options.dtype;
  spec.exactDistances = options.exactDistances;
  spec.idBits = ids && ids->type == NpyType::I8 ? 64 : 32;
  inputs.queryOffset = options.queryOffset;
  inputs.backward = options.backward;
  inputs.tau = options.tau;
  if (spec.dtype != DType::F64)
    inputs.tau = float(inputs.tau);
  if (!(inputs.tau > 0) || !std::isfinite(inputs.tau))
    return usageError("--tau: expected a temperature above 0 that fits f32, "
                      "got {0}",
                      numberText(options.tau));
  return chooseGammas();
}

Error Assembler::chooseGammas() {
  static constexpr double published[] = {0.99, 0.5, 0.88, 0.993, 0.3};
  int64_t used = gammasUsed(inputs.spec.channels);
  inputs.spec.numGammas = used;
  std::vector<double> &gammas = inputs.gammas;
  if (options.gammas)
    gammas = *options.gammas;
  else if (options.channelSet == RunOptions::ChannelSet::Seven)
    gammas = {0.7};
  else
    gammas.assign(published, published + std::min<int64_t>(used, 5));
  if (int64_t(gammas.size()) != used)
    return usageError("--gammas: expected {0} (the largest index used by the "
                      "channels plus one), got {1}",
                      used, gammas.size());
  for (double &gamma : gammas)
    if (inputs.spec.dtype != DType::F64)
      gamma = float(gamma);
  return Error::success();
}

//===----------------------------------------------------------------------===//
// The shape
//===----------------------------------------------------------------------===//

/// Settles an extent on what a file says, if the option agrees.
static Error agree(StringRef option, std::optional<int64_t> given,
                   StringRef file, int64_t found) {
  if (given && *given != found)
    return usageError("{0}: expected {1}, as in {2}, got {3}", option, found,
                      file, *given);
  return Error::success();
}

Error Assembler::resolveKeys() {
  RunInputs &in = inputs;
  if (ids) {
    in.batch = ids->shape[0];
    in.numKeys = ids->shape[1];
    if (Error error = agree("--batch", options.batch, "--ids", in.batch))
      return error;
    return agree("--seq-len", options.seqLen, "--ids", in.numKeys);
  }
  in.batch = options.batch.value_or(queries ? queries->shape[0] : 1);
  if (!options.seqLen && !queries)
    return usageError("--seq-len: expected a length with --text, got none");
  in.numKeys =
      options.seqLen.value_or(queries ? queries->shape[1] + in.queryOffset : 0);
  int64_t tokens = int64_t(in.tokens.ids.size());
  if (in.batch > 0 && in.numKeys > tokens / in.batch)
    return usageError("--text {0}: expected at least {1} tokens ({2} sequences "
                      "of {3}), got {4}",
                      options.textPath, uint64_t(in.batch) * in.numKeys,
                      in.batch, in.numKeys, tokens);
  return Error::success();
}

Error Assembler::resolveWidth() {
  if (table) {
    inputs.spec.dModel = table->shape[1];
    if (Error error =
            agree("--d-model", options.dModel, "--table", table->shape[1]))
      return error;
  } else if (queries) {
    inputs.spec.dModel = queries->shape[2];
    if (Error error =
            agree("--d-model", options.dModel, "--queries", queries->shape[2]))
      return error;
  } else if (options.dModel) {
    inputs.spec.dModel = *options.dModel;
  } else {
    return usageError("--d-model: expected a width without --table and "
                      "--queries, got none");
  }
  if (inputs.spec.dModel < 1)
    return usageError("--d-model: expected at least 1, got {0}",
                      inputs.spec.dModel);
  return Error::success();
}

Error Assembler::resolveShape() {
  if (Error error = resolveKeys())
    return error;
  if (Error error = resolveWidth())
    return error;
  RunInputs &in = inputs;
  in.numQueries = queries ? queries->shape[1]
                          : std::max<int64_t>(in.numKeys - in.queryOffset, 0);
  if (in.queryOffset == 0 && in.numQueries > in.numKeys)
    return usageError("--queries: expected at most {0} rows, one per token, "
                      "got {1}",
                      in.numKeys, in.numQueries);
  if (!queries && in.queryOffset > in.numKeys)
    return usageError(
        "--query-offset: expected at most {0} (the tokens), got {1}",
        in.numKeys, in.queryOffset);
  if (in.queryOffset > in.numKeys ||
      in.numQueries > in.numKeys - in.queryOffset)
    return usageError("--query-offset: expected at most {0} ({1} keys less {2} "
                      "queries), got {3}",
                      in.numKeys - in.numQueries, in.numKeys, in.numQueries,
                      in.queryOffset);
  std::vector<int64_t> expected = {in.batch, in.numQueries, in.dModel()};
  if (queries && queries->shape != llvm::ArrayRef(expected))
    return usageError("--queries: expected shape {0}, got {1}",
                      shapeText(expected), shapeText(queries->shape));
  return resolveVocabulary();
}

/// The first id that no table of any size has a row for, or else a negative
/// one.
static Error refuseIds(const NpyArray &ids, bool negative, StringRef path) {
  int64_t i = 0;
  while (negative ? ids.intAt(i) >= 0 : ids.intAt(i) < INT32_MAX)
    ++i;
  return usageError("{0}: expected ids in 0..{1}, got {2} at {3}", path,
                    INT32_MAX - 1, ids.intAt(i),
                    shapeText({i / ids.shape[1], i % ids.shape[1]}));
}

/// Without a table, V is what the ids or the text need.
Error Assembler::resolveVocabulary() {
  inputs.vocab = inputs.tokens.vocab();
  if (table) {
    inputs.vocab = table->shape[0];
  } else if (ids) {
    int64_t largest = largestId(*ids);
    if (largest >= INT32_MAX || (largest < 0 && ids->size() > 0))
      return refuseIds(*ids, largest < 0, options.idsPath);
    inputs.vocab = largest + 1;
  }
  return Error::success();
}

Error Assembler::resolveLengths() {
  std::vector<int64_t> &lengths = inputs.lengths;
  std::optional<NpyArray> file;
  if (Error error = readOptional(options.lengthsPath, false, 1, false, file))
    return error;
  if (file)
    for (int64_t b = 0; b < file->size(); ++b)
      lengths.push_back(file->intAt(b));
  else if (options.lengths)
    lengths = *options.lengths;
  else
    lengths.assign(inputs.batch, inputs.numKeys);
  return checkLengths(inputs);
}

//===----------------------------------------------------------------------===//
// The arrays
//===----------------------------------------------------------------------===//

static Error allocate(int64_t bytes, Buffer &buffer) {
  buffer = Buffer(bytes);
  if (!buffer)
    return missingError("memory: expected {0} bytes more, got none; use a "
                        "smaller shape",
                        bytes);
  return Error::success();
}

Error Assembler::placeIds() {
  int64_t count = inputs.batch * inputs.numKeys;
  if (Error error = allocate(count * inputs.spec.idBits / 8, inputs.ids))
    return error;
  // Sequence b takes tokens bT .. bT + T - 1: the text in its order.
  const void *source =
      ids ? static_cast<const void *>(ids->bytes()) : inputs.tokens.ids.data();
  if (count)
    std::memcpy(inputs.ids.data(), source, inputs.ids.size());
  return checkIds(inputs, ids ? options.idsPath : options.textPath);
}

/// Draws values begin .. end - 1 of a stream.
static void draw(uint64_t seed, InputStream stream, double scale, DType dtype,
                 int64_t begin, int64_t end, const Buffer &out) {
  if (dtype == DType::F64)
    return fillNormal(seed, stream, scale, begin, end - begin,
                      out.as<double>() + begin);
  if (dtype == DType::F32)
    return fillNormal(seed, stream, scale, begin, end - begin,
                      out.as<float>() + begin);
  constexpr int64_t block = 1024;
  double values[block];
  for (int64_t at = begin; at < end; at += block) {
    int64_t count = std::min(block, end - at);
    fillNormal(seed, stream, scale, at, count, values);
    for (int64_t i = 0; i < count; ++i)
      storeElement(out, dtype, at + i, values[i]);
  }
}

Error Assembler::placeFloats(StringRef name,
                             const std::optional<NpyArray> &file,
                             InputStream stream, llvm::ArrayRef<int64_t> shape,
                             const std::vector<bool> &seen, Buffer &out) {
  return placeFloats(name, file, stream, defaultDeviation(inputs.dModel()),
                     inputs.spec.dtype, shape, seen, out);
}

/// The gradient has the type of the signals.
Error Assembler::placeGradient() {
  std::vector<int64_t> shape = {inputs.batch, inputs.numQueries,
                                inputs.signalWidth()};
  if (grad && grad->shape != llvm::ArrayRef(shape))
    return usageError("--grad: expected shape {0}, got {1}", shapeText(shape),
                      shapeText(grad->shape));
  if (Error error = placeFloats("--grad", grad, InputStream::Grad, /*scale=*/1,
                                outputDType(inputs.spec.dtype), shape,
                                seenRows(inputs), inputs.dSignals))
    return error;
  return checkGradient(inputs);
}

Error Assembler::placeFloats(StringRef name,
                             const std::optional<NpyArray> &file,
                             InputStream stream, double scale, DType dtype,
                             llvm::ArrayRef<int64_t> shape,
                             const std::vector<bool> &seen, Buffer &out) {
  int64_t count = std::accumulate(shape.begin(), shape.end(), int64_t(1),
                                  std::multiplies<int64_t>());
  if (Error error = allocate(count * elementSize(dtype), out))
    return error;
  if (!file) {
    parallelRanges(count, [&](int64_t begin, int64_t end) {
      draw(options.seed, stream, scale, dtype, begin, end, out);
    });
    return Error::success();
  }
  parallelRanges(count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      storeElement(out, dtype, i, file->floatAt(i));
  });
  return checkFinite(name, *file, out, dtype, shape, seen);
}

Expected<RunInputs> assembleInputs(const RunOptions &options) {
  Assembler assembler(options);
  if (Error error = assembler.assemble())
    return error;
  return std::move(assembler.inputs);
}

} // namespace raytention::tool
