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
// Loads and stores
//===----------------------------------------------------------------------===//

TEST(MemoryTest, NarrowLoadsFillWiderRegisters) {
  auto check = [](const std::string &load, uint64_t wanted) {
    SCOPED_TRACE(load);
    EXPECT_EQ(runLanes(load + " [%rd3];\nst.global.u64 [%rd3], %rd4;\n",
                       std::vector<uint64_t>(32, 0x8182838485868788))[3],
              wanted);
  };
  check("ld.global.u8 %rd4,", 0x88);
  check("ld.global.s8 %rd4,", 0xFFFFFFFFFFFFFF88);
  check("ld.global.u16 %rd4,", 0x8788);
  check("ld.global.s16 %rd4,", 0xFFFFFFFFFFFF8788);
  check("ld.global.u32 %rd4,", 0x85868788);
  check("ld.global.s32 %rd4,", 0xFFFFFFFF85868788);
  check("ld.global.b64 %rd4,", 0x8182838485868788);
  check("ld.volatile.global.u64 %rd4,", 0x8182838485868788);
  check("ld.relaxed.gpu.global.u64 %rd4,", 0x8182838485868788);
  check("ld.global.nc.L1::no_allocate.u64 %rd4,", 0x8182838485868788);
  check("ld.u64 %rd4,", 0x8182838485868788);
}

TEST(MemoryTest, NarrowStoresLeaveTheRest) {
  auto check = [](const std::string &store, uint64_t wanted) {
    SCOPED_TRACE(store);
    EXPECT_EQ(runLanes("mov.u64 %rd4, 0x1112131415161718;\n" + store,
                       std::vector<uint64_t>(32, ~uint64_t(0)))[5],
              wanted);
  };
  check("st.global.u8 [%rd3], %rd4;\n", 0xFFFFFFFFFFFFFF18);
  check("st.global.u16 [%rd3+2], %rd4;\n", 0xFFFFFFFF1718FFFF);
  check("st.global.u32 [%rd3+4], %rd4;\n", 0x15161718FFFFFFFF);
  check("st.global.b64 [%rd3], %rd4;\n", 0x1112131415161718);
  check("st.global.v2.u32 [%rd3], {3, 4};\n", 0x0000000400000003);
  check("st.global.v4.u16 [%rd3], {1, 2, 3, 4};\n", 0x0004000300020001);
}

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

TEST(AtomicTest, EveryOperation) {
  auto check = [](const std::string &atomic, uint64_t start, uint64_t wanted) {
    SCOPED_TRACE(atomic);
    EXPECT_EQ(runLanes(atomic, {start})[0], wanted);
  };
  check("atom.global.add.u32 %r2, [%rd1], %r1;\n", 1, 497);
  check("red.global.add.u32 [%rd1], %r1;\n", 1, 497);
  check("atom.add.u64 %rd4, [%rd1], 3;\n", ~uint64_t(0), 95);
  check("atom.global.min.s32 %r2, [%rd1], %r1;\n", 0x7FFFFFFF, 0);
  check("atom.global.min.s32 %r2, [%rd1], %r1;\n", 0xFFFFFFFF, 0xFFFFFFFF);
  check("atom.global.max.u32 %r2, [%rd1], %r1;\n", 3, 31);
  check("atom.global.max.s64 %rd4, [%rd1], %rd2;\n", 0, 248);
  check("atom.global.and.b32 %r2, [%rd1], 12;\n", 10, 8);
  check("atom.global.or.b32 %r2, [%rd1], %r1;\n", 0, 31);
  check("atom.global.xor.b32 %r2, [%rd1], %r1;\n", 5, 5);
  check("atom.global.exch.b32 %r2, [%rd1], 9;\n", 5, 9);
  check("atom.global.cas.b32 %r2, [%rd1], 5, 6;\n", 5, 6);
  check("atom.global.cas.b32 %r2, [%rd1], 4, 6;\n", 5, 5);
  check("atom.global.cas.b64 %rd4, [%rd1], 5, 6;\n", 5, 6);
  check("atom.global.inc.u32 %r2, [%rd1], 9;\n", 0, 2);
  check("atom.global.dec.u32 %r2, [%rd1], 9;\n", 0, 8);
  check("atom.global.cta.add.f32 %f1, [%rd1], 0f3F800000;\n", 0, 0x42000000);
  check("red.relaxed.gpu.global.add.f64 [%rd1], 0d3FF0000000000000;\n", 0,
        0x4040000000000000);
  check("mov.u32 %r2, 0x3C003C00;\n"
        "atom.global.add.noftz.f16x2 %r3, [%rd1], %r2;\n",
        0, 0x50005000);
  check("mov.u16 %rs1, 0x3F80;\nred.global.add.noftz.bf16 [%rd1], %rs1;\n", 0,
        0x4200);
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

TEST(LaneTest, Shuffles) {
  for (unsigned width : {32u, 8u})
    for (unsigned by : {0u, 1u, 5u, 31u})
      for (const char *how : {"up", "down", "bfly", "idx"}) {
        SCOPED_TRACE(std::string(how) + std::to_string(by));
        bool up = std::string(how) == "up";
        unsigned c = (32 - width) << 8 | (up ? 0 : 31);
        std::vector<uint32_t> got = lanesOf(
            "add.u32 %r3, %r1, 100;\nshfl.sync." + std::string(how) +
            ".b32 %r2|%p1, %r3, " + std::to_string(by) + ", " +
            std::to_string(c) + ", -1;\n@!%p1 add.u32 %r2, %r2, 1000;\n");
        for (int lane = 0; lane < 32; ++lane) {
          int first = lane / int(width) * int(width);
          int from = up              ? lane - int(by)
                     : how[0] == 'd' ? lane + int(by)
                     : how[0] == 'b' ? lane ^ int(by)
                                     : first + int(by % width);
          bool inside = from >= first && from < first + int(width);
          if (how[0] == 'b' && from < first)
            inside = true; // only the upper bound counts
          EXPECT_EQ(got[lane], uint32_t(inside ? from + 100 : lane + 1100));
        }
      }
}

TEST(LaneTest, VotesMatchesReductions) {
  auto all = [](const std::string &body, uint32_t wanted) {
    SCOPED_TRACE(body);
    for (uint32_t got : lanesOf("setp.lt.u32 %p1, %r1, 4;\n" + body))
      EXPECT_EQ(got, wanted);
  };
  std::string pick = "selp.u32 %r2, 1, 0, %p2;\n";
  all("vote.sync.any.pred %p2, %p1, -1;\n" + pick, 1);
  all("vote.sync.all.pred %p2, %p1, -1;\n" + pick, 0);
  all("vote.sync.uni.pred %p2, %p1, -1;\n" + pick, 0);
  all("vote.sync.ballot.b32 %r2, %p1, -1;\n", 15);
  all("vote.sync.ballot.b32 %r2, !%p1, -1;\n", ~15u);
  all("activemask.b32 %r2;\n", ~0u);
  all("redux.sync.add.s32 %r2, %r1, -1;\n", 496);
  all("redux.sync.max.u32 %r2, %r1, -1;\n", 31);
  all("sub.u32 %r3, %r1, 5;\nredux.sync.min.s32 %r2, %r3, -1;\n", uint32_t(-5));
  all("redux.sync.xor.b32 %r2, %r1, -1;\n", 0);
  all("match.all.sync.b32 %r2|%p2, 7, -1;\n", ~0u);
  all("bar.red.popc.u32 %r2, 0, %p1;\n", 4);
  all("bar.red.and.pred %p2, 0, %p1;\n" + pick, 0);
  all("bar.red.or.pred %p2, 0, !%p1;\n" + pick, 1);
  std::vector<uint32_t> got =
      lanesOf("and.b32 %r3, %r1, 3;\nmatch.any.sync.b32 %r2, %r3, -1;\n");
  for (unsigned lane = 0; lane < 32; ++lane)
    EXPECT_EQ(got[lane], 0x11111111u << (lane % 4));
}

TEST(LaneTest, HalvesWithMasksOfTheirOwn) {
  std::vector<uint32_t> got = lanesOf(
      "setp.lt.u32 %p1, %r1, 16;\nselp.u32 %r3, 0xFFFF, 0xFFFF0000, %p1;\n"
      "redux.sync.add.u32 %r2, %r1, %r3;\n");
  for (unsigned lane = 0; lane < 32; ++lane)
    EXPECT_EQ(got[lane], lane < 16 ? 120u : 376u);
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

TEST(BlockTest, BlocksAndThreadsOfThreeDimensions) {
  std::string text = wrap(
      "mov.u32 %r2, %tid.y;\nmov.u32 %r3, %tid.z;\nmov.u32 %r4, %ctaid.x;\n"
      "mov.u32 %r5, %ctaid.y;\nmov.u32 %r6, %ctaid.z;\n"
      "mad.lo.u32 %r7, %r3, 3, %r2;\nmad.lo.u32 %r7, %r7, 4, %r1;\n"
      "mad.lo.u32 %r8, %r6, 2, %r5;\nmad.lo.u32 %r8, %r8, 3, %r4;\n"
      "mad.lo.u32 %r8, %r8, 24, %r7;\nmul.wide.u32 %rd4, %r8, 4;\n"
      "add.s64 %rd4, %rd4, %rd1;\nst.global.u32 [%rd4], %r8;\n");
  Machine machine(text);
  uint32_t *out = machine.buffer(std::vector<uint32_t>(24 * 12), "out");
  Report report = machine.run("k", {3, 2, 2}, {4, 3, 2}, 0, pack(out));
  EXPECT_TRUE(report.clean()) << describe(report);
  for (uint32_t i = 0; i < 24 * 12; ++i)
    EXPECT_EQ(out[i], i);
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST(ErrorTest, NameTheLine) {
  EXPECT_EQ(errorOf(wrap("frob.u32 %r2, %r1;\n")),
            "ptx line 15: expected a known instruction, got 'frob.u32'");
  EXPECT_EQ(errorOf(wrap("add.frob.u32 %r2, %r1, 1;\n")),
            "ptx line 15: expected a type, got '.frob' in 'add.frob.u32'");
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
