//===- Result.cpp - what a run gave ---------------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/rt/Result.h"

#include "tools/rt/Channels.h"
#include "tools/rt/ToolError.h"

#include <algorithm>
#include <limits>

using llvm::Error;

namespace raytention::tool {

double outputAt(const Buffer &buffer, DType dtype, int64_t index) {
  return outputType(dtype) == NpyType::F8 ? buffer.as<double>()[index]
                                          : buffer.as<float>()[index];
}

double RunResult::signalAt(int64_t row, int64_t s) const {
  return outputAt(signals, dtype, row * width + s);
}

double RunResult::normAt(int64_t row) const {
  return outputAt(norm, dtype, row);
}

double RunResult::rawAt(int64_t row, int64_t s) const {
  return signalAt(row, s) * std::max(normAt(row), 1e-10);
}

/// Allocates and fills with NaN.
static bool allocateFloats(int64_t count, DType dtype, Buffer &out) {
  bool isDouble = outputType(dtype) == NpyType::F8;
  out = Buffer(count * (isDouble ? 8 : 4));
  if (!out)
    return false;
  if (isDouble)
    std::fill_n(out.as<double>(), count,
                std::numeric_limits<double>::quiet_NaN());
  else
    std::fill_n(out.as<float>(), count,
                std::numeric_limits<float>::quiet_NaN());
  return true;
}

Error allocateOutputs(const RunInputs &inputs, RunResult &result) {
  int64_t rows = inputs.rows();
  int64_t logSums = inputs.backward ? rows * result.numLogSums : 0;
  result.indices = Buffer(rows * result.numIndices * 4);
  if (!result.indices ||
      !allocateFloats(rows * result.width, result.dtype, result.signals) ||
      !allocateFloats(rows, result.dtype, result.norm) ||
      !allocateFloats(logSums, result.dtype, result.logSums))
    return missingError("memory: expected room for outputs of shape {0}, got "
                        "none; use a smaller shape",
                        shapeText({rows, result.width}));
  std::fill_n(result.indices.as<int32_t>(), rows * result.numIndices, -1);
  return Error::success();
}

Error allocateGradients(const RunInputs &inputs, GradientResult &result) {
  DType dtype = inputs.spec.dtype;
  int64_t width = inputs.dModel();
  if (!allocateFloats(inputs.rows() * width, dtype, result.queries) ||
      !allocateFloats(inputs.vocab * width, dtype, result.table) ||
      !allocateFloats(1, dtype, result.tau) ||
      !allocateFloats(inputs.spec.numGammas, dtype, result.gammas))
    return missingError("memory: expected room for gradients of shape {0} and "
                        "{1}, got none; use a smaller shape",
                        shapeText({inputs.batch, inputs.numQueries, width}),
                        shapeText({inputs.vocab, width}));
  return Error::success();
}

double usefulFlops(const RunInputs &inputs) {
  int64_t weighted =
      llvm::count_if(inputs.spec.channels, [](const std::string &channel) {
        return isWeightedChannel(channel);
      });
  return 2.0 * double(inputs.dModel()) * double(1 + weighted) *
         double(inputs.visiblePairs());
}

llvm::ArrayRef<llvm::StringRef> resultFiles() {
  static const llvm::StringRef names[] = {"signals.npy", "raw.npy",
                                          "dq.npy",      "dtable.npy",
                                          "dtau.npy",    "dgammas.npy"};
  return names;
}

std::vector<uint64_t> resultFileSizes(const RunInputs &inputs) {
  uint64_t element = npyItemSize(outputType(inputs.spec.dtype));
  uint64_t rows = inputs.rows(), width = inputs.dModel();
  uint64_t signals = rows * inputs.signalWidth();
  std::vector<uint64_t> sizes = {signals, signals};
  if (inputs.backward)
    sizes.insert(sizes.end(), {rows * width, inputs.vocab * width, 1,
                               uint64_t(inputs.spec.numGammas)});
  constexpr uint64_t header = 128;
  for (uint64_t &size : sizes)
    size = size * element + header;
  return sizes;
}

/// The raw rows, converted one at a time.
template <typename T>
static void writeRaw(const RunResult &result, int64_t rows,
                     llvm::raw_ostream &os) {
  std::vector<T> row(result.width);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t s = 0; s < result.width; ++s)
      row[s] = T(result.rawAt(r, s));
    os.write(reinterpret_cast<const char *>(row.data()),
             row.size() * sizeof(T));
  }
}

static Error writeGradients(const RunInputs &inputs,
                            const GradientResult &gradients,
                            OutputDir &folder) {
  struct {
    llvm::StringRef name;
    const Buffer &buffer;
    std::vector<int64_t> shape;
  } const files[] = {
      {"dq.npy",
       gradients.queries,
       {inputs.batch, inputs.numQueries, inputs.dModel()}},
      {"dtable.npy", gradients.table, {inputs.vocab, inputs.dModel()}},
      {"dtau.npy", gradients.tau, {}},
      {"dgammas.npy", gradients.gammas, {inputs.spec.numGammas}}};
  for (auto &file : files) {
    auto write = [&](llvm::raw_ostream &os) {
      os.write(file.buffer.as<char>(), file.buffer.size());
    };
    if (Error error = folder.writeNpy(file.name, outputType(inputs.spec.dtype),
                                      file.shape, write))
      return error;
  }
  return Error::success();
}

Error writeResult(const RunInputs &inputs, const RunResult &result,
                  OutputDir &folder) {
  NpyType type = outputType(result.dtype);
  int64_t shape[] = {inputs.batch, inputs.numQueries, result.width};
  auto signals = [&](llvm::raw_ostream &os) {
    os.write(result.signals.as<char>(), result.signals.size());
  };
  auto raw = [&](llvm::raw_ostream &os) {
    if (type == NpyType::F8)
      writeRaw<double>(result, inputs.rows(), os);
    else
      writeRaw<float>(result, inputs.rows(), os);
  };
  if (Error error = folder.writeNpy(resultFiles()[0], type, shape, signals))
    return error;
  if (Error error = folder.writeNpy(resultFiles()[1], type, shape, raw))
    return error;
  return result.gradients ? writeGradients(inputs, *result.gradients, folder)
                          : Error::success();
}

} // namespace raytention::tool
