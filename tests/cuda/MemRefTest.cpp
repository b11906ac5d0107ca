//===- MemRefTest.cpp - buffers in CUDA C++ -------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/cuda/Support.h"

#include <numeric>

using namespace raytention::device;
using namespace raytention::test;

namespace {

std::vector<float> counted(int64_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

/// out[x, y, z] = in[x, y, 0, z] + 100 y: sizes known and unknown, in any
/// place.
TEST(CudaMemRefs, DynamicSizesInTheMiddle) {
  RT_NVRTC_OR_SKIP(compiler);
  Kernels kernels(R"(
gpu.func @copy(%in: memref<2x?x1x?xf32>, %out: memref<?x?x3xf32>) kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %hundred = arith.constant 100.0 : f32
  %nx = memref.dim %in, %c0 : memref<2x?x1x?xf32>
  %ny = memref.dim %in, %c1 : memref<2x?x1x?xf32>
  %nz = memref.dim %in, %c3 : memref<2x?x1x?xf32>
  scf.for %x = %c0 to %nx step %c1 {
    scf.for %y = %c0 to %ny step %c1 {
      scf.for %z = %c0 to %nz step %c1 {
        %v = memref.load %in[%x, %y, %c0, %z] : memref<2x?x1x?xf32>
        %i = arith.index_cast %y : index to i32
        %f = arith.sitofp %i : i32 to f32
        %w = math.fma %f, %hundred, %v : f32
        memref.store %w, %out[%x, %y, %z] : memref<?x?x3xf32>
      }
    }
  }
  gpu.return
})");
  ASSERT_TRUE(kernels.loaded());
  auto in = kernels.upload(counted(2 * 5 * 3));
  auto out = kernels.upload(std::vector<float>(2 * 5 * 3));
  Arguments arguments;
  addMemRef(arguments, *in, {5, 3});
  addMemRef(arguments, *out, {2, 5});
  kernels.launch("copy", 1, 1, arguments);
  std::vector<float> expected = counted(2 * 5 * 3);
  for (int64_t i = 0; i < 30; ++i)
    expected[i] += 100 * (i / 3 % 5);
  EXPECT_EQ(kernels.download<float>(*out), expected);
}

/// Every parameter in its place: sizes behind their pointer, values between.
TEST(CudaMemRefs, ParametersInOrder) {
  RT_NVRTC_OR_SKIP(compiler);
  Kernels kernels(R"(
gpu.func @sum(%a: i32, %x: memref<?x2x?xi8>, %b: f64, %y: memref<f32>,
    %c: index, %d: f32, %e: i64, %out: memref<3x?xf64>) kernel
    attributes {known_block_size = array<i32: 1, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %x0 = memref.dim %x, %c0 : memref<?x2x?xi8>
  %x2 = memref.dim %x, %c2 : memref<?x2x?xi8>
  %y0 = memref.load %y[] : memref<f32>
  %last = memref.load %x[%c1, %c1, %c2] : memref<?x2x?xi8>
  %s0 = arith.sitofp %a : i32 to f64
  %s1 = arith.extf %y0 : f32 to f64
  %s2 = arith.extf %d : f32 to f64
  %s3 = arith.sitofp %e : i64 to f64
  %s4 = arith.sitofp %last : i8 to f64
  %size = arith.muli %x0, %x2 : index
  %size64 = arith.index_cast %size : index to i64
  %s5 = arith.sitofp %size64 : i64 to f64
  %t0 = arith.addf %s0, %s1 : f64
  %t1 = arith.addf %t0, %s2 : f64
  %t2 = arith.addf %t1, %s3 : f64
  %t3 = arith.addf %t2, %b : f64
  memref.store %t3, %out[%c0, %c] : memref<3x?xf64>
  memref.store %s4, %out[%c1, %c] : memref<3x?xf64>
  memref.store %s5, %out[%c2, %c] : memref<3x?xf64>
  gpu.return
})");
  ASSERT_TRUE(kernels.loaded());
  std::vector<int8_t> bytes(2 * 2 * 3);
  bytes[11] = -77;
  auto x = kernels.upload(bytes);
  auto y = kernels.upload(std::vector<float>{0.5f});
  auto out = kernels.upload(std::vector<double>(6));
  Arguments arguments;
  arguments.add(int32_t(-3));
  addMemRef(arguments, *x, {2, 3});
  arguments.add(1000.0);
  addMemRef(arguments, *y, {});
  arguments.add(int64_t(1)).add(0.25f).add(int64_t(70));
  addMemRef(arguments, *out, {2});
  kernels.launch("sum", 1, 1, arguments);
  EXPECT_EQ(kernels.download<double>(*out),
            (std::vector<double>{0, 1067.75, 0, -77, 0, 6}));
}

/// A cast keeps the memory and what is known of its sizes.
TEST(CudaMemRefs, CastsAndArraysOfAThread) {
  RT_NVRTC_OR_SKIP(compiler);
  Kernels kernels(R"(
gpu.func @reverse(%in: memref<?x4xf32>, %out: memref<2x4xf32>) kernel
    attributes {known_block_size = array<i32: 2, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %row = gpu.thread_id x
  %any = memref.cast %in : memref<?x4xf32> to memref<?x?xf32>
  %two = memref.cast %any : memref<?x?xf32> to memref<2x?xf32>
  %to = memref.cast %out : memref<2x4xf32> to memref<?x?xf32>
  %width = memref.dim %to, %c1 : memref<?x?xf32>
  %line = memref.alloca() {alignment = 16 : i64} : memref<4x1xf32>
  %none = memref.alloca() : memref<0x4xf32>
  scf.for %i = %c0 to %width step %c1 {
    %v = memref.load %two[%row, %i] : memref<2x?xf32>
    %j = arith.subi %c3, %i : index
    memref.store %v, %line[%j, %c0] : memref<4x1xf32>
  }
  scf.for %i = %c0 to %c4 step %c1 {
    %v = memref.load %line[%i, %c0] : memref<4x1xf32>
    memref.store %v, %to[%row, %i] : memref<?x?xf32>
  }
  gpu.return
})");
  ASSERT_TRUE(kernels.loaded());
  auto in = kernels.upload(counted(8));
  auto out = kernels.upload(std::vector<float>(8));
  Arguments arguments;
  addMemRef(arguments, *in, {2});
  addMemRef(arguments, *out, {});
  kernels.launch("reverse", 1, 2, arguments);
  EXPECT_EQ(kernels.download<float>(*out),
            (std::vector<float>{4, 3, 2, 1, 8, 7, 6, 5}));
}

/// Views of several types and sizes in one block's shared memory; each thread
/// reads what another has written.
TEST(CudaMemRefs, SharedViewsAndBarriers) {
  RT_NVRTC_OR_SKIP(compiler);
  Kernels kernels(R"(
gpu.func @turn(%in: memref<?xf32>, %out: memref<?xf64>) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c63 = arith.constant 63 : index
  %o1 = arith.constant 512 : index
  %o2 = arith.constant 768 : index
  %thread = gpu.thread_id x
  %block = gpu.block_id x
  %threads = gpu.block_dim x
  %blocks = gpu.grid_dim x
  %first = arith.muli %block, %threads : index
  %i = arith.addi %first, %thread : index
  %shared = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
  %wide = memref.view %shared[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<64xf64, #gpu.address_space<workgroup>>
  %tile = memref.view %shared[%o1][%blocks] : memref<?xi8, #gpu.address_space<workgroup>> to memref<?x32xf32, #gpu.address_space<workgroup>>
  %again = memref.cast %tile : memref<?x32xf32, #gpu.address_space<workgroup>> to memref<2x32xf32, #gpu.address_space<workgroup>>
  %half = memref.view %shared[%o2][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<64xbf16, #gpu.address_space<workgroup>>
  %c32 = arith.constant 32 : index
  %y = arith.divsi %thread, %c32 : index
  %x = arith.remsi %thread, %c32 : index
  %v = memref.load %in[%i] : memref<?xf32>
  memref.store %v, %tile[%y, %x] : memref<?x32xf32, #gpu.address_space<workgroup>>
  %b = arith.truncf %v : f32 to bf16
  memref.store %b, %half[%thread] : memref<64xbf16, #gpu.address_space<workgroup>>
  gpu.barrier
  %other = arith.subi %c63, %thread : index
  %oy = arith.divsi %other, %c32 : index
  %ox = arith.remsi %other, %c32 : index
  %w = memref.load %again[%oy, %ox] : memref<2x32xf32, #gpu.address_space<workgroup>>
  %w64 = arith.extf %w : f32 to f64
  memref.store %w64, %wide[%thread] : memref<64xf64, #gpu.address_space<workgroup>>
  gpu.barrier
  %u = memref.load %wide[%other] : memref<64xf64, #gpu.address_space<workgroup>>
  %h = memref.load %half[%other] : memref<64xbf16, #gpu.address_space<workgroup>>
  %hf = arith.extf %h : bf16 to f64
  %thousand = arith.constant 1000.0 : f64
  %r = math.fma %hf, %thousand, %u : f64
  memref.store %r, %out[%i] : memref<?xf64>
  gpu.return
})");
  ASSERT_TRUE(kernels.loaded());
  auto in = kernels.upload(counted(128));
  auto out = kernels.upload(std::vector<double>(128));
  Arguments arguments;
  addMemRef(arguments, *in, {128});
  addMemRef(arguments, *out, {128});
  kernels.launch("turn", 2, 64, arguments, 768 + 128);
  std::vector<double> expected(128);
  for (int64_t i = 0; i < 128; ++i)
    expected[i] = 1000.0 * (i / 64 * 64 + 64 - i % 64) + (i + 1);
  EXPECT_EQ(kernels.download<double>(*out), expected);
}

/// What is only read is const; nothing says that buffers do not overlap.
TEST(CudaMemRefs, OnlyWhatIsWrittenIsNotConst) {
  std::string text = printKernels(R"(
gpu.func @copy(%in: memref<4xf32>, %out: memref<4xf32>, %last: memref<?xf32>)
    kernel attributes {known_block_size = array<i32: 4, 1, 1>} {
  %i = gpu.thread_id x
  %v = memref.load %in[%i] : memref<4xf32>
  memref.store %v, %out[%i] : memref<4xf32>
  %four = memref.cast %last : memref<?xf32> to memref<4xf32>
  memref.store %v, %four[%i] : memref<4xf32>
  gpu.return
})");
  EXPECT_NE(text.find("const float *in, float *out, float *last"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("restrict"), std::string::npos) << text;
}

} // namespace
