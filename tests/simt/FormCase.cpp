//===- FormCase.cpp - one form, taken apart and run -------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/simt/FormCase.h"
#include "tests/simt/MemoryPlaces.h"

#include "llvm/ADT/StringExtras.h"

using namespace raytention::simt;
using namespace raytention::simt::test;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// Calls f with each word of the operands and with what stands between.
template <class F, class G>
static void overWords(StringRef operands, F word, G between) {
  while (!operands.empty()) {
    size_t at =
        operands.find_first_of("=!#%abcdefghijklmnopqrstuvwxyz0123456789");
    between(operands.take_front(at));
    operands = operands.drop_front(std::min(at, operands.size()));
    size_t end = operands.find_first_of(" ,{}[]|");
    if (!operands.empty())
      word(operands.take_front(end));
    operands = operands.drop_front(std::min(end, operands.size()));
  }
}

static Slot slotOf(StringRef word, bool isAddress) {
  Slot slot;
  if (isAddress) {
    slot.kind = Slot::Address;
  } else if (word.consume_front("#")) {
    slot.kind = Slot::Number;
    auto [least, most] = word.split("..");
    least.getAsInteger(10, slot.least);
    slot.most = slot.least;
    most.getAsInteger(10, slot.most);
  } else if (!word.starts_with("%") && word != "label" && word != "targets") {
    slot.kind = word.consume_front("=") ? Slot::Dest : Slot::Source;
    slot.negated = word.consume_front("!");
  }
  slot.type = word.str();
  return slot;
}

FormCase::FormCase(const FormInfo &info) : info(info) {
  llvm::SmallVector<StringRef, 8> all;
  StringRef(info.mnemonic).split(all, '.');
  for (StringRef part : all)
    parts.push_back(part.str());
  bool address = false;
  overWords(
      info.operands,
      [&](StringRef word) {
        Slot slot = slotOf(word, address);
        bool bits = slot.type[0] == 'b' && slot.type[1] != 'f';
        if (bits && isFloatType(last()) &&
            bitsOfType(last()) == bitsOfType(slot.type))
          slot.type = last();
        slots.push_back(slot);
      },
      [&](StringRef text) { address = text.ends_with("["); });
}

bool FormCase::take(const std::string &part) {
  return !takeAny({part}).empty();
}

std::string FormCase::takeAny(const std::vector<std::string> &choices) {
  for (const std::string &choice : choices)
    if (next < parts.size() && parts[next] == choice)
      return parts[next++];
  return "";
}

std::string FormCase::takeType() {
  return takeAny({"pred",   "b8",    "b16",   "b32", "b64", "u8",
                  "u16",    "u32",   "u64",   "s8",  "s16", "s32",
                  "s64",    "f16",   "bf16",  "f32", "f64", "f16x2",
                  "bf16x2", "u16x2", "s16x2", "tf32"});
}

size_t FormCase::count(Slot::Kind kind) const {
  size_t all = 0;
  for (const Slot &slot : slots)
    all += slot.kind == kind;
  return all;
}

const Slot &FormCase::source(size_t index) const {
  for (const Slot &slot : slots)
    if (slot.kind == Slot::Source && index-- == 0)
      return slot;
  return slots.front();
}

unsigned raytention::simt::test::bitsOfType(const std::string &type) {
  return type == "pred" ? 1 : bitsOf(parseType(type));
}

bool raytention::simt::test::isFloatType(const std::string &type) {
  return isFloat(parseType(type));
}

uint64_t raytention::simt::test::truncated(uint64_t bits,
                                           const std::string &type) {
  unsigned width = std::max(16u, bitsOfType(type));
  return type == "pred" ? bits & 1
         : width == 64  ? bits
                        : bits & ((uint64_t(1) << width) - 1);
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

static std::string registerBits(const Slot &slot) {
  return std::to_string(std::max(16u, bitsOfType(slot.type)));
}

static bool isRegister(const Slot &slot) {
  return slot.kind == Slot::Dest || slot.kind == Slot::Source;
}

static std::string nameOfSlot(size_t index) {
  return "%x" + std::to_string(index);
}

/// Sources come from columns of eight bytes per thread.
static std::string loadSource(const Slot &slot, size_t index, size_t offset) {
  std::string from = ", [%base+" + std::to_string(offset) + "];\n";
  if (slot.type == "pred")
    return "ld.global.u32 %t1" + from + "setp.ne.u32 " + nameOfSlot(index) +
           ", %t1, 0;\n";
  return "ld.global.b" + registerBits(slot) + " " + nameOfSlot(index) + from;
}

static std::string storeDest(const Slot &slot, size_t index, size_t offset) {
  std::string to = "[%base+" + std::to_string(offset) + "], ";
  if (slot.type == "pred")
    return "selp.u32 %t1, 1, 0, " + nameOfSlot(index) + ";\nst.global.u32 " +
           to + "%t1;\n";
  return "st.global.b" + registerBits(slot) + " " + to + nameOfSlot(index) +
         ";\n";
}

static std::string statementOf(const FormCase &form, const FormRun &run) {
  std::string text = form.info.mnemonic + " ";
  size_t index = 0, addresses = 0, numbers = 0;
  overWords(
      form.info.operands,
      [&](StringRef word) {
        const Slot &slot = form.slots[index++];
        if (isRegister(slot))
          text += (slot.negated ? "!" : "") + nameOfSlot(index - 1);
        else if (slot.kind == Slot::Address)
          text += run.addresses[addresses++];
        else if (slot.kind == Slot::Number)
          text += numbers < run.numbers.size() ? run.numbers[numbers++]
                                               : std::to_string(slot.least);
        else
          text += word.str();
      },
      [&](StringRef between) { text += between.str(); });
  return text + ";\n";
}

static std::string makeKernel(const FormCase &form, const FormRun &run,
                              size_t threads) {
  std::string text = ".version 8.0\n.target sm_90\n.address_size 64\n" +
                     run.module +
                     ".visible .entry k(.param .u64 in, .param .u64 out, "
                     ".param .u64 memory, .param .align 16 .b8 bytes[32]) "
                     "{\n.reg .pred %q<4>;\n"
                     ".reg .b16 %h<4>;\n.reg .b32 %t, %t1, %t2, %t3, %t4;\n"
                     ".reg .b64 %at, %base, %mem, %m1, %m2;\n";
  std::string loads, stores;
  size_t sources = 0, dests = 0;
  for (size_t i = 0; i < form.slots.size(); ++i) {
    const Slot &slot = form.slots[i];
    if (!isRegister(slot))
      continue;
    text += ".reg ." +
            (slot.type == "pred" ? slot.type : "b" + registerBits(slot)) + " " +
            nameOfSlot(i) + ";\n";
    if (slot.kind == Slot::Source)
      loads += loadSource(slot, i, 8 * threads * sources++);
    else
      stores += storeDest(slot, i, 8 * threads * dests++);
  }
  text += "mov.u32 %t1, %ctaid.x;\nmov.u32 %t2, %tid.x;\n"
          "mad.lo.u32 %t, %t1, 64, %t2;\nmul.wide.u32 %at, %t, 8;\n"
          "ld.param.u64 %mem, [memory];\nmul.wide.u32 %base, %t, 32;\n"
          "add.s64 %mem, %mem, %base;\nld.param.u64 %base, [in];\n"
          "add.s64 %base, %base, %at;\n";
  return text + loads + run.before + statementOf(form, run) + run.after +
         "ld.param.u64 %base, [out];\nadd.s64 %base, %base, %at;\n" + stores +
         "ret;\n}\n";
}

static void expectFinding(const Report &report, const std::string &name) {
  if (name.empty()) {
    EXPECT_TRUE(report.clean()) << describe(report);
    return;
  }
  EXPECT_NE(describe(report).find(name), std::string::npos) << describe(report);
}

/// The last parameter is aligned to 16 bytes.
static std::vector<uint8_t> argumentsOf(uint64_t *in, uint64_t *out,
                                        uint8_t *memory) {
  std::vector<uint8_t> all = pack(in, out, memory);
  all.resize(32);
  const uint8_t *bytes = reinterpret_cast<const uint8_t *>(kParameter);
  all.insert(all.end(), bytes, bytes + sizeof(kParameter));
  return all;
}

Columns raytention::simt::test::runForm(const FormCase &form, FormRun &run) {
  size_t count = run.inputs.empty() ? run.threads : run.inputs[0].size();
  size_t threads = (count + 63) / 64 * 64;
  std::vector<uint64_t> in;
  for (const std::vector<uint64_t> &column : run.inputs) {
    in.insert(in.end(), column.begin(), column.end());
    in.resize((in.size() + 63) / 64 * 64);
  }
  in.resize(std::max<size_t>(in.size(), 8));
  run.memory.resize(32 * threads);
  size_t dests = form.count(Slot::Dest);
  Columns result(dests, std::vector<uint64_t>(count));
  Machine machine(makeKernel(form, run, threads));
  if (!machine.isLoaded())
    return result;
  uint64_t *pin = machine.buffer(in, "in");
  uint64_t *out =
      machine.buffer(std::vector<uint64_t>(threads * dests + 8), "out");
  uint8_t *memory = machine.buffer(run.memory, "memory");
  LaunchOptions options;
  options.threads = 1;
  Report report = machine.run("k", {uint32_t(threads / 64), 1, 1}, {64, 1, 1},
                              0, argumentsOf(pin, out, memory), options);
  expectFinding(report, run.finding);
  for (size_t d = 0; d < dests; ++d)
    std::copy_n(out + d * threads, count, result[d].begin());
  std::copy_n(memory, run.memory.size(), run.memory.begin());
  return result;
}
