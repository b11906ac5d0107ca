//===- Support.cpp - printed kernels, compiled and run --------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/cuda/Support.h"

#include "codegen/CudaCpp/CudaCpp.h"
#include "codegen/CudaCpp/Identifiers.h"
#include "codegen/CudaCpp/SourceNames.h"
#include "kernels_gen/prelude/Prelude.h"
#include "runtime/device/simt/SimtDevice.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/Support/SourceMgr.h"

using namespace raytention;
using namespace raytention::device;
using namespace raytention::test;

std::string test::printModule(llvm::StringRef text) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::arith::ArithDialect, mlir::func::FuncDialect,
                  mlir::gpu::GPUDialect, mlir::math::MathDialect,
                  mlir::memref::MemRefDialect, mlir::scf::SCFDialect>();
  mlir::MLIRContext context(registry);
  std::string reasons;
  mlir::ScopedDiagnosticHandler handler(&context,
                                        [&](mlir::Diagnostic &diagnostic) {
                                          reasons += diagnostic.str() + "\n";
                                        });
  auto source = std::make_shared<llvm::SourceMgr>();
  source->AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text),
                             llvm::SMLoc());
  auto module = parseWithNames(source, &context);
  mlir::FailureOr<std::string> printed = mlir::failure();
  if (module)
    printed = printCuda(*module->getOps<mlir::gpu::GPUModuleOp>().begin());
  EXPECT_TRUE(mlir::succeeded(printed)) << reasons << text.str();
  return mlir::succeeded(printed) ? *printed : "";
}

std::string test::printKernels(llvm::StringRef kernels) {
  return printModule("gpu.module @kernels {\n" + kernels.str() + "}\n");
}

Kernels::Kernels() : target(createSimtDevice()) {}

void Kernels::load(std::string source) {
  text = std::move(source);
  auto loaded = target->loadCuda(makeKernelSource(text));
  if (loaded)
    module = std::move(*loaded);
  else
    ADD_FAILURE() << llvm::toString(loaded.takeError()) << "\n" << text;
}

void Kernels::launch(llvm::StringRef name, Dim3 grid, Dim3 block,
                     const Arguments &arguments, int64_t sharedBytes) {
  auto kernel = module->getKernel(cuda::mangleKernelName(name));
  if (!kernel) {
    ADD_FAILURE() << llvm::toString(kernel.takeError());
    return;
  }
  LaunchShape shape{grid, block, sharedBytes};
  EXPECT_EQ(llvm::toString((*kernel)->launch(shape, arguments)), "") << text;
}

void test::addMemRef(Arguments &arguments, const Buffer &buffer,
                     llvm::ArrayRef<int64_t> sizes) {
  arguments.add(buffer);
  for (int64_t size : sizes)
    arguments.add(size);
}

std::string test::makeElementwise(const std::string &name,
                                  const std::string &operand,
                                  const std::string &result,
                                  const std::string &body) {
  std::string in = "memref<?x" + operand + ">";
  std::string out = "memref<?x" + result + ">";
  std::string loads;
  for (std::string value : {"a", "b", "c"})
    loads +=
        "  %" + value + " = memref.load %all_" + value + "[%i] : " + in + "\n";
  return "gpu.func @" + name + "(%all_a: " + in + ", %all_b: " + in +
         ", %all_c: " + in + ", %out: " + out + R"() kernel
  attributes {known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = memref.dim %out, %c0 : )" +
         out + R"(
  %block = gpu.block_id x
  %thread = gpu.thread_id x
  %first = arith.muli %block, %c64 : index
  %i = arith.addi %first, %thread : index
  %inside = arith.cmpi slt, %i, %n : index
  scf.if %inside {
)" + loads +
         body + "\n  memref.store %r, %out[%i] : " + out +
         "\n  }\n  gpu.return\n}\n";
}
