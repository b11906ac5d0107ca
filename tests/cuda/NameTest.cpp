//===- NameTest.cpp - names in CUDA C++ -----------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/CudaCpp/Identifiers.h"
#include "kernels_gen/prelude/Prelude.h"
#include "tests/cuda/Support.h"

#include "llvm/ADT/StringSet.h"

using namespace raytention;
using namespace raytention::test;

namespace {

/// Names that C++, CUDA, NVRTC's headers, the prelude or the text use, or that
/// are no identifiers.
const char *const kTaken =
    "int main while float double long bool signed char void for if else "
    "return const true false nullptr class struct template typename "
    "operator new delete this and or not xor bitand compl not_eq asm auto "
    "register restrict volatile static_assert concept requires co_await "
    "constinit char8_t typeof alignas NULL STD assert alloca va_arg linux "
    "unix i386 CUDART_VERSION CUDART_CB NV_IS_HOST CU_UUID_HAS_BEEN_DEFINED "
    "cudaMalloc cudaEventDefault cudaMemcpyAsync threadIdx blockIdx "
    "blockDim gridDim warpSize dim3 rt shared min max expf exp exp2f logf "
    "log2 fmaf fma fmaxf sqrtf rsqrtf tanhf fabsf floorf sum std size_t "
    "memcpy memset malloc free printf clock clock64 abs pow powf sin cosf "
    "norm j0 y1 j0f jn erf isnan isinf signbit round lrintf atomicAdd "
    "atomicCAS_block tex2D surf2Dwrite umin llmax float4 int2 longlong2 "
    "uint3 nvcuda bf16 maximum kernels prelude x i n saturate trap exit "
    "abort hypot logb modf nan truncf strlen va_list ptrdiff_t clock_t ceil "
    "floor double2int rint scalbn fdividef normcdf cyl_bessel_i0 erfcx "
    "sincospi rhypot a__b _a __global__ __shared__ a_ A9 9a a.b a-b a$b $ _ "
    "__ \xC3\xA9t\xC3\xA9 rt_kernel_int";

std::vector<std::string> takenNames() {
  llvm::SmallVector<llvm::StringRef> names;
  llvm::StringRef(kTaken).split(names, ' ');
  return {names.begin(), names.end()};
}

std::string quoted(const std::string &name) { return "@\"" + name + "\""; }

/// One kernel of each name, all in one text.
TEST(CudaNames, KernelsOfTakenNames) {
  RT_NVRTC_OR_SKIP(compiler);
  llvm::StringSet<> mangled;
  std::string text;
  for (const std::string &name : takenNames()) {
    EXPECT_TRUE(mangled.insert(cuda::mangleKernelName(name)).second) << name;
    text += "gpu.func " + quoted(name) +
            "(%x: memref<i64>, %k: i64) kernel attributes {known_block_size = "
            "array<i32: 1, 1, 1>} {\n"
            "  memref.store %k, %x[] : memref<i64>\n  gpu.return\n}\n";
  }
  Kernels kernels(text);
  ASSERT_TRUE(kernels.loaded());
  int64_t value = 0;
  for (const std::string &name : takenNames()) {
    auto out = kernels.upload(std::vector<int64_t>{-1});
    kernels.launch(name, 1, 1, device::makeArguments(*out, ++value));
    EXPECT_EQ(kernels.download<int64_t>(*out)[0], value) << name;
  }
}

TEST(CudaNames, KernelNamesAreTheSymbolsWhereTheyMayBe) {
  EXPECT_EQ(cuda::mangleKernelName("sum_keys"), "sum_keys");
  EXPECT_EQ(cuda::mangleKernelName("K2"), "K2");
  EXPECT_EQ(cuda::mangleKernelName("int"), "rt_kernel_int");
  EXPECT_EQ(cuda::mangleKernelName("main"), "rt_kernel_main");
  EXPECT_EQ(cuda::mangleKernelName("a.b"), "rt_kernel_a_2Eb");
  EXPECT_EQ(cuda::mangleKernelName("_a"), "rt_kernel__5Fa");
  EXPECT_EQ(cuda::mangleKernelName("rt_kernel_int"),
            "rt_kernel_rt_5Fkernel_5Fint");
}

/// Is a name that an SSA value can have in a text.
bool isSsaName(llvm::StringRef name) {
  return !llvm::isDigit(name.front()) && llvm::all_of(name, [](char c) {
    return llvm::isAlnum(c) || llvm::StringRef("_.$-").contains(c);
  });
}

/// Arguments, values, loop variables and results of each name; everything that
/// the printer calls is called where they are visible.
TEST(CudaNames, ValuesOfTakenNames) {
  RT_NVRTC_OR_SKIP(compiler);
  std::string text;
  int count = 0;
  for (const std::string &name : takenNames()) {
    if (!isSsaName(name))
      continue;
    std::string value = "%" + name;
    text += "gpu.func @test" + std::to_string(count++) + "(" + value +
            R"(: memref<?xf32>) kernel
    attributes {known_block_size = array<i32: 32, 1, 1>} {
  %t.c0 = arith.constant 0 : index
  %t.c1 = arith.constant 1 : index
  %t.nan = arith.constant 0x7FC00000 : f32
  %t.id = gpu.thread_id x
  %t.bid = gpu.block_id x
  %t.size = memref.dim )" +
            value + R"(, %t.c0 : memref<?xf32>
  %0 = arith.minsi %t.size, %t.id : index
  %1 = arith.maxsi %0, %t.bid : index
  %t.memory = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
  %2 = memref.view %t.memory[%t.c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<4xf32, #gpu.address_space<workgroup>>
  scf.for )" +
            value +
            R"(_ = %t.c0 to %t.size step %t.c1 {
    %3 = memref.load )" +
            value + "[" + value +
            R"(_] : memref<?xf32>
    %4 = math.exp %3 : f32
    %5 = math.fma %4, %4, %t.nan : f32
    %6 = arith.maximumf %5, %4 : f32
    %7 = arith.maxnumf %6, %5 : f32
    %8 = math.tanh %7 : f32
    memref.store %8, )" +
            value + "[" + value + R"(_] : memref<?xf32>
  }
  gpu.return
}
)";
  }
  Kernels kernels(text);
  EXPECT_TRUE(kernels.loaded());
  EXPECT_GT(count, 150);
}

TEST(CudaNames, Identifiers) {
  EXPECT_EQ(cuda::makeIdentifier("rows"), "rows");
  EXPECT_EQ(cuda::makeIdentifier("_rows__2_"), "rows_2");
  EXPECT_EQ(cuda::makeIdentifier("2d"), "v2d");
  EXPECT_EQ(cuda::makeIdentifier("a.b-c$d"), "a_b_c_d");
  EXPECT_EQ(cuda::makeIdentifier("12"), "");
  EXPECT_EQ(cuda::makeIdentifier("$_"), "");
  EXPECT_TRUE(cuda::isReservedName("while"));
  EXPECT_TRUE(cuda::isReservedName("fmaf"));
  EXPECT_FALSE(cuda::isReservedName("rows"));
}

/// The rule of the prelude: no loops, no barriers.
TEST(CudaNames, ThePreludeHoldsNoLoopsAndNoBarriers) {
  std::string text = getPrelude().text;
  EXPECT_NE(text.find("namespace rt"), std::string::npos);
  for (const char *word : {"for (", "while (", "do {", "goto", "__sync", "bar.",
                           "mbarrier", "cp.async", "wait"})
    EXPECT_EQ(text.find(word), std::string::npos) << word;
}

} // namespace
