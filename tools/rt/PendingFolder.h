//===- PendingFolder.h - a folder that no end leaves behind -----*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TOOLS_RT_PENDINGFOLDER_H
#define RAYTENTION_TOOLS_RT_PENDINGFOLDER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace raytention::tool {

/// Makes a folder from a template that ends in XXXXXX, with the rights of any
/// new one. Until keepPendingFolder() it goes, with the files `names` in it,
/// when a signal ends the process: one from outside, a limit or a crash.
/// Signals that are ignored or have a handler stay with it. Only SIGKILL leaves
/// the folder; the next of the same template removes it, if it has been there
/// for a minute. One may be pending at a time. Returns errno, or 0.
int makePendingFolder(std::string &name, llvm::ArrayRef<llvm::StringRef> names);

/// Removes the folder and its files now. May be called from the handler of a
/// signal, and where nothing is pending.
void removePendingFolder();

/// From now on the folder stays, and signals do what they did before.
void keepPendingFolder();

} // namespace raytention::tool

#endif // RAYTENTION_TOOLS_RT_PENDINGFOLDER_H
