//===- MemoryPlaces.cpp - where the bytes of a test lie ---------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/simt/MemoryPlaces.h"

using namespace raytention::simt::test;

const uint64_t raytention::simt::test::kParameter[4] = {
    0x8182838485868788, 0x0102030405060708, 0x9192939495969798,
    0x11121314A5A6A7A8};

static const uint8_t *ofThread(const FormRun &run, size_t thread) {
  return &run.memory[32 * thread];
}

static const uint8_t *ofParameter(const FormRun &, size_t) {
  return reinterpret_cast<const uint8_t *>(kParameter);
}

void raytention::simt::test::fillMemory(FormRun &run) {
  run.memory.resize(32 * 64);
  for (size_t i = 0; i < run.memory.size(); ++i)
    run.memory[i] = uint8_t(i * 37 + i / 256 + 0x80);
}

/// Bytes of one thread at a register: filled from %mem, and brought back.
static Place writable(const std::string &space, const std::string &declare,
                      const std::string &base) {
  Place place;
  place.declare = declare;
  place.base = base;
  place.address = base + "+16";
  place.expected = &ofThread;
  for (const char *half : {"", "+16"}) {
    std::string there = "." + space + ".v2.b64 ", at = "[" + base + half + "]";
    std::string here = std::string("[%mem") + half + "]";
    place.fill += "ld.global.v2.b64 {%m1, %m2}, " + here + ";\nst" + there +
                  at + ", {%m1, %m2};\n";
    place.back += "ld" + there + "{%m1, %m2}, " + at + ";\nst.global.v2.b64 " +
                  here + ", {%m1, %m2};\n";
  }
  return place;
}

static std::string constantText() {
  std::string text = ".const .align 16 .b64 table[4] = {";
  for (uint64_t word : kParameter)
    text += std::to_string(word) + (word == kParameter[3] ? "};\n" : ", ");
  return text;
}

Place raytention::simt::test::placeOf(const std::string &space, bool writes) {
  if (space.substr(0, 6) == "shared")
    return writable("shared",
                    ".shared .align 16 .b8 tile[2048];\n.reg .b64 %place;\n"
                    "and.b32 %t1, %t, 63;\nmul.wide.u32 %place, %t1, 32;\n"
                    "mov.b64 %m1, tile;\nadd.s64 %place, %place, %m1;\n",
                    "%place");
  // Parameters that are written are those of calls.
  if (space == "local" || (space == "param" && writes))
    return writable(space, "." + space + " .align 16 .b8 own[32];\n", "own");
  Place place;
  place.expected = &ofThread;
  place.base = "%mem";
  if (space == "const" || space == "param") {
    place.expected = &ofParameter;
    place.base = space == "const" ? "table" : "bytes";
    place.module = space == "const" ? constantText() : "";
  }
  place.address = place.base + "+16";
  return place;
}
