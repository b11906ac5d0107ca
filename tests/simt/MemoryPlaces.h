//===- MemoryPlaces.h - where the bytes of a test lie -----------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TESTS_SIMT_MEMORYPLACES_H
#define RAYTENTION_TESTS_SIMT_MEMORYPLACES_H

#include "tests/simt/FormCase.h"

namespace raytention::simt::test {

/// 32 bytes per thread in one of the spaces, and the text that fills them from
/// %mem and brings them back there.
struct Place {
  std::string module, declare, fill, back;
  std::string base;    ///< a register or name: where the bytes start
  std::string address; ///< of the last 16 of them
  /// The bytes of a thread as they were filled.
  const uint8_t *(*expected)(const FormRun &run, size_t thread);
};

/// "" is generic memory: global by another name.
Place placeOf(const std::string &space, bool writes = false);
/// A different byte everywhere, negative ones among them.
void fillMemory(FormRun &run);

/// What the parameter `bytes` of every kernel holds.
extern const uint64_t kParameter[4];

} // namespace raytention::simt::test

#endif // RAYTENTION_TESTS_SIMT_MEMORYPLACES_H
