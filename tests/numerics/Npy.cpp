//===- Npy.cpp - a minimal reader of .npy files ---------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/numerics/Npy.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

using namespace raytention::test;

namespace {

/// The text after `key` in a header like "{'descr': '<f4', 'shape': (2, 3)}".
std::optional<std::string> after(const std::string &header, const char *key) {
  size_t at = header.find(key);
  if (at == std::string::npos)
    return std::nullopt;
  return header.substr(at + std::strlen(key));
}

std::vector<int64_t> parseShape(const std::string &text) {
  std::vector<int64_t> shape;
  const char *at = text.c_str();
  while (*at && *at != ')') {
    char *end;
    int64_t size = std::strtoll(at, &end, 10);
    if (end != at)
      shape.push_back(size);
    at = end + (*end == ',' || end == at);
  }
  return shape;
}

template <typename T>
bool readValues(const std::string &bytes, size_t begin, NpyArray &array) {
  size_t count = 1;
  for (int64_t size : array.shape)
    count *= size;
  if (bytes.size() - begin != count * sizeof(T))
    return false;
  std::vector<T> raw(count);
  std::memcpy(raw.data(), bytes.data() + begin, count * sizeof(T));
  array.values.assign(raw.begin(), raw.end());
  return true;
}

} // namespace

std::optional<NpyArray> raytention::test::readNpy(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  if (bytes.size() < 10 || bytes.compare(0, 8, "\x93NUMPY\x01\0", 8) != 0)
    return std::nullopt;
  size_t begin = 10 + uint8_t(bytes[8]) + 256 * uint8_t(bytes[9]);
  if (bytes.size() < begin)
    return std::nullopt;
  std::string header = bytes.substr(10, begin - 10);
  auto type = after(header, "'descr': '"), shape = after(header, "'shape': (");
  if (!type || !shape || !after(header, "'fortran_order': False"))
    return std::nullopt;
  NpyArray array;
  array.shape = parseShape(*shape);
  bool ok = false;
  if (type->compare(0, 3, "<f4") == 0)
    ok = readValues<float>(bytes, begin, array);
  else if (type->compare(0, 3, "<f8") == 0)
    ok = readValues<double>(bytes, begin, array);
  else if (type->compare(0, 3, "<i4") == 0)
    ok = readValues<int32_t>(bytes, begin, array);
  return ok ? std::optional<NpyArray>(array) : std::nullopt;
}
