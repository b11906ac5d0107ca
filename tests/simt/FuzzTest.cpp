//===- FuzzTest.cpp - wrong PTX ends in an error or a right result --*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/simt/Support.h"

#include <random>

using namespace raytention::simt;
using namespace raytention::simt::test;

// Built with the sanitizers and everything it tests: see CMakeLists.txt.

namespace {

/// Where a token starts that a change of is likely to be parsed far.
size_t drawPlace(const std::string &text, std::mt19937 &draw) {
  return draw() % text.size();
}

void deleteSome(std::string &text, std::mt19937 &draw) {
  text.erase(drawPlace(text, draw), 1 + draw() % 8);
}

void changeOne(std::string &text, std::mt19937 &draw) {
  static const char alphabet[] =
      "0123456789%rpfdsu.,;[]{}()+-@!|<>:_$ \nxab\"/*";
  text[drawPlace(text, draw)] = alphabet[draw() % (sizeof(alphabet) - 1)];
}

void changeNumber(std::string &text, std::mt19937 &draw) {
  static const char *const numbers[] = {
      "0",  "1",          "-1",   "31", "4294967295", "9223372036854775807",
      "64", "0x80000000", "65536"};
  size_t at = text.find_first_of("0123456789", drawPlace(text, draw));
  if (at == std::string::npos)
    return;
  size_t end = text.find_first_not_of("0123456789", at);
  text.replace(at, end - at, numbers[draw() % std::size(numbers)]);
}

/// A word of another place: types, opcodes and registers change places.
void swapWords(std::string &text, std::mt19937 &draw) {
  static const char *const ends = " \t\n,;[]{}()";
  size_t from = text.find_first_not_of(ends, drawPlace(text, draw));
  size_t to = text.find_first_not_of(ends, drawPlace(text, draw));
  if (from == std::string::npos || to == std::string::npos)
    return;
  std::string word = text.substr(from, text.find_first_of(ends, from) - from);
  text.replace(to, text.find_first_of(ends, to) - to, word);
}

void repeatLine(std::string &text, std::mt19937 &draw) {
  size_t from = text.find('\n', drawPlace(text, draw));
  size_t to = text.find('\n', drawPlace(text, draw));
  if (from == std::string::npos || to == std::string::npos)
    return;
  std::string line = text.substr(from, text.find('\n', from + 1) - from);
  text.insert(to, line);
}

void edit(std::string &text, std::mt19937 &draw) {
  switch (draw() % 5) {
  case 0:
    return deleteSome(text, draw);
  case 1:
    return changeOne(text, draw);
  case 2:
    return changeNumber(text, draw);
  case 3:
    return swapWords(text, draw);
  default:
    return repeatLine(text, draw);
  }
}

/// Boxes of 32 x 32 floats of a buffer.
void encodeMap(void *base, uint8_t *to) {
  TensorMap map;
  map.base = reinterpret_cast<uint64_t>(base);
  map.rank = 2;
  map.swizzle = Swizzle::Bytes128;
  map.size = {32, 200};
  map.stride = {4, 128};
  map.box = {32, 32};
  llvm::cantFail(encode(map, to));
}

/// A buffer, a view of one, or a small number.
void fillArgument(Memory &memory, const Parameter &parameter, uint8_t *to) {
  if (parameter.size == 4) {
    *to = 3;
    return;
  }
  if (parameter.size != 8 && parameter.size != kTensorMapBytes)
    return;
  void *base = llvm::cantFail(memory.allocate(1 << 16, parameter.name));
  std::memset(base, 0, 1 << 16);
  if (parameter.size == 8)
    std::memcpy(to, &base, sizeof(base));
  else
    encodeMap(base, to);
}

/// Launches every entry on small buffers; findings are fine, crashes are not.
unsigned runAll(const Module &module) {
  unsigned ran = 0;
  for (const Entry &entry : module.entries()) {
    Memory memory;
    std::vector<uint8_t> arguments(entry.parameterBytes);
    for (const Parameter &parameter : entry.parameters)
      fillArgument(memory, parameter, &arguments[parameter.offset]);
    LaunchOptions options;
    options.threads = 2;
    options.stepLimit = 6000;
    uint32_t threads =
        entry.maxThreads ? std::min(160u, entry.maxThreads) : 160;
    auto report = launch(module, entry.name, {2, 1, 1}, {threads, 1, 1}, 16384,
                         arguments, memory, options);
    if (report)
      ++ran;
    else
      llvm::consumeError(report.takeError());
  }
  return ran;
}

/// 300, or what RT_SIMT_EDITS says for a longer search.
unsigned countEdits() {
  const char *wanted = std::getenv("RT_SIMT_EDITS");
  return wanted ? std::max(1, std::atoi(wanted)) : 300;
}

class EditTest : public testing::TestWithParam<const char *> {};
} // namespace

TEST_P(EditTest, EditsNeverCrash) {
  std::string original = readData(GetParam());
  ASSERT_FALSE(original.empty());
  unsigned parsed = 0, refused = 0, ran = 0;
  for (unsigned seed = 1, last = countEdits(); seed <= last; ++seed) {
    std::mt19937 draw(seed);
    std::string text = original;
    for (unsigned edits = 1 + draw() % 3; edits; --edits)
      edit(text, draw);
    auto module = parse(text);
    if (!module) {
      std::string message = llvm::toString(module.takeError());
      EXPECT_EQ(message.rfind("ptx line ", 0), 0u) << message;
      ++refused;
      continue;
    }
    ++parsed;
    ran += runAll(*module);
  }
  // Both happen, or the edits test nothing.
  EXPECT_GT(parsed, 20u);
  EXPECT_GT(refused, 20u);
  EXPECT_GT(ran, 20u);
}

INSTANTIATE_TEST_SUITE_P(Stored, EditTest,
                         testing::Values("rows.ptx", "matmul.ptx", "many.ptx",
                                         "pipeline.ptx", "warpgroup.ptx",
                                         "hopper.ptx", "system.ptx"),
                         [](const auto &info) {
                           std::string name = info.param;
                           return name.substr(0, name.find('.'));
                         });

TEST(FuzzTest, CutTextsAreErrors) {
  std::string original = readData("rows.ptx");
  for (size_t size = 0; size < original.size(); size += 97) {
    auto module = parse(original.substr(0, size));
    if (module)
      runAll(*module);
    else
      llvm::consumeError(module.takeError());
  }
}
