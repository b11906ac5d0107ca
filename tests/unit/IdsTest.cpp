//===- IdsTest.cpp - ids that stand for no token --------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/unit/Support.h"

#include "gtest/gtest.h"

using namespace raytention::tool;
using namespace raytention::test;

namespace {

/// What rt says to ids [2, 3] that are 0 but for one at [1, 2].
template <typename T> std::string answerTo(T id, NpyType type, bool withTable) {
  TempFolder folder;
  std::vector<T> ids(6, 0);
  ids[5] = id;
  writeFile(folder.file("ids.npy"), npyBytes(type, {2, 3}, ids));
  writeFile(folder.file("t.npy"),
            npyBytes(NpyType::F4, {4, 2}, std::vector<float>(8, 0.5f)));
  std::vector<std::string> args = {
      "run",      "--ids", folder.file("ids.npy"), "--channels",
      "centroid", "--out", folder.file("out")};
  if (withTable)
    args.insert(args.end(), {"--table", folder.file("t.npy")});
  else
    args.insert(args.end(), {"--d-model", "2"});
  ToolOutput output = runRt(args);
  EXPECT_EQ(output.code, 2) << output.err;
  EXPECT_EQ(folder.entries().size(), 2u);
  return output.err;
}

std::string expected(const std::string &most, const std::string &got) {
  return "ids.npy: expected ids in 0.." + most + ", got " + got +
         " at [1, 2]\n";
}

bool ends(const std::string &text, const std::string &end) {
  return llvm::StringRef(text).ends_with(end);
}

} // namespace

TEST(Ids, BeyondTheTableAreNamedWithTheirPlace) {
  for (int64_t id : {int64_t(-1), int64_t(4), (int64_t(1) << 32) + 1, INT64_MIN,
                     INT64_MAX}) {
    std::string said = answerTo<int64_t>(id, NpyType::I8, true);
    EXPECT_TRUE(ends(said, expected("3", std::to_string(id)))) << said;
  }
  for (int32_t id : {-1, 4, INT32_MIN, INT32_MAX}) {
    std::string said = answerTo<int32_t>(id, NpyType::I4, true);
    EXPECT_TRUE(ends(said, expected("3", std::to_string(id)))) << said;
  }
}

TEST(Ids, BeyondAnyTableAreNamedWithTheirPlace) {
  for (int64_t id : {int64_t(INT32_MAX), (int64_t(1) << 32) + 1, INT64_MAX}) {
    std::string said = answerTo<int64_t>(id, NpyType::I8, false);
    EXPECT_TRUE(ends(said, expected("2147483646", std::to_string(id)))) << said;
  }
  std::string said = answerTo<int32_t>(INT32_MAX, NpyType::I4, false);
  EXPECT_TRUE(ends(said, expected("2147483646", "2147483647"))) << said;
  // The largest of the others says how many there are.
  said = answerTo<int64_t>(INT64_MIN, NpyType::I8, false);
  EXPECT_TRUE(ends(said, expected("0", "-9223372036854775808"))) << said;
  said = answerTo<int32_t>(-1, NpyType::I4, false);
  EXPECT_TRUE(ends(said, expected("0", "-1"))) << said;
}

TEST(Ids, AllNegativeAreRefusedAtTheFirst) {
  TempFolder folder;
  writeFile(folder.file("ids.npy"),
            npyBytes(NpyType::I4, {2}, std::vector<int32_t>{-3, -1}));
  ToolOutput output =
      runRt({"run", "--ids", folder.file("ids.npy"), "--d-model", "2"});
  EXPECT_EQ(output.code, 2);
  EXPECT_TRUE(
      ends(output.err, "expected ids in 0..2147483646, got -3 at [0, 0]\n"))
      << output.err;
}
