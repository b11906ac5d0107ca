// RUN: not rt-opt %s --rt-verify-stage=stage=nowhere 2>&1 | FileCheck %s

// CHECK: error: expected a stage out of attention, reference, linalg, sweeps, products, tiled, kernels, plan, cpu, llvm, got 'nowhere'
