//===- rt-opt.cpp - the pass driver -----------------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Pipelines/Registration.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  raytention::registerDialects(registry);
  raytention::registerPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "RayTention kernel compiler driver\n", registry));
}
