//===- FormTest.cpp - every form against a model of it ----------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/simt/FormCase.h"

#include <set>

using namespace raytention::simt;
using namespace raytention::simt::test;

// A form is covered where its family's entry in the table makes a check of it,
// having taken every part of the mnemonic. All that is listed must be covered:
// an instruction cannot become known to the interpreter without a test.

namespace {

const std::vector<FormInfo> &allForms() {
  static const std::vector<FormInfo> forms = listForms();
  return forms;
}

const CheckTable &checks() {
  static const CheckTable table = [] {
    CheckTable all;
    addNumberChecks(all);
    addFloatChecks(all);
    addBitChecks(all);
    addCompareChecks(all);
    addConvertChecks(all);
    addMemoryChecks(all);
    addAsyncChecks(all);
    addAtomicChecks(all);
    addLaneChecks(all);
    addMatrixChecks(all);
    addControlChecks(all);
    addWarpgroupChecks(all);
    return all;
  }();
  return table;
}

/// Empty where the form is not covered.
Check checkOf(const FormInfo &info) {
  auto found = checks().find(info.family);
  if (found == checks().end())
    return {};
  FormCase form(info);
  Check check = found->second(form);
  return form.done() ? check : Check();
}

std::vector<std::string> uncovered(const std::vector<FormInfo> &forms) {
  std::vector<std::string> names;
  for (const FormInfo &form : forms)
    if (!checkOf(form))
      names.push_back(form.text());
  return names;
}

std::vector<std::string> families() {
  std::set<std::string> names;
  for (const FormInfo &form : allForms())
    names.insert(form.family);
  return {names.begin(), names.end()};
}

class FormTest : public testing::TestWithParam<std::string> {};

} // namespace

TEST_P(FormTest, EveryForm) {
  size_t index = 0;
  for (const FormInfo &info : allForms()) {
    if (info.family != GetParam() || index++ % kSample)
      continue;
    SCOPED_TRACE(info.text());
    if (Check check = checkOf(info))
      check();
    if (HasFailure())
      return;
  }
}

INSTANTIATE_TEST_SUITE_P(All, FormTest, testing::ValuesIn(families()),
                         [](const auto &info) { return info.param; });

TEST(FormListTest, EveryFormIsCovered) {
  EXPECT_EQ(uncovered(allForms()), std::vector<std::string>());
}

TEST(FormListTest, EveryCheckHasForms) {
  for (const auto &[family, check] : checks()) {
    std::vector<std::string> all = families();
    EXPECT_TRUE(std::count(all.begin(), all.end(), family)) << family;
  }
}

TEST(FormListTest, NoFormComesTwice) {
  std::set<std::string> seen;
  for (const FormInfo &form : allForms())
    EXPECT_TRUE(seen.insert(form.text()).second) << form.text();
}

TEST(FormListTest, AFormWithoutATestIsNamed) {
  std::vector<FormInfo> forms = {{"add", "add.u32", "=u32, u32, u32"},
                                 {"add", "add.twice.u32", "=u32, u32, u32"},
                                 {"frob", "frob.u32", "=u32, u32"}};
  EXPECT_EQ(uncovered(forms),
            (std::vector<std::string>{"add.twice.u32 =u32, u32, u32",
                                      "frob.u32 =u32, u32"}));
}
