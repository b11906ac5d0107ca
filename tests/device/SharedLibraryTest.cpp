//===- SharedLibraryTest.cpp - libraries opened at run time ---------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/support/SharedLibrary.h"

#include "tests/device/Support.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace raytention;
using namespace raytention::test;

namespace {

/// Nothing is hidden from these tests, whatever is from others.
struct SharedLibraryTest : testing::Test {
  ScopedVariable show{"RT_HIDE_CUDA", nullptr};
};

LibrarySearch searchFor(std::vector<std::string> candidates) {
  return {"Test", "RT_TEST_LIBRARY", std::move(candidates), "anywhere",
          "install it"};
}

TEST_F(SharedLibraryTest, OpensTheFirstCandidateThatOpens) {
  auto library = SharedLibrary::open(
      searchFor({"/no/such/file.so", RAYTENTION_EMPTY_LIBRARY}));
  ASSERT_TRUE(bool(library)) << llvm::toString(library.takeError());
  EXPECT_EQ(library->path(), RAYTENTION_EMPTY_LIBRARY);
  EXPECT_NE(library->find("rt_test_nothing_of_use"), nullptr);
  EXPECT_EQ(library->find("rt_test_other"), nullptr);
}

TEST_F(SharedLibraryTest, SaysWhatWasNotFoundAndWhatToDo) {
  EXPECT_EQ(messageOf(SharedLibrary::open(searchFor({"libnone.so.1"}))),
            "Test was not found: expected libnone.so.1 anywhere; install it");
}

TEST_F(SharedLibraryTest, TheVariableNamesTheOnlyFile) {
  ScopedVariable named("RT_TEST_LIBRARY", "/no/such/file.so");
  std::string message =
      messageOf(SharedLibrary::open(searchFor({RAYTENTION_EMPTY_LIBRARY})));
  EXPECT_EQ(message.rfind("RT_TEST_LIBRARY: expected a file that opens as "
                          "Test, got: /no/such/file.so",
                          0),
            0u)
      << message;
}

TEST_F(SharedLibraryTest, HiddenIsNotFound) {
  {
    ScopedVariable hide("RT_HIDE_CUDA", "1");
    EXPECT_EQ(
        messageOf(SharedLibrary::open(searchFor({RAYTENTION_EMPTY_LIBRARY}))),
        "Test is hidden: expected RT_HIDE_CUDA unset or 0, got 1");
  }
  ScopedVariable show("RT_HIDE_CUDA", "0");
  EXPECT_EQ(
      messageOf(SharedLibrary::open(searchFor({RAYTENTION_EMPTY_LIBRARY}))),
      "");
}

TEST_F(SharedLibraryTest, NamesTheFunctionItLacks) {
  auto library = SharedLibrary::open(searchFor({RAYTENTION_EMPTY_LIBRARY}));
  ASSERT_TRUE(bool(library));
  Symbol<int(int)> symbol{"rtTestMissing"};
  EXPECT_EQ(llvm::toString(library->bind(symbol)),
            "Test in " RAYTENTION_EMPTY_LIBRARY ": expected the function "
            "rtTestMissing, got a library without it; use a newer one");
  library->bindOptional(symbol);
  EXPECT_FALSE(bool(symbol));
}

TEST_F(SharedLibraryTest, FindsFilesOfToolkitsAndPackages) {
  llvm::SmallString<128> root;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("rt-toolkit", root));
  std::string toolkit = (root + "/cuda/lib64").str();
  std::string package =
      (root + "/env/lib/python3.11/site-packages/nvidia/part/lib").str();
  for (const std::string &folder : {toolkit, package}) {
    ASSERT_FALSE(llvm::sys::fs::create_directories(folder));
    std::error_code code;
    llvm::raw_fd_ostream(folder + "/librt-test.so", code) << "";
  }
  ScopedVariable cuda("CUDA_PATH", (root + "/cuda").str().c_str());
  ScopedVariable env("VIRTUAL_ENV", (root + "/env").str().c_str());
  EXPECT_EQ(findToolkitFiles({"librt-test.so"}, {"nvidia/part/lib"}),
            (std::vector<std::string>{toolkit + "/librt-test.so",
                                      package + "/librt-test.so"}));
  llvm::sys::fs::remove_directories(root);
}

} // namespace
