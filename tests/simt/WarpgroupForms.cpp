//===- WarpgroupForms.cpp - every form of wgmma -----------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/simt/FormCase.h"
#include "tests/simt/WarpgroupCase.h"

using namespace raytention::simt;
using namespace raytention::simt::test;

namespace {

/// m64n128k16
bool takeShape(FormCase &form, unsigned &columns, unsigned &depth) {
  for (columns = 8; columns <= 256; columns += 8)
    for (depth = 8; depth <= 16; depth += 8)
      if (form.take("m64n" + std::to_string(columns) + "k" +
                    std::to_string(depth)))
        return true;
  return false;
}

bool takeTypes(FormCase &form, unsigned depth, wgmma::Case &test) {
  test.halfSums = form.takeAny({"f16", "f32"}) == "f16";
  std::string type = form.takeAny({"bf16", "f16", "tf32"});
  test.type = type == "bf16"  ? wgmma::BF16
              : type == "f16" ? wgmma::F16
                              : wgmma::TF32;
  return form.take(type) && depth == test.depth();
}

/// The operands behind the accumulators: A, B, the scale and numbers.
void readOperands(const FormCase &form, wgmma::Case &test) {
  std::vector<Slot> slots;
  for (const Slot &slot : form.slots)
    if (slot.kind != Slot::Dest)
      slots.push_back(slot);
  test.registersOfA = slots[0].type == "b32";
  size_t at = test.registersOfA ? 5 : 2;
  test.negatedScale = slots[at++].negated;
  test.negativeA = slots[at++].least != 1;
  test.negativeB = slots[at++].least != 1;
  if (test.type == wgmma::TF32)
    return;
  if (!test.registersOfA)
    test.a.kMajor = !slots[at++].least;
  test.b.kMajor = !slots[at].least;
}

Check checkProduct(FormCase &form) {
  wgmma::Case test;
  unsigned depth = 0;
  if (!form.take("sync") || !form.take("aligned") ||
      !takeShape(form, test.n, depth) || !takeTypes(form, depth, test))
    return {};
  readOperands(form, test);
  return [=] { wgmma::check(test); };
}

/// A product of which the form is the fence, the end of a group or the wait.
Check checkWarpgroup(FormCase &form) {
  if (form.take("mma_async"))
    return checkProduct(form);
  if (form.takeAny({"fence", "commit_group", "wait_group"}).empty() ||
      !form.take("sync") || !form.take("aligned"))
    return {};
  return [] { wgmma::check({}); };
}

/// Has no effect but for what the lanes have to be.
Check checkSetMaxRegisters(FormCase &form) {
  if (form.takeAny({"inc", "dec"}).empty() || !form.take("sync") ||
      !form.take("aligned") || !form.take("u32"))
    return {};
  return [form] {
    FormRun run;
    run.numbers = {std::to_string(form.slots[0].least)};
    runForm(form, run);
  };
}

} // namespace

void raytention::simt::test::addWarpgroupChecks(CheckTable &table) {
  table["wgmma"] = &checkWarpgroup;
  table["setmaxnreg"] = &checkSetMaxRegisters;
}
