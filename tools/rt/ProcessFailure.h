//===- ProcessFailure.h - the last line of a process that fails -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TOOLS_RT_PROCESSFAILURE_H
#define RAYTENTION_TOOLS_RT_PROCESSFAILURE_H

namespace raytention::tool {

/// From now on what cannot be returned as an error ends the process with one
/// line, exit code 3 and nothing left of --out: memory that new or LLVM does
/// not get, and what LLVM takes to be fatal. A file that grows past its limit
/// (ulimit -f) is a failed write, no signal.
void reportProcessFailures();

} // namespace raytention::tool

#endif // RAYTENTION_TOOLS_RT_PROCESSFAILURE_H
