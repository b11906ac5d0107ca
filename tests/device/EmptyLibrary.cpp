//===- EmptyLibrary.cpp - a library without functions ---------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

extern "C" int rt_test_nothing_of_use;
int rt_test_nothing_of_use = 0;
