//===- PrintTest.cpp - printf, assert and the numbers of a text -----------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/Print.h"
#include "tests/simt/Support.h"

#include <climits>

using namespace raytention::simt;
using namespace raytention::simt::test;

namespace {
/// Runs k(int *out), out being zeros, in blocks of 64.
Report runCuda(const std::string &body, uint32_t blocks = 1,
               const LaunchOptions &options = {},
               std::vector<int> *values = nullptr) {
  Machine machine(compileCuda("extern \"C\" __global__ void k(int *out) {\n"
                              "  int i = threadIdx.x;\n" +
                              body + "\n}\n"));
  int *out = machine.buffer(std::vector<int>(64), "out");
  Report report =
      machine.run("k", {blocks, 1, 1}, {64, 1, 1}, 0, pack(out), options);
  if (values)
    values->assign(out, out + 64);
  return report;
}

/// The text with these arguments, each of 4 or 8 bytes.
std::string formatted(const std::string &format, std::vector<uint64_t> given) {
  size_t index = 0;
  return formatText(
      format,
      [&](unsigned) { return index < given.size() ? given[index++] : 0; },
      [](uint64_t address) {
        return std::string(reinterpret_cast<const char *>(address));
      });
}

uint64_t bitsOfDouble(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}
} // namespace

//===----------------------------------------------------------------------===//
// Formats
//===----------------------------------------------------------------------===//

TEST(FormatTest, AsTheLibraryDoes) {
  auto check = [](const std::string &format, uint64_t bits, auto value) {
    char expected[256];
    snprintf(expected, sizeof(expected), format.c_str(), value);
    EXPECT_EQ(formatted(format, {bits}), expected) << format;
  };
  for (int value : {0, 1, -1, 42, INT32_MIN, INT32_MAX})
    for (const char *format :
         {"%d", "%i", "%5d|", "%-5d|", "%05d", "%+d", "% d", "%.3d", "%8.3d",
          "%u", "%x", "%X", "%#x", "%o", "%hd", "%hhd", "%hu", "%hhx"})
      check(format, uint32_t(value), value);
  for (long long value : {0ll, -1ll, 1234567890123ll, LLONG_MIN})
    for (const char *format :
         {"%lld", "%ld", "%20lld|", "%llu", "%llx", "%#llo", "%zu", "%td"})
      check(format, value, value);
  for (double value : {0.0, -0.5, 1e10, 1.0 / 3, 1e300 * 1e10})
    for (const char *format : {"%f", "%.2f", "%10.3f|", "%-12e|", "%G", "%g",
                               "%a", "%+.0f", "%#.0f", "%012.4f"})
      check(format, bitsOfDouble(value), value);
  const char *text = "some text";
  for (const char *format : {"%s", "%12s|", "%-12s|", "%.4s", "%12.4s|"})
    check(format, reinterpret_cast<uint64_t>(text), text);
  for (const char *format : {"%c", "%3c|", "%-3c|"})
    check(format, 'x', 'x');
  check("%p", 0x1234, reinterpret_cast<void *>(0x1234));
}

TEST(FormatTest, WhatIsNoNumber) {
  EXPECT_EQ(formatted("100%% of %d", {7}), "100% of 7");
  EXPECT_EQ(formatted("%*d|%-*d|%.*f", {4, 7, 4, 7, 1, bitsOfDouble(0.25)}),
            "   7|7   |0.2");
  EXPECT_EQ(formatted("%*d|", {uint32_t(-4), 7}), "7   |");
  EXPECT_EQ(formatted("%s", {0}), "(null)");
  // What C has not, and what a GPU has not, stay.
  EXPECT_EQ(formatted("%y %d", {3}), "%y 3");
  EXPECT_EQ(formatted("%n%d", {3}), "%n3");
  EXPECT_EQ(formatted("%ls", {}), "%ls");
  EXPECT_EQ(formatted("end %", {}), "end %");
  EXPECT_EQ(formatted("end %-5", {}), "end %-5");
  // A field that nobody can want is cut.
  EXPECT_EQ(formatted("%99999999999d", {1}).size(), 65536u);
}

TEST(PrintBufferTest, KeepsTheFirst) {
  PrintBuffer buffer(10), other(10);
  buffer.add(2, "cc");
  buffer.add(2, "dd");
  other.add(1, "aaaa");
  other.add(1, "bbb");
  other.add(3, "too long by far");
  other.add(3, "e");
  buffer.append(other);
  std::string text;
  EXPECT_EQ(buffer.collect(text), 3u);
  EXPECT_EQ(text, "aaaabbbcc");
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

TEST(PrintTest, LanesInOrder) {
  RT_NEED_NVRTC();
  std::vector<int> values;
  Report report = runCuda(R"(
  if (i % 32 == 3)
    out[i] = printf("thread %d of %u: %s %c %.2f %lld %%\n", i, blockDim.x,
                    i < 32 ? "low" : "high", 'x', i * 0.5f, -12345678901LL);
)",
                          1, {}, &values);
  EXPECT_TRUE(report.clean()) << describe(report);
  EXPECT_EQ(report.printed, "thread 3 of 64: low x 1.50 -12345678901 %\n"
                            "thread 35 of 64: high x 17.50 -12345678901 %\n");
  EXPECT_EQ(report.messagesLeftOut, 0u);
  EXPECT_EQ(values[3], 6);
}

TEST(PrintTest, TextsInEveryMemory) {
  RT_NEED_NVRTC();
  Report report = runCuda(R"(
  __shared__ char s[4];
  char l[4];
  if (i != 0)
    return;
  for (int j = 0; j < 3; ++j) {
    s[j] = 'a' + j;
    l[j] = 'x' + j;
  }
  s[3] = l[3] = 0;
  ((volatile int *)out)[0] = 0x00636261;
  printf("%s %s %s %p\n", s, l, (const char *)out, (void *)0);
  printf("no arguments\n");
)");
  EXPECT_TRUE(report.clean()) << describe(report);
  EXPECT_EQ(report.printed, "abc xyz abc (nil)\nno arguments\n");
}

TEST(PrintTest, TextOfNobody) {
  RT_NEED_NVRTC();
  Report report = runCuda("if (i == 5) printf(\"[%s]\\n\", (char *)4096);");
  ASSERT_EQ(report.findings.size(), 1u) << describe(report);
  EXPECT_EQ(report.findings[0].kind, FindingKind::OutOfBounds);
  EXPECT_EQ(report.findings[0].lane, 5u);
  EXPECT_EQ(report.printed, "[]\n");
}

TEST(PrintTest, BlocksInOrderAndNoMoreThanFits) {
  RT_NEED_NVRTC();
  LaunchOptions options;
  std::string expected;
  for (int block = 0; block < 200; ++block)
    expected += "block " + std::to_string(100 + block) + "\n";
  const char *body = "if (i == 0) printf(\"block %d\\n\", 100 + blockIdx.x);";
  options.threads = 4;
  EXPECT_EQ(runCuda(body, 200, options).printed, expected);
  options.maxPrintedBytes = 55;
  Report report = runCuda(body, 200, options);
  EXPECT_EQ(report.printed, expected.substr(0, 50));
  EXPECT_EQ(report.messagesLeftOut, 195u);
}

TEST(AssertTest, SaysWhatDoesNotHold) {
  RT_NEED_NVRTC();
  std::vector<int> values;
  Report report = runCuda(R"(
  printf("%s", i == 0 ? "start\n" : "");
  assert(i < 40 && "a reason");
  out[i] = 1;
)",
                          1, {}, &values);
  ASSERT_EQ(report.findings.size(), 1u) << describe(report);
  const Finding &finding = report.findings[0];
  EXPECT_EQ(finding.kind, FindingKind::AssertionFailed);
  EXPECT_EQ(finding.message,
            "expected 'i < 40 && \"a reason\"' in void k(int *) at k.cu:5, got "
            "that it does not hold");
  EXPECT_NE(finding.text().find("k.cu:5: assertion-failed: "),
            std::string::npos);
  EXPECT_EQ(finding.line, 5u);
  EXPECT_EQ(finding.warp, 1u);
  EXPECT_EQ(finding.lane, 8u);
  EXPECT_EQ(finding.count, 24u);
  EXPECT_EQ(report.printed, "start\n");
  // The first warp had gone on.
  EXPECT_EQ(values[0], 1);
  EXPECT_EQ(values[40], 0);
}

TEST(AssertTest, HoldsAndCountsWithoutChecks) {
  RT_NEED_NVRTC();
  std::vector<int> values;
  EXPECT_TRUE(runCuda("assert(i < 64); out[i] = i;", 1, {}, &values).clean());
  EXPECT_EQ(values[63], 63);
  LaunchOptions options;
  options.checks = false;
  Report report = runCuda("assert(i != 3);", 1, options);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].kind, FindingKind::AssertionFailed);
}

/// A function with the name of one that is known, and others.
TEST(SystemCallTest, OtherShapesAreRefused) {
  auto errorOf = [](const std::string &declaration, const std::string &call) {
    auto module =
        parse(".version 8.0\n.target sm_80\n.address_size 64\n" + declaration +
              "\n.visible .entry k() {\n.param .b64 a;\n"
              ".param .b64 b;\n.param .b32 r;\n.reg .b32 %r<2>;\n" +
              call + "\nret;\n}\n");
    return module ? "" : llvm::toString(module.takeError());
  };
  const std::string known =
      ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 g);";
  EXPECT_EQ(errorOf(known, "call.uni (r), vprintf, (a, b);"), "");
  EXPECT_EQ(errorOf(known, "call.uni (r), vprintf, (a);"),
            "ptx line 10: expected 2 arguments and 1 results of 'vprintf'");
  EXPECT_EQ(errorOf(known, "call.uni (r), vprintf, (a, %r1);"),
            "ptx line 10: expected a .param variable of 8 bytes, got '%r1'");
  for (const char *other :
       {".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b32 g);",
        ".extern .func (.param .b64 r) vprintf(.param .b64 f, .param .b64 g);"})
    EXPECT_EQ(errorOf(other, "call.uni (r), vprintf, (a, b);"),
              "ptx line 10: expected a function with a body, or vprintf or "
              "__assertfail, got 'vprintf'");
  EXPECT_EQ(errorOf(".extern .func (.param .b64 r) malloc(.param .b64 n);",
                    "call.uni (b), malloc, (a);"),
            "ptx line 10: expected a function with a body, or vprintf or "
            "__assertfail, got 'malloc'");
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

namespace {
/// What one thread stores of an operand of 64 bits.
uint64_t valueOf(const std::string &operand) {
  Machine machine(".version 8.0\n.target sm_80\n.address_size 64\n"
                  ".visible .entry k(.param .u64 p) {\n.reg .b64 %rd<3>;\n"
                  "ld.param.u64 %rd1, [p];\nmov.b64 %rd2, " +
                  operand + ";\nst.global.u64 [%rd1], %rd2;\nret;\n}\n");
  uint64_t *out = machine.buffer(std::vector<uint64_t>(1), "out");
  EXPECT_TRUE(machine.run("k", {}, {}, 0, pack(out)).clean());
  return *out;
}
} // namespace

TEST(ConstantTest, Expressions) {
  auto check = [](const std::string &text, int64_t value) {
    EXPECT_EQ(int64_t(valueOf(text)), value) << text;
  };
  check("WARP_SZ", 32);
  check("-WARP_SZ", -32);
  check("WARP_SZ*2+1", 65);
  check("1 + 2 * 3 - 4 / 2", 5);
  check("(1 + 2) * 3 % 4", 1);
  check("1 << WARP_SZ - 1", 1ll << 31);
  check("1<<3|2", 10);
  check("5 ^ 1 & 3", 4);
  check("~1", -2);
  check("!0 + !7", 1);
  check("3 > 2 && 1 <= 0 || 2 != 2", 0);
  check("-7 / 2", -3);
  check("-7 % 2", -1);
  check("-7 >> 1", -4);
  check("(.u64)-7 >> 60", 15);
  check("-1 < 1U", 0);
  check("-1 < 1", 1);
  check("0xFFFFFFFFFFFFFFFF / 2", INT64_MAX);
  check("-9223372036854775807 - 1 == 0x8000000000000000", 1);
  check("(-9223372036854775807 - 1) / -1", INT64_MIN);
  check("1 ? 2 : 3", 2);
  check("0 ? 2 : 1 ? 4 : 5", 4);
  check("1 << 64", 0);
  check("+5", 5);
}

TEST(ConstantTest, WhereverNumbersStand) {
  Machine machine(
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".global .align 8 .u32 g[4] = {WARP_SZ, 2*3, -1, ~1};\n"
      ".visible .entry k(.param .u64 p) {\n.reg .b32 %r<WARP_SZ>;\n"
      ".reg .b64 %rd<3>;\n.shared .align WARP_SZ .b32 s[WARP_SZ];\n"
      "ld.param.u64 %rd1, [p];\nmov.u32 %r31, 7;\n"
      "st.shared.u32 [s+(WARP_SZ-1)*4], %r31;\nbar.sync 0, WARP_SZ;\n"
      "ld.shared.u32 %r1, [s+124];\nst.global.u32 [%rd1+WARP_SZ/8], %r1;\n"
      "ld.global.u32 %r1, [g+2*2];\nst.global.u32 [%rd1], %r1;\n"
      "ld.global.u32 %r1, [g];\nst.global.u32 [%rd1+4+4], %r1;\n"
      "mov.u64 %rd2, g+4*3;\nld.global.u32 %r1, [%rd2+-4];\n"
      "st.global.u32 [%rd1+12], %r1;\nret;\n}\n");
  int *out = machine.buffer(std::vector<int>(4), "out");
  Report report = machine.run("k", {}, {1, 1, 1}, 0, pack(out));
  EXPECT_EQ(std::vector<int>(out, out + 4), (std::vector<int>{6, 7, 32, -1}))
      << describe(report);
}

TEST(ConstantTest, WhatIsNone) {
  auto errorOf = [](const std::string &operand) {
    auto module = parse(".version 8.0\n.target sm_80\n.address_size 64\n"
                        ".visible .entry k() {\n.reg .b32 %r<2>;\n"
                        "mov.u32 %r1, " +
                        operand + ";\nret;\n}\n");
    return module ? "" : llvm::toString(module.takeError());
  };
  EXPECT_EQ(errorOf("1 / (WARP_SZ - 32)"),
            "ptx line 6: expected a divisor other than 0, got ';'");
  EXPECT_EQ(errorOf("1 +"), "ptx line 6: expected a number, got ';'");
  EXPECT_EQ(errorOf("(1"), "ptx line 6: expected ')', got ';'");
  EXPECT_EQ(errorOf("1 ? 2"), "ptx line 6: expected ':', got ';'");
  EXPECT_EQ(errorOf("1 + %r1"), "ptx line 6: expected a number, got '%r1'");
  EXPECT_NE(errorOf(std::string(1000, '-') + "1").find("fewer nested"),
            std::string::npos);
  EXPECT_NE(errorOf(std::string(1000, '(') + "1").find("fewer nested"),
            std::string::npos);
}

TEST(ConstantTest, TheSizeOfAWarp) {
  RT_NEED_NVRTC();
  std::vector<int> values;
  EXPECT_TRUE(runCuda("out[i] = i % warpSize;", 1, {}, &values).clean());
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(values[i], i % 32);
}
