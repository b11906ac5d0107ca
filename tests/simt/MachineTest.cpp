//===- MachineTest.cpp - memory, atomics, lanes, calls and errors --*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/simt/Support.h"

using namespace raytention::simt;
using namespace raytention::simt::test;

namespace {

std::string wrap(const std::string &body, const std::string &before = "") {
  return ".version 8.0\n.target sm_80\n.address_size 64\n" + before +
         ".visible .entry k(.param .u64 p) {\n"
         ".reg .pred %p<8>;\n.reg .b16 %rs<8>;\n.reg .b32 %r<32>;\n"
         ".reg .f32 %f<8>;\n.reg .f64 %fd<4>;\n.reg .b64 %rd<16>;\n"
         "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n"
         "mul.wide.u32 %rd2, %r1, 8;\nadd.s64 %rd3, %rd1, %rd2;\n" +
         body + "ret;\n}\n";
}

/// Runs the body in 32 lanes; each has eight bytes at %rd3 and its number in
/// %r1, and all share what %rd1 points at.
std::vector<uint64_t> runLanes(const std::string &body,
                               std::vector<uint64_t> values = {},
                               const std::string &before = "") {
  values.resize(64);
  Machine machine(wrap(body, before));
  uint64_t *buffer = machine.buffer(values, "values");
  Report report = machine.run("k", {}, {32, 1, 1}, 0, pack(buffer));
  EXPECT_TRUE(report.clean()) << describe(report);
  return std::vector<uint64_t>(buffer, buffer + 64);
}

std::string errorOf(const std::string &text) {
  auto module = parse(text);
  return module ? "" : llvm::toString(module.takeError());
}

} // namespace

//===----------------------------------------------------------------------===//
// Operands and parts of mnemonics
//===----------------------------------------------------------------------===//

TEST(OperandTest, NumbersAndWhatIsNotUsed) {
  auto check = [](const std::string &body, uint64_t wanted) {
    SCOPED_TRACE(body);
    EXPECT_EQ(runLanes(body)[5], wanted);
  };
  check("mov.pred %p1, -1;\nselp.u64 %rd4, 3, 4, %p1;\n"
        "st.global.u64 [%rd3], %rd4;\n",
        3);
  check("st.global.v2.u32 [%rd3], {3, 4};\n", 0x0000000400000003);
  check("st.global.v4.u16 [%rd3], {1, 2, 3, 4};\n", 0x0004000300020001);
  check("mov.f32 %f1, 0f40000000;\nadd.f32 %f1, %f1, 1.5;\n"
        "st.global.f32 [%rd3], %f1;\n",
        0x40600000);
  check("mov.b64 {%r2, _}, 0x500000006;\nst.global.u32 [%rd3], %r2;\n", 6);
  check("shfl.sync.bfly.b32 _|%p1, %r1, 1, 31, -1;\nselp.u32 %r2, 1, 0, %p1;\n"
        "st.global.u32 [%rd3], %r2;\n",
        1);
}

TEST(OperandTest, AddressesOfEveryKind) {
  auto check = [](const std::string &address) {
    SCOPED_TRACE(address);
    std::vector<uint64_t> got = runLanes(
        ".shared .align 8 .b64 s[32];\nmov.u32 %r4, s;\nmov.u64 %rd4, s;\n"
        "setp.eq.u32 %p1, %r1, 0;\n@%p1 st.shared.u64 [s+24], 77;\n"
        "bar.sync 0;\nld.shared.u64 %rd5, " +
        address + ";\nst.global.u64 [%rd3], %rd5;\n");
    EXPECT_EQ(got[9], 77u);
  };
  for (const char *address : {"[s+24]", "[%r4+24]", "[%rd4+24]", "[24]"})
    check(address);
}

TEST(OperandTest, PartsStandInAnyOrder) {
  EXPECT_EQ(runLanes("atom.add.relaxed.gpu.global.u32 %r2, [%rd1], 1;\n"
                     "red.global.gpu.relaxed.add.u32 [%rd1], 1;\n")[0],
            64u);
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

TEST(MemoryTest, GenericAddressesReachEverySpace) {
  std::string body = ".shared .align 8 .b8 s[256];\n"
                     ".local .align 8 .b8 l[16];\n"
                     "mov.u64 %rd4, s;\ncvta.shared.u64 %rd5, %rd4;\n"
                     "add.s64 %rd5, %rd5, %rd2;\nst.u64 [%rd5], 7;\n"
                     "ld.u64 %rd6, [%rd5];\n"
                     "mov.u64 %rd4, l;\ncvta.local.u64 %rd7, %rd4;\n"
                     "st.u64 [%rd7+8], 5;\nld.local.u64 %rd8, [l+8];\n"
                     "isspacep.shared %p1, %rd5;\nselp.u64 %rd9, 100, 0, %p1;\n"
                     "cvta.to.shared.u64 %rd10, %rd5;\n"
                     "cvt.u32.u64 %r2, %rd10;\nld.shared.u64 %rd11, [%r2];\n"
                     "add.s64 %rd6, %rd6, %rd8;\nadd.s64 %rd6, %rd6, %rd9;\n"
                     "add.s64 %rd6, %rd6, %rd11;\nst.u64 [%rd3], %rd6;\n";
  EXPECT_EQ(runLanes(body)[9], 7u + 5 + 100 + 7);
}

TEST(MemoryTest, VariablesOfAModule) {
  std::string before = ".const .align 4 .u32 table[4] = {10, 20, 30, 40};\n"
                       ".global .align 4 .u32 counter = 5;\n";
  Machine machine(wrap("ld.const.u32 %r2, [table+8];\n"
                       "atom.global.add.u32 %r3, [counter], %r2;\n",
                       before));
  ASSERT_TRUE(machine.isLoaded());
  uint64_t *p = machine.buffer(std::vector<uint64_t>(64), "p");
  EXPECT_TRUE(machine.run("k", {}, {32, 1, 1}, 0, pack(p)).clean());
  auto symbol = machine.text().findSymbol("counter");
  ASSERT_TRUE(bool(symbol));
  EXPECT_EQ(*static_cast<uint32_t *>(symbol->address), 5u + 32 * 30);
  EXPECT_EQ(llvm::toString(machine.text().findSymbol("no").takeError()),
            "expected one of the variables table, counter, got 'no'");
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

TEST(AtomicTest, LanesTakeTurns) {
  auto check = [](const std::string &atomic, uint64_t start, uint64_t wanted) {
    SCOPED_TRACE(atomic);
    EXPECT_EQ(runLanes(atomic, {start})[0], wanted);
  };
  check("atom.global.add.u32 %r2, [%rd1], %r1;\n", 1, 497);
  check("red.global.max.u32 [%rd1], %r1;\n", 3, 31);
  check("atom.global.cas.b32 %r2, [%rd1], 5, 6;\n", 5, 6);
  check("atom.global.inc.u32 %r2, [%rd1], 9;\n", 0, 2);
  check("atom.global.add.f32 %f1, [%rd1], 0f3F800000;\n", 0, 0x42000000);
}

TEST(AtomicTest, GivesTheOldValue) {
  std::vector<uint64_t> values =
      runLanes("add.s64 %rd5, %rd1, 256;\n"
               "atom.global.add.u32 %r2, [%rd5], 1;\ncvt.u64.u32 %rd4, %r2;\n"
               "st.global.u64 [%rd3], %rd4;\n");
  for (unsigned lane = 0; lane < 32; ++lane)
    EXPECT_EQ(values[lane], lane);
}

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

/// What each lane has in %r2 after the body.
static std::vector<uint32_t> lanesOf(const std::string &body) {
  std::vector<uint64_t> values =
      runLanes(body + "cvt.u64.u32 %rd4, %r2;\nst.global.u64 [%rd3], %rd4;\n");
  return std::vector<uint32_t>(values.begin(), values.begin() + 32);
}

TEST(LaneTest, IndexedBranchAndLoops) {
  std::vector<uint32_t> got = lanesOf(
      "and.b32 %r3, %r1, 3;\nmov.u32 %r2, 0;\n"
      "table: .branchtargets one, two, three, loop;\n"
      "brx.idx %r3, table;\n"
      "one: mov.u32 %r2, 10; bra done;\ntwo: mov.u32 %r2, 20; bra done;\n"
      "three: mov.u32 %r2, 30; bra done;\n"
      "loop: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %r1; @%p1 bra loop;\n"
      "done:\n");
  for (unsigned lane = 0; lane < 32; ++lane)
    EXPECT_EQ(got[lane], lane % 4 == 3 ? lane : 10 * (lane % 4 + 1));
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

TEST(BlockTest, CallsArePutInPlace) {
  RT_NEED_NVRTC();
  Machine machine(compileCuda(R"(
struct Pair { float a; int b; };
__device__ __noinline__ float power(Pair p, int n) {
  float r = 1;
  for (int i = 0; i < n; ++i)
    r = r * p.a + p.b;
  return r;
}
extern "C" __global__ void k(float *out) {
  Pair p = {2, (int)threadIdx.x};
  out[threadIdx.x] = power(p, threadIdx.x % 5) + power(p, 2);
})"));
  float *out = machine.buffer(std::vector<float>(64), "out");
  Report report = machine.run("k", {}, {64, 1, 1}, 0, pack(out));
  EXPECT_TRUE(report.clean()) << describe(report);
  for (int i = 0; i < 64; ++i) {
    float r = 1, two = (2.0f + i) * 2 + i;
    for (int j = 0; j < i % 5; ++j)
      r = r * 2 + i;
    EXPECT_EQ(out[i], r + two);
  }
}

TEST(BlockTest, WarpsWaitForEachOtherWithoutBarriers) {
  RT_NEED_NVRTC();
  Machine machine(compileCuda(R"(
extern "C" __global__ void k(int *out) {
  __shared__ int lock, sum;
  if (threadIdx.x == 0)
    lock = sum = 0;
  __syncthreads();
  for (bool done = false; !done;)
    if (atomicCAS(&lock, 0, 1) == 0) {
      atomicAdd(&sum, 1);
      __threadfence_block();
      atomicExch(&lock, 0);
      done = true;
    }
  __syncthreads();
  if (threadIdx.x == 0)
    *out = atomicAdd(&sum, 0);
})"));
  int *out = machine.buffer(std::vector<int>(1), "out");
  Report report = machine.run("k", {}, {96, 1, 1}, 0, pack(out));
  EXPECT_TRUE(report.clean()) << describe(report);
  EXPECT_EQ(*out, 96);
}

TEST(BlockTest, ProducerAndConsumerWithNamedBarriers) {
  RT_NEED_NVRTC();
  Machine machine(compileCuda(R"(
extern "C" __global__ void k(int *out) {
  __shared__ int s[32];
  int lane = threadIdx.x % 32;
  for (int i = 0; i < 4; ++i)
    if (threadIdx.x < 32) {
      s[lane] = lane * i;
      asm volatile("bar.arrive 1, 64;" ::: "memory");
      asm volatile("bar.sync 2, 64;" ::: "memory");
    } else {
      asm volatile("bar.sync 1, 64;" ::: "memory");
      out[32 * i + lane] = s[31 - lane];
      asm volatile("bar.arrive 2, 64;" ::: "memory");
    }
})"));
  int *out = machine.buffer(std::vector<int>(128), "out");
  Report report = machine.run("k", {}, {64, 1, 1}, 0, pack(out));
  EXPECT_TRUE(report.clean()) << describe(report);
  for (int i = 0; i < 128; ++i)
    EXPECT_EQ(out[i], (31 - i % 32) * (i / 32));
}

TEST(BlockTest, TwoConsumersThatArriveAtDifferentTimes) {
  RT_NEED_NVRTC();
  Machine machine(compileCuda(R"(
extern "C" __global__ void k(int *out) {
  __shared__ int s[32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int i = 0; i < 4; ++i)
    if (warp == 0) {
      s[lane] = lane * i;
      asm volatile("bar.sync 1, 96;" ::: "memory");
      asm volatile("bar.sync 2, 96;" ::: "memory");
    } else {
      asm volatile("bar.sync 1, 96;" ::: "memory");
      out[64 * i + threadIdx.x - 32] = s[31 - lane];
      asm volatile("bar.arrive 2, 96;" ::: "memory");
    }
})"));
  int *out = machine.buffer(std::vector<int>(256), "out");
  Report report = machine.run("k", {}, {96, 1, 1}, 0, pack(out));
  EXPECT_TRUE(report.clean()) << describe(report);
  for (int i = 0; i < 256; ++i)
    EXPECT_EQ(out[i], (31 - i % 32) * (i / 64));
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST(ErrorTest, NameTheLine) {
  EXPECT_EQ(errorOf(wrap("frob.u32 %r2, %r1;\n")),
            "ptx line 15: expected a known instruction, got 'frob.u32'");
  EXPECT_EQ(errorOf(wrap("add.frob.u32 %r2, %r1, 1;\n")),
            "ptx line 15: expected a known form of add, got '.frob' in "
            "'add.frob.u32'");
  EXPECT_EQ(errorOf(wrap("add.u32 %rd2, %r1, 1;\n")),
            "ptx line 15: expected a register of type .u32, got %rd2 of type "
            ".b64 in 'add.u32'");
  EXPECT_EQ(errorOf(wrap("add.u32 %r2, %r1;\n")),
            "ptx line 15: expected another operand, got 2 in 'add.u32'");
  EXPECT_EQ(errorOf(wrap("add.u32 %r2, %r1, 1, 2;\n")),
            "ptx line 15: expected 3 operands, got 4 in 'add.u32'");
  EXPECT_EQ(errorOf(wrap("bra nowhere;\n")),
            "ptx line 15: expected a label, got 'nowhere' in 'bra'");
  EXPECT_EQ(errorOf(wrap("mov.u32 %r2, %r1\n")),
            "ptx line 16: expected ';', got 'ret'");
  EXPECT_EQ(errorOf(wrap("add.u32 %r2, %r99, 1;\n")),
            "ptx line 15: expected a register, a number or a variable, got "
            "'%r99' in 'add.u32'");
}

TEST(ErrorTest, OfLaunches) {
  Machine machine(wrap(""));
  ASSERT_TRUE(machine.isLoaded());
  auto error = [&](const char *entry, Dim3 block, uint32_t shared,
                   std::vector<uint8_t> arguments) {
    auto report = launch(machine.text(), entry, {}, block, shared, arguments,
                         machine.memory);
    return report ? "" : llvm::toString(report.takeError());
  };
  std::vector<uint8_t> good(8);
  EXPECT_EQ(error("other", {}, 0, good),
            "expected one of the entries k, got 'other'");
  EXPECT_EQ(error("k", {2000, 1, 1}, 0, good),
            "expected 1 to 1024 threads in a block of 'k', got 2000,1,1");
  EXPECT_EQ(error("k", {}, 300000, good),
            "expected at most 232448 bytes of shared memory in a block of "
            "'k', got 300000");
  EXPECT_EQ(error("k", {}, 0, {}),
            "expected 8 bytes of arguments of 'k', got 0");
}

TEST(ErrorTest, OfMemory) {
  Memory memory;
  char block[64];
  EXPECT_FALSE(bool(memory.add(block, 64, "a")));
  EXPECT_EQ(llvm::toString(memory.add(block + 8, 8, "b")),
            "expected memory for b that is not registered yet, got an overlap");
  EXPECT_TRUE(bool(memory.find(reinterpret_cast<uint64_t>(block) + 63)));
  EXPECT_FALSE(bool(memory.find(reinterpret_cast<uint64_t>(block) + 64)));
  EXPECT_FALSE(bool(memory.remove(block)));
  llvm::consumeError(memory.remove(block));
  EXPECT_EQ(memory.size(), 0u);
}
