//===- RunCase.cpp - a case as files and a command --------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/fuzz/RunCase.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <unistd.h>

using namespace raytention;
using namespace raytention::fuzz;

/// Far more than any case takes.
static constexpr unsigned kSecondsPerRun = 600;

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// An .npy file of version 1.0.
template <typename Element, typename From>
static void writeNpy(const std::string &path, const char *type,
                     llvm::ArrayRef<int64_t> shape,
                     const std::vector<From> &values) {
  std::string header = "{'descr': '" + std::string(type) +
                       "', 'fortran_order': False, 'shape': (";
  for (int64_t extent : shape)
    header += std::to_string(extent) + ",";
  header += "), }";
  header.resize(llvm::alignTo(header.size() + 11, 64) - 10, ' ');
  header.back() = '\n';
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  os.write("\x93NUMPY\x01\x00", 8);
  os << char(header.size() & 255) << char(header.size() >> 8) << header;
  for (From value : values) {
    Element element = static_cast<Element>(value);
    os.write(reinterpret_cast<const char *>(&element), sizeof(element));
  }
}

static void writeFloats(const Case &c, const std::string &path,
                        llvm::ArrayRef<int64_t> shape,
                        const std::vector<double> &values) {
  if (c.type == Type::F64)
    writeNpy<double>(path, "<f8", shape, values);
  else
    writeNpy<float>(path, "<f4", shape, values);
}

void CaseFolder::write() const {
  if (c.idBits == 64)
    writeNpy<int64_t>(file("ids.npy"), "<i8", {c.batch, c.numKeys}, c.ids);
  else
    writeNpy<int32_t>(file("ids.npy"), "<i4", {c.batch, c.numKeys}, c.ids);
  writeFloats(c, file("queries.npy"), {c.batch, c.numQueries, c.width},
              c.queries);
  writeFloats(c, file("table.npy"), {c.vocab, c.width}, c.table);
  if (c.backward)
    writeFloats(c, file("grad.npy"), {c.batch, c.numQueries, c.signalWidth()},
                c.gradient);
}

CaseFolder::CaseFolder(const Case &c, const std::string &suffix) : c(c) {
  const char *wanted = std::getenv("RT_FUZZ_KEEP");
  kept = wanted && *wanted;
  path = kept ? wanted : RAYTENTION_FUZZ_FOLDER;
  std::string name = c.name + suffix;
  std::replace(name.begin(), name.end(), ':', '-');
  // A process of its own for each shard: no two run one case.
  path += "/" + name;
  llvm::sys::fs::remove_directories(path);
  llvm::sys::fs::create_directories(path);
  write();
}

CaseFolder::~CaseFolder() {
  if (!kept)
    llvm::sys::fs::remove_directories(path);
}

std::string fuzz::readBytes(const std::string &path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  return file ? (*file)->getBuffer().str() : "";
}

std::vector<std::string> fuzz::outputNames(const Case &c) {
  std::vector<std::string> names = {"signals.npy", "raw.npy"};
  if (c.backward)
    names.insert(names.end(),
                 {"dq.npy", "dtable.npy", "dtau.npy", "dgammas.npy"});
  return names;
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

static std::string numberText(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.17g", value);
  return text;
}

std::vector<std::string> CaseFolder::makeArguments(bool check, bool out) const {
  const char *types[] = {"f32", "f64", "bf16"};
  std::vector<std::string> args = {"run",
                                   "--ids",
                                   file("ids.npy"),
                                   "--queries",
                                   file("queries.npy"),
                                   "--table",
                                   file("table.npy"),
                                   "--channels",
                                   llvm::join(c.channels, ","),
                                   "--metric",
                                   c.metric,
                                   "--decay-origin",
                                   c.origin,
                                   "--dtype",
                                   types[int(c.type)],
                                   "--precision",
                                   c.precision,
                                   "--tau",
                                   numberText(c.tau),
                                   "--target",
                                   c.target,
                                   "--threads",
                                   std::to_string(c.threads)};
  auto add = [&](const char *name, const std::string &value) {
    args.push_back(name);
    if (!value.empty())
      args.push_back(value);
  };
  auto addSize = [&](const char *name, int64_t size) {
    if (size)
      add(name, std::to_string(size));
  };
  if (!c.gammas.empty())
    add("--gammas", llvm::join(llvm::map_range(c.gammas, numberText), ","));
  addSize("--query-offset", c.offset);
  if (!c.lengths.empty())
    add("--lengths",
        llvm::join(llvm::map_range(c.lengths,
                                   [](int64_t n) { return std::to_string(n); }),
                   ","));
  addSize("--query-tile", c.queryTile);
  addSize("--chunk", c.keyChunk);
  addSize("--split-keys", c.splitKeys);
  addSize("--query-chunk", c.queryChunk);
  if (c.foldChunk) {
    add("--schedule", "folded");
    addSize("--fold-chunk", c.foldChunk);
  }
  if (c.family != "auto")
    add("--family", c.family);
  if (c.scores != "auto")
    add("--scores", c.scores);
  if (c.backward) {
    add("--backward", "");
    add("--grad", file("grad.npy"));
  }
  if (check) {
    add("--check", "");
    add("--json", "");
  }
  if (out)
    add("--out", file("out"));
  return args;
}

ProgramResult CaseFolder::run(bool check, bool out) const {
  llvm::sys::fs::remove_directories(file("out"));
  std::vector<std::string> args = makeArguments(check, out);
  const char *program = std::getenv("RT_FUZZ_PROGRAM");
  args.insert(args.begin(), program ? program : RAYTENTION_RT);
  std::vector<llvm::StringRef> views(args.begin(), args.end());
  std::string outPath = file("stdout"), errPath = file("stderr"), message;
  std::optional<llvm::StringRef> redirects[] = {
      llvm::StringRef(""), llvm::StringRef(outPath), llvm::StringRef(errPath)};
  ProgramResult result;
  result.code = llvm::sys::ExecuteAndWait(
      args[0], views, std::nullopt, redirects, kSecondsPerRun, 0, &message);
  result.out = readBytes(outPath);
  result.err = readBytes(errPath) + message;
  result.command = llvm::join(args, " ");
  return result;
}
