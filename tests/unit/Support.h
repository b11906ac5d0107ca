//===- Support.h - what the tests of rt share -------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TESTS_UNIT_SUPPORT_H
#define RAYTENTION_TESTS_UNIT_SUPPORT_H

#include "tests/device/Support.h"
#include "tools/rt/Npy.h"
#include "tools/rt/Run.h"

#include <string>
#include <vector>

namespace raytention::test {

/// A folder of its own for one test, removed with it.
class TempFolder {
public:
  TempFolder();
  ~TempFolder();
  std::string file(const std::string &name) const { return path + "/" + name; }
  /// Names within, sorted.
  std::vector<std::string> entries() const;

  std::string path;
};

void writeFile(const std::string &path, llvm::StringRef bytes);
std::string readFile(const std::string &path);

/// The bytes of a .npy file.
template <typename T>
std::string npyBytes(tool::NpyType type, llvm::ArrayRef<int64_t> shape,
                     const std::vector<T> &values) {
  return tool::npyHeader(type, shape) +
         std::string(reinterpret_cast<const char *>(values.data()),
                     values.size() * sizeof(T));
}

/// Parses bytes as the file "f.npy".
llvm::Expected<tool::NpyArray> parse(llvm::StringRef bytes);

/// What a run of the program gave.
struct ToolOutput {
  int code = 0;
  std::string out, err;
};
ToolOutput runRt(const std::vector<std::string> &args,
                 const tool::CompileFunction &compile = {});

} // namespace raytention::test

#endif // RAYTENTION_TESTS_UNIT_SUPPORT_H
