//===- LoopTest.cpp - loops and branches in CUDA C++ ----------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/cuda/Support.h"

using namespace raytention::device;
using namespace raytention::test;

namespace {

/// A kernel of one thread: out[0], out[1], ... = what `body` stores.
std::string makeKernel(const std::string &body) {
  return R"(gpu.func @test(%n: index, %out: memref<?xi64>) kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %k0 = arith.constant 0 : i64
  %k1 = arith.constant 1 : i64
  %k2 = arith.constant 2 : i64
)" + body +
         "  gpu.return\n}\n";
}

/// What the kernel leaves in four numbers that were -1.
std::vector<int64_t> run(const std::string &body, int64_t n) {
  Kernels kernels(makeKernel(body));
  if (!kernels.loaded())
    return {};
  auto out = kernels.upload(std::vector<int64_t>(4, -1));
  Arguments arguments;
  arguments.add(n);
  addMemRef(arguments, *out, {4});
  kernels.launch("test", 1, 1, arguments);
  return kernels.download<int64_t>(*out);
}

using Numbers = std::vector<int64_t>;

TEST(CudaLoops, SwapsItsVariables) {
  RT_NVRTC_OR_SKIP(compiler);
  const char *body = R"(
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %k1, %b = %k2)
      -> (i64, i64) {
    scf.yield %b, %a : i64, i64
  }
  memref.store %r#0, %out[%c0] : memref<?xi64>
  memref.store %r#1, %out[%c1] : memref<?xi64>
)";
  EXPECT_EQ(run(body, 3), (Numbers{2, 1, -1, -1}));
  EXPECT_EQ(run(body, 4), (Numbers{1, 2, -1, -1}));
  EXPECT_EQ(run(body, 0), (Numbers{1, 2, -1, -1}));
}

/// Each variable reads one that is written before it or behind it.
TEST(CudaLoops, RotatesItsVariables) {
  RT_NVRTC_OR_SKIP(compiler);
  EXPECT_EQ(run(R"(
  %r:4 = scf.for %i = %c0 to %n step %c1
      iter_args(%a = %k0, %b = %k1, %c = %k2, %d = %k0)
      -> (i64, i64, i64, i64) {
    %sum = arith.addi %a, %d : i64
    scf.yield %b, %c, %a, %sum : i64, i64, i64, i64
  }
  memref.store %r#0, %out[%c0] : memref<?xi64>
  memref.store %r#1, %out[%c1] : memref<?xi64>
  memref.store %r#2, %out[%c2] : memref<?xi64>
  memref.store %r#3, %out[%c3] : memref<?xi64>
)",
                4),
            (Numbers{1, 2, 0, 3}));
}

/// A size that is a variable is read before the variable changes, too.
TEST(CudaLoops, YieldsASizeThatIsAVariable) {
  RT_NVRTC_OR_SKIP(compiler);
  EXPECT_EQ(run(R"(
  %shared = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c2, %b = %c3)
      -> (index, index) {
    %view = memref.view %shared[%c0][%a] : memref<?xi8, #gpu.address_space<workgroup>> to memref<?xf32, #gpu.address_space<workgroup>>
    %size = memref.dim %view, %c0 : memref<?xf32, #gpu.address_space<workgroup>>
    scf.yield %b, %size : index, index
  }
  %x = arith.index_cast %r#0 : index to i64
  %y = arith.index_cast %r#1 : index to i64
  memref.store %x, %out[%c0] : memref<?xi64>
  memref.store %y, %out[%c1] : memref<?xi64>
)",
                1),
            (Numbers{3, 2, -1, -1}));
}

/// What is yielded may be the position, a constant, the variable itself, or a
/// value from outside.
TEST(CudaLoops, YieldsOtherValues) {
  RT_NVRTC_OR_SKIP(compiler);
  EXPECT_EQ(run(R"(
  %n64 = arith.index_cast %n : index to i64
  %r:4 = scf.for %i = %c1 to %n step %c2
      iter_args(%a = %k0, %b = %k1, %c = %k2, %d = %c0)
      -> (i64, i64, i64, index) {
    scf.yield %k2, %b, %n64, %i : i64, i64, i64, index
  }
  %last = arith.index_cast %r#3 : index to i64
  memref.store %r#0, %out[%c0] : memref<?xi64>
  memref.store %r#1, %out[%c1] : memref<?xi64>
  memref.store %r#2, %out[%c2] : memref<?xi64>
  memref.store %last, %out[%c3] : memref<?xi64>
)",
                8),
            (Numbers{2, 1, 8, 7}));
}

/// The inner loop starts from the outer's variable, which it leaves alone.
TEST(CudaLoops, Nests) {
  RT_NVRTC_OR_SKIP(compiler);
  EXPECT_EQ(run(R"(
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %k1, %b = %k0)
      -> (i64, i64) {
    %s = scf.for %i1 = %c0 to %i step %c1 iter_args(%a1 = %a) -> (i64) {
      %t = arith.addi %a1, %a : i64
      scf.yield %t : i64
    }
    %u = scf.for %i1 = %c0 to %c2 step %c1 iter_args(%s1 = %s) -> (i64) {
      %t = arith.addi %s1, %k1 : i64
      scf.yield %t : i64
    }
    scf.yield %u, %a : i64, i64
  }
  memref.store %r#0, %out[%c0] : memref<?xi64>
  memref.store %r#1, %out[%c1] : memref<?xi64>
)",
                3),
            // 1 -> 3 -> 8 -> 26
            (Numbers{26, 8, -1, -1}));
}

TEST(CudaLoops, CountsInI32) {
  RT_NVRTC_OR_SKIP(compiler);
  EXPECT_EQ(run(R"(
  %n32 = arith.index_cast %n : index to i32
  %j0 = arith.constant -3 : i32
  %j2 = arith.constant 2 : i32
  %r = scf.for %i = %j0 to %n32 step %j2 iter_args(%a = %k0) -> (i64) : i32 {
    %i64 = arith.extsi %i : i32 to i64
    %s = arith.addi %a, %i64 : i64
    scf.yield %s : i64
  }
  memref.store %r, %out[%c0] : memref<?xi64>
)",
                4),
            (Numbers{0, -1, -1, -1})); // -3 - 1 + 1 + 3
}

TEST(CudaLoops, StartsBelowZero) {
  RT_NVRTC_OR_SKIP(compiler);
  EXPECT_EQ(run(R"(
  %start = arith.constant -2 : index
  %end = arith.constant -1 : index
  %r = scf.for %i = %start to %end step %c1 iter_args(%a = %k0) -> (i64) {
    %b = arith.addi %a, %k1 : i64
    scf.yield %b : i64
  }
  memref.store %r, %out[%c0] : memref<?xi64>
)",
                0),
            (Numbers{1, -1, -1, -1}));
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

TEST(CudaBranches, GiveValues) {
  RT_NVRTC_OR_SKIP(compiler);
  const char *body = R"(
  %few = arith.cmpi slt, %n, %c2 : index
  %none = arith.cmpi eq, %n, %c0 : index
  %x, %y = scf.if %few -> (i64, i64) {
    %z = scf.if %none -> (i64) {
      scf.yield %k1 : i64
    } else {
      scf.yield %k2 : i64
    }
    scf.yield %z, %k0 : i64, i64
  } else {
    scf.yield %k0, %k2 : i64, i64
  }
  scf.if %none {
    memref.store %k1, %out[%c2] : memref<?xi64>
  }
  scf.if %none {
  } else {
    memref.store %k2, %out[%c3] : memref<?xi64>
  }
  memref.store %x, %out[%c0] : memref<?xi64>
  memref.store %y, %out[%c1] : memref<?xi64>
)";
  EXPECT_EQ(run(body, 0), (Numbers{1, 0, 1, -1}));
  EXPECT_EQ(run(body, 1), (Numbers{2, 0, -1, 2}));
  EXPECT_EQ(run(body, 2), (Numbers{0, 2, -1, 2}));
}

/// A branch that gives a loop's variables back in another order.
TEST(CudaBranches, SwapWithinALoop) {
  RT_NVRTC_OR_SKIP(compiler);
  EXPECT_EQ(run(R"(
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %k1, %b = %k2)
      -> (i64, i64) {
    %first = arith.cmpi eq, %i, %c0 : index
    %s:2 = scf.if %first -> (i64, i64) {
      scf.yield %b, %a : i64, i64
    } else {
      scf.yield %a, %b : i64, i64
    }
    scf.yield %s#0, %s#1 : i64, i64
  }
  memref.store %r#0, %out[%c0] : memref<?xi64>
  memref.store %r#1, %out[%c1] : memref<?xi64>
)",
                3),
            (Numbers{2, 1, -1, -1}));
}

} // namespace
