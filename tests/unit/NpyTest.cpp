//===- NpyTest.cpp - arrays in .npy files ---------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/unit/Support.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <random>

using namespace raytention::tool;
using namespace raytention::test;

namespace {

/// A file of version `major` with the given header text and data.
std::string rawFile(int major, const std::string &header,
                    const std::string &data) {
  std::string bytes("\x93NUMPY", 6);
  bytes += char(major);
  bytes += '\0';
  bytes += char(header.size() & 0xff);
  bytes += char(header.size() >> 8);
  if (major > 1)
    bytes += std::string(2, '\0');
  return bytes + header + data;
}

std::string headerText(const std::string &descr, const std::string &fortran,
                       const std::string &shape) {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran +
         ", 'shape': " + shape + ", }\n";
}

template <typename T>
void roundTrip(NpyType type, const std::vector<T> &values) {
  std::vector<int64_t> shape = {2, int64_t(values.size()) / 2};
  auto array = parse(npyBytes(type, shape, values));
  ASSERT_TRUE(bool(array)) << llvm::toString(array.takeError());
  EXPECT_EQ(array->type, type);
  EXPECT_EQ(array->shape, llvm::ArrayRef(shape));
  for (size_t i = 0; i < values.size(); ++i)
    if (isFloat(type)) {
      EXPECT_EQ(array->floatAt(i), double(values[i]));
    } else {
      EXPECT_EQ(array->intAt(i), int64_t(values[i]));
    }
}

} // namespace

TEST(Npy, RoundTripsEveryType) {
  roundTrip<float>(NpyType::F4, {1.5f, -0.25f, 3e38f, 1e-40f});
  roundTrip<double>(NpyType::F8, {1.5, -1e300, 0.1, -0.0});
  roundTrip<int32_t>(NpyType::I4, {0, -1, INT32_MAX, INT32_MIN});
  roundTrip<int64_t>(NpyType::I8, {0, -1, INT64_MAX, INT64_MIN});
}

TEST(Npy, RoundTripsEveryRankAndEmptyArrays) {
  for (std::vector<int64_t> shape : std::vector<std::vector<int64_t>>{
           {}, {3}, {0}, {2, 0, 5}, {1, 2, 3, 4}}) {
    int64_t count = 1;
    for (int64_t extent : shape)
      count *= extent;
    auto array =
        parse(npyBytes(NpyType::F4, shape, std::vector<float>(count, 2)));
    ASSERT_TRUE(bool(array)) << llvm::toString(array.takeError());
    EXPECT_EQ(array->shape, llvm::ArrayRef(shape));
    EXPECT_EQ(array->size(), count);
  }
}

TEST(Npy, HeaderIsPaddedToWholeLines) {
  for (int64_t extent : {1, 10, 1000000}) {
    std::string header = npyHeader(NpyType::F8, {extent, 7});
    EXPECT_EQ(header.size() % 64, 0u);
    EXPECT_EQ(header.back(), '\n');
  }
}

TEST(Npy, ReadsVersionsAndSpellings) {
  std::string data(8, '\0');
  for (int major : {1, 2, 3}) {
    auto array =
        parse(rawFile(major, headerText("<f4", "False", "(2,)"), data));
    EXPECT_TRUE(bool(array)) << llvm::toString(array.takeError());
  }
  auto array = parse(rawFile(
      1, "{ \"shape\":(1 ,2),\"fortran_order\":False,'descr':'<f4'}", data));
  ASSERT_TRUE(bool(array)) << llvm::toString(array.takeError());
  EXPECT_EQ(array->shape, (llvm::SmallVector<int64_t, 4>{1, 2}));
}

TEST(Npy, RefusesWithExpectedAndGot) {
  std::string data(8, '\0');
  std::string good = rawFile(1, headerText("<f4", "False", "(2,)"), data);
  std::string huge =
      headerText("<f4", "False", "(9223372036854775807, 9223372036854775807)");
  std::string badLength = good;
  badLength[8] = '\xff';
  badLength[9] = '\xff';
  const std::pair<std::string, std::string> cases[] = {
      {"", "0 bytes"},
      {"not an array", "starts with 'not an'"},
      {good.substr(0, 9), "9 bytes"},
      {good.substr(0, 30), "header length"},
      {good.substr(0, good.size() - 1), "got 7"},
      {good + "x", "got 9"},
      {badLength, "got a header length of 65535"},
      {rawFile(4, headerText("<f4", "False", "(2,)"), data), "got 4.0"},
      {rawFile(1, headerText("<f4", "True", "(2,)"), data), "fortran_order"},
      {rawFile(1, headerText(">f4", "False", "(2,)"), data), "got '>f4'"},
      {rawFile(1, headerText("<f2", "False", "(4,)"), data), "got '<f2'"},
      {rawFile(1, headerText("|O", "False", "(1,)"), data), "got '|O'"},
      {rawFile(1, headerText("<f4", "False", "(-2,)"), data), "got '{"},
      {rawFile(1, headerText("<f4", "False", "(2"), data), "got '{"},
      {rawFile(1, "{'descr': '<f4'}", data), "got '{"},
      {rawFile(1, "", data), "got ''"},
      {rawFile(1, huge, data), "over 2^63"}};
  for (auto &[bytes, got] : cases) {
    std::string message = messageOf(parse(bytes));
    EXPECT_NE(message.find("expected"), std::string::npos) << message;
    EXPECT_NE(message.find(got), std::string::npos) << message << "\n" << got;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

TEST(Npy, ChecksKindAndRank) {
  TempFolder folder;
  std::string path = folder.file("a.npy");
  writeFile(path, npyBytes<float>(NpyType::F4, {2, 3}, std::vector<float>(6)));
  auto array = readNpy(path, true, 3, true);
  ASSERT_TRUE(bool(array));
  EXPECT_EQ(array->shape, (llvm::SmallVector<int64_t, 4>{1, 2, 3}));
  EXPECT_NE(messageOf(readNpy(path, true, 3, false)).find("got shape [2, 3]"),
            std::string::npos);
  EXPECT_NE(messageOf(readNpy(path, false, 2, true)).find("got <f4"),
            std::string::npos);
  EXPECT_NE(messageOf(readNpy(folder.file("none"), true, 2, true)).find("got:"),
            std::string::npos);
  EXPECT_NE(messageOf(readNpy(folder.path, true, 2, true)).find("got:"),
            std::string::npos);
}

/// Any bytes give an error or an array whose every element can be read.
TEST(Npy, SurvivesMutations) {
  std::vector<double> values = {1, 2, 3, 4, 5, 6};
  std::string good = npyBytes(NpyType::F8, {2, 3}, values);
  std::mt19937_64 random(20240607);
  int read = 0, refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = good;
    // Mostly in the header, where a change matters.
    size_t reach = random() % 4 ? 80 : bytes.size();
    for (int edits = 1 + random() % 4; edits > 0; --edits)
      switch (random() % 4) {
      case 0:
        bytes[random() % std::min(reach, bytes.size())] = char(random());
        break;
      case 1:
        bytes[random() % std::min(reach, bytes.size())] ^= 1 << random() % 8;
        break;
      case 2:
        bytes.resize(1 + random() % bytes.size());
        break;
      case 3:
        bytes.insert(random() % std::min(reach, bytes.size()), 1,
                     "0123456789(),{}' \n"[random() % 18]);
        break;
      }
    auto array = parse(bytes);
    if (!array) {
      EXPECT_FALSE(llvm::toString(array.takeError()).empty());
      ++refused;
      continue;
    }
    ++read;
    ASSERT_LE(array->size() * npyItemSize(array->type), int64_t(bytes.size()));
    double sum = 0;
    for (int64_t i = 0; i < array->size(); ++i)
      sum += isFloat(array->type) ? array->floatAt(i) : double(array->intAt(i));
    if (bytes == good) {
      EXPECT_EQ(sum, 21);
    }
  }
  EXPECT_GT(read, 100);
  EXPECT_GT(refused, 1000);
}
