//===- Explain.cpp - what a position attends to, in words -----------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/rt/Explain.h"

#include "tools/rt/Channels.h"
#include "tools/rt/Report.h"
#include "tools/rt/ToolError.h"

#include <cmath>

using llvm::Error;
using llvm::StringRef;

namespace raytention::tool {

Error checkExplainRows(const RunInputs &in, llvm::ArrayRef<ExplainRow> rows) {
  for (ExplainRow row : rows) {
    if (row.sequence >= in.batch)
      return usageError("--explain: expected a sequence below {0}, got {1}",
                        in.batch, row.sequence);
    int64_t end = in.queryOffset + in.numQueries;
    if (row.position < in.queryOffset || row.position >= end)
      return usageError("--explain: expected a position with a query, from {0} "
                        "to below {1}, got {2}",
                        in.queryOffset, end, row.position);
  }
  return Error::success();
}

/// The token at `position`. A faulty position gives none: an index that a
/// compiled kernel wrote is shown as it is and never followed.
static ExplainedToken tokenAt(const RunInputs &in, int64_t sequence,
                              int64_t position) {
  ExplainedToken token;
  if (position < 0 || position >= in.numKeys)
    return token;
  token.id = in.idAt(sequence * in.numKeys + position);
  if (token.id < in.tokens.vocab())
    token.text = in.tokens.texts[token.id];
  return token;
}

static std::optional<double> scalarAt(const RunInputs &in,
                                      const RunResult &result, int64_t row,
                                      StringRef channel) {
  auto offset = channelOffset(in.spec.channels, channel, in.dModel());
  if (!offset || *offset >= result.width)
    return std::nullopt;
  return result.rawAt(row, *offset);
}

Explanation explainRow(const RunInputs &in, const RunResult &result,
                       ExplainRow which) {
  Explanation out;
  out.row = which;
  out.token = tokenAt(in, which.sequence, which.position);
  int64_t query = which.position - in.queryOffset;
  out.visible = in.visibleKeys(which.sequence, query);
  int64_t row = which.sequence * in.numQueries + query;
  for (StringRef channel : {"top:1", "top:2", "antitop", "predecessor"}) {
    ExplainedKey key;
    key.channel = channel.str();
    auto slot = copySlot(in.spec.channels, channel);
    if (slot && *slot < result.numIndices) {
      key.position = result.indexAt(row, *slot);
      key.token = tokenAt(in, which.sequence, *key.position);
    }
    out.keys.push_back(std::move(key));
  }
  out.spread = scalarAt(in, result, row, "spread");
  out.entropy = scalarAt(in, result, row, "entropy");
  return out;
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

static StringRef meaning(StringRef channel) {
  if (channel == "top:1")
    return "attends most to";
  if (channel == "top:2")
    return "then to";
  if (channel == "antitop")
    return "least, but still, to";
  return "predecessor is";
}

static std::string tokenText(const ExplainedToken &token) {
  if (token.text)
    return quoted(*token.text, 40);
  return token.id < 0 ? "that is no key" : "id " + std::to_string(token.id);
}

static void line(llvm::raw_ostream &os, StringRef what, const llvm::Twine &text,
                 StringRef channel) {
  os << llvm::formatv("  {0,-22}{1} ({2})\n", what, text.str(), channel);
}

void printExplanation(const Explanation &e, llvm::raw_ostream &os) {
  os << "position " << e.row.position << " " << tokenText(e.token);
  if (e.row.sequence)
    os << " of sequence " << e.row.sequence;
  if (e.visible == 0) {
    os << " lies beyond its sequence and attends to nothing\n";
    return;
  }
  os << " sees " << e.visible << (e.visible == 1 ? " key\n" : " keys\n");
  for (const ExplainedKey &key : e.keys)
    line(os, meaning(key.channel),
         key.position ? "position " + llvm::Twine(*key.position).str() + " " +
                            tokenText(key.token)
                      : std::string("not known: the channel is not computed"),
         key.channel);
  const std::string unknown = "not known: the channel is not computed";
  line(os, "spread is",
       e.spread ? llvm::formatv("{0:f4}", *e.spread).str() : unknown, "spread");
  line(os, "entropy is",
       e.entropy ? llvm::formatv("{0:f4} nats, as if even over {1:f1} keys",
                                 *e.entropy, std::exp(*e.entropy))
                       .str()
                 : unknown,
       "entropy");
}

static llvm::json::Object tokenToJson(int64_t position,
                                      const ExplainedToken &token) {
  llvm::json::Object object{{"position", position}, {"id", token.id}};
  if (token.text)
    object["token"] = jsonText(*token.text);
  return object;
}

llvm::json::Object explanationToJson(const Explanation &e) {
  llvm::json::Object keys;
  for (const ExplainedKey &key : e.keys)
    keys[key.channel] =
        key.position ? llvm::json::Value(tokenToJson(*key.position, key.token))
                     : llvm::json::Value(nullptr);
  llvm::json::Object object = tokenToJson(e.row.position, e.token);
  object["sequence"] = e.row.sequence;
  object["visible_keys"] = e.visible;
  object["keys"] = std::move(keys);
  object["spread"] = jsonNumber(e.spread);
  object["entropy"] = jsonNumber(e.entropy);
  return object;
}

} // namespace raytention::tool
