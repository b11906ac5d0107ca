//===- rt-translate.cpp - the stages as text of others --------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/CudaCpp/CudaCpp.h"
#include "codegen/CudaCpp/SourceNames.h"
#include "codegen/Pipelines/Registration.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"

using namespace mlir;
using namespace raytention;

static LogicalResult emitCuda(const std::shared_ptr<llvm::SourceMgr> &source,
                              llvm::raw_ostream &output, MLIRContext *context) {
  DialectRegistry registry;
  registerDialects(registry);
  context->appendDialectRegistry(registry);
  OwningOpRef<ModuleOp> module = parseWithNames(source, context);
  if (!module)
    return failure();
  auto kernels = module->getOps<gpu::GPUModuleOp>();
  if (!llvm::hasSingleElement(kernels))
    return module->emitError("expected one gpu.module, got ")
           << std::distance(kernels.begin(), kernels.end());
  FailureOr<std::string> text = printCuda(*kernels.begin());
  if (failed(text))
    return failure();
  output << *text;
  return success();
}

int main(int argc, char **argv) {
  TranslateRegistration cuda(
      "rt-emit-cuda", "the kernels of a plan (stage 5) as CUDA C++", emitCuda);
  return failed(mlirTranslateMain(argc, argv, "RayTention translation tool"));
}
