//===- ShadowAccess.h - accesses as the shadows see them --------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_DEVICE_SIMT_SHADOWACCESS_H
#define RAYTENTION_RUNTIME_DEVICE_SIMT_SHADOWACCESS_H

#include "runtime/device/simt/Machine.h"

namespace raytention::simt {

/// An access by a lane of the warp, now.
Toucher makeToucher(const Warp &warp, unsigned lane, Touch kind);

/// Notes an access of shared memory that is within bounds; gives the worst
/// conflict. `fresh` says whether a byte was never written by this block.
Conflict touchShared(Block &block, uint32_t offset, uint32_t bytes,
                     const Toucher &by, bool &fresh);
inline Conflict touchShared(Block &block, uint32_t offset, uint32_t bytes,
                            const Toucher &by) {
  bool fresh = false;
  return touchShared(block, offset, bytes, by, fresh);
}
/// Of global memory that is allocated.
Conflict touchGlobal(Worker &worker, uint64_t address, uint64_t bytes,
                     const Toucher &by);

/// Reports at the instruction at work. `what` is "this read", "this write"...
void reportConflict(Warp &warp, unsigned lane, uint64_t address,
                    const Conflict &conflict, llvm::StringRef what,
                    Space space);
/// Of a read of shared memory that nobody wrote.
void reportFresh(Warp &warp, unsigned lane, uint64_t address);

/// All lanes of an ordinary access whose bytes are within bounds.
void shadowShared(Warp &warp, const Access &access, Mask lanes);
void shadowGlobal(Warp &warp, const Access &access, Mask lanes);

} // namespace raytention::simt

#endif // RAYTENTION_RUNTIME_DEVICE_SIMT_SHADOWACCESS_H
