//===- MemoryForms.cpp - loads, stores and address spaces -------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/simt/FormCase.h"
#include "tests/simt/MemoryPlaces.h"
#include "tests/simt/ModelMath.h"

using namespace raytention::simt;
using namespace raytention::simt::test;

namespace {

/// Takes all but the type: order, space and hints. Gives the space.
std::string takeAccess(FormCase &form) {
  std::string order = form.takeAny(
      {"weak", "volatile", "relaxed", "acquire", "release", "mmio"});
  if (order == "mmio")
    form.take("relaxed");
  form.takeAny({"cta", "cluster", "gpu", "sys"});
  std::string space =
      form.takeAny({"global", "shared", "shared::cta", "shared::cluster",
                    "local", "const", "param"});
  form.takeAny({"ca", "cg", "cs", "lu", "cv", "wb", "wt"});
  form.take("nc");
  form.takeAny({"L1::evict_normal", "L1::no_allocate", "L1::evict_last",
                "L1::evict_first", "L1::evict_unchanged"});
  form.takeAny({"L2::64B", "L2::128B", "L2::256B"});
  form.takeAny({"v2", "v4"});
  return space;
}

/// Bits of a narrow type fill a wider register, by its sign.
uint64_t extended(uint64_t bits, const std::string &type) {
  unsigned width = bitsOfType(type);
  if (width < 64)
    bits &= (uint64_t(1) << width) - 1;
  return type[0] == 's' && bits >> (width - 1) & 1
             ? bits | ~uint64_t(0) << (width - 1)
             : bits;
}

void runLoad(const FormCase &form, const std::string &space,
             const std::string &type) {
  FormRun run;
  size_t elements = form.count(Slot::Dest), bytes = bitsOfType(type) / 8;
  Place place = placeOf(space);
  fillMemory(run);
  run.module = place.module;
  run.before = place.declare + place.fill;
  run.addresses = {place.address};
  Columns out = runForm(form, run);
  for (size_t i = 0; i < 64; ++i)
    for (size_t e = 0; e < elements; ++e) {
      uint64_t bits = 0;
      std::memcpy(&bits, place.expected(run, i) + 16 + e * bytes, bytes);
      EXPECT_EQ(out[e][i], truncated(extended(bits, type), form.slots[0].type))
          << "thread " << i << ", element " << e;
    }
}

Check checkLoad(FormCase &form) {
  std::string space = takeAccess(form), type = form.takeType();
  if (type.empty())
    return {};
  return [=] { runLoad(form, space, type); };
}

void runStore(const FormCase &form, const std::string &space,
              const std::string &type) {
  FormRun run;
  size_t elements = form.count(Slot::Source), bytes = bitsOfType(type) / 8;
  Place place = placeOf(space, true);
  fillMemory(run);
  std::vector<uint8_t> wanted = run.memory;
  run.inputs.resize(elements);
  for (size_t i = 0; i < 64; ++i)
    for (size_t e = 0; e < elements; ++e) {
      run.inputs[e].push_back(0xF1F2F3F4F5F6F700 + 8 * i + e);
      std::memcpy(&wanted[32 * i + 16 + e * bytes], &run.inputs[e][i], bytes);
    }
  run.before = place.declare + place.fill;
  run.after = place.back;
  run.addresses = {place.address};
  runForm(form, run);
  EXPECT_EQ(run.memory, wanted);
}

Check checkStore(FormCase &form) {
  std::string space = takeAccess(form), type = form.takeType();
  if (type.empty())
    return {};
  return [=] { runStore(form, space, type); };
}

Check checkPrefetch(FormCase &form) {
  std::string space = form.takeAny({"global", "local"});
  form.takeAny({"param", "const"});
  if (form.takeAny(
              {"L1", "L2", "L2::evict_last", "L2::evict_normal", "tensormap"})
          .empty())
    return {};
  return [=] {
    FormRun run;
    run.before = placeOf(space).declare;
    run.addresses = {placeOf(space).address};
    runForm(form, run);
    EXPECT_EQ(run.memory, std::vector<uint8_t>(32 * 64));
  };
}

/// The policy is written to.
Check checkPolicy(FormCase &form) {
  form.take("fractional");
  form.takeAny({"L2::evict_last", "L2::evict_normal", "L2::evict_first",
                "L2::evict_unchanged"});
  if (!form.take("b64"))
    return {};
  return [=] {
    FormRun run;
    run.inputs.assign(form.count(Slot::Source),
                      std::vector<uint64_t>(64, 0x3F000000));
    EXPECT_EQ(runForm(form, run)[0], std::vector<uint64_t>(64));
  };
}

Check checkGridControl(FormCase &form) {
  if (form.takeAny({"launch_dependents", "wait"}).empty())
    return {};
  return [=] {
    FormRun run;
    runForm(form, run);
  };
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

/// What lies at the address before is read at the one it becomes.
void runConvert(const FormCase &form, bool toSpace, const std::string &space) {
  FormRun run;
  Place place = placeOf(space);
  fillMemory(run);
  run.module = place.module;
  std::string plain = "cvta." + space + ".u64 %x1, %x1;\n";
  run.before = place.declare + place.fill + "mov.b64 %x1, " + place.base +
               ";\n" + (toSpace ? plain : "");
  run.after = "ld" + (toSpace ? "." + space : "") +
              ".b64 %m1, [%x0+16];\nst.global.b64 [%mem], %m1;\n";
  run.inputs = {std::vector<uint64_t>(64)};
  std::vector<uint8_t> before = run.memory;
  runForm(form, run);
  for (size_t i = 0; i < 64; ++i) {
    uint64_t got, wanted;
    std::memcpy(&got, &run.memory[32 * i], 8);
    std::memcpy(&wanted, place.expected(run, i) + 16, 8);
    EXPECT_EQ(got, wanted) << i;
  }
}

Check checkConvertAddress(FormCase &form) {
  bool toSpace = form.take("to");
  std::string space =
      form.takeAny({"global", "shared", "shared::cta", "shared::cluster",
                    "local", "const", "param"});
  if (!form.take("u64"))
    return {};
  return [=] { runConvert(form, toSpace, space); };
}

/// Asked of an address in each of the spaces.
Check checkIsSpace(FormCase &form) {
  std::string asked =
      form.takeAny({"global", "shared", "shared::cta", "shared::cluster",
                    "local", "const", "param"});
  if (asked.empty())
    return {};
  return [=] {
    for (const char *space : {"global", "shared", "local", "const", "param"}) {
      FormRun run;
      Place place = placeOf(space);
      run.module = place.module;
      run.before = place.declare + "mov.b64 %x1, " + place.base + ";\ncvta." +
                   space + ".u64 %x1, %x1;\n";
      run.inputs = {std::vector<uint64_t>(64)};
      Columns out = runForm(form, run);
      EXPECT_EQ(out[0][40],
                asked.substr(0, 6) == std::string(space).substr(0, 6))
          << space;
    }
  };
}

} // namespace

void raytention::simt::test::addMemoryChecks(CheckTable &table) {
  table["ld"] = table["ldu"] = &checkLoad;
  table["st"] = &checkStore;
  table["prefetch"] = &checkPrefetch;
  table["createpolicy"] = &checkPolicy;
  table["griddepcontrol"] = &checkGridControl;
  table["cvta"] = &checkConvertAddress;
  table["isspacep"] = &checkIsSpace;
}
