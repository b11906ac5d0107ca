//===- EditTest.cpp - an edited stage is computed as written or refused ---===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each edit is made on a stage on tensors of each target, or on the kernels or
// the plan of a device, and compared with what the edited stage means. Expected
// values come from the reference on inputs that are changed alike, never from
// the target that is tested.
//
//===----------------------------------------------------------------------===//

#include "tests/device/Support.h"
#include "tests/exec/StageEditor.h"
#include "tests/exec/StageEdits.h"
#include "tests/support/Results.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace raytention;
using namespace raytention::test;

namespace {

enum class Form { Cpu, CpuStored, Fused, Stored };

bool isCpu(Form form) { return form == Form::Cpu || form == Form::CpuStored; }
bool isStored(Form form) {
  return form == Form::Stored || form == Form::CpuStored;
}

CompileOptions getOptions(Form form) {
  CompileOptions options;
  options.target = isCpu(form) ? TargetKind::Cpu : TargetKind::Simt;
  options.schedule.family =
      isStored(form) ? Schedule::Family::Stored : Schedule::Family::Fused;
  if (form == Form::CpuStored) // several steps of the loop over rows
    options.schedule.queryChunk = 2 * EditProblem::kTile;
  options.schedule.queryTile = EditProblem::kTile;
  options.schedule.keyChunk = EditProblem::kTile;
  return options;
}

bool isOneLine(const std::string &text) {
  return !text.empty() && text.find('\n') == std::string::npos;
}

void expectMessage(const std::string &message, const std::string &part) {
  EXPECT_TRUE(isOneLine(message)) << message;
  EXPECT_NE(message.find(part), std::string::npos)
      << "got: " << message << "\nwithout: " << part;
}

struct Case {
  StageEdit edit;
  Form form;
};

std::string getName(const Case &one) {
  const char *forms[] = {"Cpu", "CpuStored", "Fused", "Stored"};
  std::string stage = one.edit.stage;
  stage[0] = std::toupper(stage[0]);
  return (stage == "Tiled" ? "" : stage) + one.edit.name + forms[int(one.form)];
}

void PrintTo(const Case &one, std::ostream *os) { *os << getName(one); }

const Outcome &getOutcome(const StageEdit &edit, Form form) {
  switch (form) {
  case Form::Cpu:
    return edit.cpu;
  case Form::CpuStored:
    return edit.cpuStored ? *edit.cpuStored : edit.cpu;
  case Form::Fused:
    return edit.fused;
  case Form::Stored:
    return edit.stored;
  }
  llvm_unreachable("every form is listed");
}

class EditedStage : public testing::TestWithParam<Case> {};

TEST_P(EditedStage, MeansWhatItSays) {
  auto [edit, form] = GetParam();
  const Outcome &outcome = getOutcome(edit, form);
  if (!isCpu(form)) {
    RT_NVRTC_OR_SKIP(compiler);
  }
  EditProblem problem(edit.channels, edit.isShort);
  CompileOptions options = getOptions(form);
  std::string text =
      makeEditedText(problem.spec, options, edit.stage, edit.change);
  auto attention = Attention::compileModule(text, problem.spec, options);
  if (outcome.kind == Outcome::Refused)
    return expectMessage(messageOf(std::move(attention)), outcome.text);
  ASSERT_TRUE(bool(attention)) << attention.status().message();
  auto got = problem.run(**attention);
  if (outcome.kind == Outcome::Faults)
    return expectMessage(messageOf(std::move(got)), outcome.text);
  ASSERT_TRUE(bool(got)) << got.status().message();
  EditProblem changed(edit.channels, edit.isShort);
  EXPECT_EQ(compare(*got, edit.meaning(changed)), "");
}

} // namespace

void test::addWhole(std::vector<StageEdit> &edits,
                    std::vector<StageEdit> whole) {
  for (StageEdit &edit : whole) {
    edit.stage = "products";
    edits.push_back(std::move(edit));
  }
}

namespace {

std::vector<StageEdit> getAll() {
  std::vector<StageEdit> all = getSliceEdits();
  for (auto edits : {getValueEdits(), getLoopEdits(), getAttentionEdits(),
                     getKernelEdits(), getPlanEdits()})
    all.insert(all.end(), edits.begin(), edits.end());
  return all;
}

std::string nameParameter(const testing::TestParamInfo<Case> &info) {
  return getName(info.param);
}

/// The plain run has what is refused, which costs little, and of each kind of
/// edit one that is computed. Of tiles in family fused and of plans it has all;
/// in family stored a device has the same passes from buffers on.
bool isLong(const StageEdit &edit, Form form) {
  if (getOutcome(edit, form).kind == Outcome::Refused)
    return false;
  std::string stage = edit.stage;
  if (form == Form::CpuStored || (stage != "tiled" && stage != "plan"))
    return !edit.isTypical;
  return form == Form::Stored && edit.fused.kind != Outcome::Absent;
}

std::vector<Case> getCases(bool areLong) {
  std::vector<Case> cases;
  for (const StageEdit &edit : getAll())
    for (Form form : {Form::Cpu, Form::CpuStored, Form::Fused, Form::Stored})
      if (getOutcome(edit, form).kind != Outcome::Absent &&
          isLong(edit, form) == areLong)
        cases.push_back({edit, form});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Edits, EditedStage,
                         testing::ValuesIn(getCases(/*areLong=*/false)),
                         nameParameter);
INSTANTIATE_TEST_SUITE_P(Long, EditedStage,
                         testing::ValuesIn(getCases(/*areLong=*/true)),
                         nameParameter);

} // namespace
