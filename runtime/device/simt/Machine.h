//===- Machine.h - what runs a kernel ---------------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_DEVICE_SIMT_MACHINE_H
#define RAYTENTION_RUNTIME_DEVICE_SIMT_MACHINE_H

#include "runtime/device/simt/AsyncCopy.h"
#include "runtime/device/simt/ClusterBarrier.h"
#include "runtime/device/simt/Mbarrier.h"
#include "runtime/device/simt/Order.h"
#include "runtime/device/simt/Print.h"
#include "runtime/device/simt/Program.h"
#include "runtime/device/simt/Shadow.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <mutex>

namespace raytention::simt {

struct Block;
struct Worker;

constexpr uint32_t kNoObject = ~0u, kClusterObject = ~1u;

/// Lanes of a warp that stand at the same place.
struct Fragment {
  /// Apart: other lanes of the warp must come before the instruction starts.
  /// AtPhase: the phase of an mbarrier has to be complete.
  enum State : uint8_t { Ready, AtBarrier, AtPhase, Apart };
  uint32_t pc = 0;
  Mask mask = 0;
  State state = Ready;
  uint8_t barrier = 0; ///< where it waits
  /// Address of the mbarrier it waits for; of products, kNoObject; of the
  /// cluster's barrier, kClusterObject.
  uint32_t object = 0;
  bool forced = false; ///< goes on without what will not come
};

struct Warp {
  Block *block = nullptr;
  uint8_t *file = nullptr; ///< registers
  unsigned index = 0;
  Mask exists = 0; ///< lanes with a thread
  Mask alive = 0;
  uint64_t steps = 0;
  uint32_t turns = 0; ///< quanta that ended without an end or a wait
  uint32_t pc = 0;    ///< of the instruction at work
  /// Lanes to which it gives what was never written.
  Mask undefined = 0;
  std::vector<Fragment> fragments;
  std::array<LaneCopies, kLanes> copies;
  WarpProducts products;

  template <class T> T *reg(uint32_t offset) {
    return reinterpret_cast<T *>(file + offset);
  }
  Mask &written(uint32_t offset) { return *reg<Mask>(offset - sizeof(Mask)); }
  Mask &predicate(uint32_t offset) { return *reg<Mask>(offset); }
  RegisterMarks &marks(uint32_t offset) {
    return *reg<RegisterMarks>(offset - sizeof(Mask) - sizeof(RegisterMarks));
  }
};

struct Barrier {
  uint32_t arrived = 0;                ///< threads
  uint32_t expected = 0;               ///< 0: all that have not exited
  uint32_t warps = 0;                  ///< waiting or arrived
  std::array<uint32_t, 32> arrivals{}; ///< times, by warp
  uint32_t pc = 0;
  uint32_t votes = 0; ///< threads whose predicate held
  uint32_t voters = 0;
};

constexpr unsigned kBarriers = 16;

struct Block {
  Worker *worker = nullptr;
  uint64_t linear = 0;
  Dim3 index;
  std::vector<uint8_t> shared;
  std::vector<uint8_t> local; ///< by thread
  std::unique_ptr<CellRange> shadow;
  std::vector<std::unique_ptr<uint8_t[]>> files;
  std::vector<Warp> warps;
  std::array<Barrier, kBarriers> barriers;
  Mbarriers mbarriers;
  ClusterBarrier clusterBarrier;
  std::vector<Warpgroup> warpgroups;
  StrongWrites strongWrites;
  std::array<Clock, kMaxWarps> clocks; ///< by warp
  uint32_t now = 1, start = 1;
  uint64_t steps = 0;
  bool abandoned = false;
  bool isBarrierFull = false; ///< one whose number of threads has come
};

/// What all workers of a launch share.
struct Launch {
  const Program &program;
  const Kernel &kernel;
  Dim3 grid, blockShape;
  uint32_t dynamicSharedBytes = 0, sharedBytes = 0;
  llvm::ArrayRef<uint8_t> arguments;
  const Memory &memory;
  LaunchOptions options;
  GlobalShadow shadow;
  GridReleases releases;
  /// Atomics of different threads take turns by address.
  std::array<std::mutex, 64> atomicLocks;
  std::mutex &atomicLock(uint64_t address) {
    return atomicLocks[address / 8 % atomicLocks.size()];
  }
};

struct IssueCount {
  uint64_t warps = 0, lanes = 0;
};

struct FoundAt {
  Finding finding;
  uint64_t block = 0;
};

/// One thread of the host: runs blocks one after another.
struct Worker {
  explicit Worker(Launch &launch);

  Launch &launch;
  Block block;
  bool checks, profiling;
  bool followsProducts; ///< checks a kernel with wgmma
  Profile profile;
  PrintBuffer printed;
  std::vector<IssueCount> issued; ///< by pc
  std::map<std::pair<uint32_t, FindingKind>, FoundAt> findings;
  const Allocation *lastAllocation = nullptr;
  std::array<std::pair<uint64_t, GlobalShadow::Page *>, 64> pages{};
  std::vector<Allocation> variables; ///< of the module, sorted

  void runBlock(uint64_t linear);

  /// The message is built only where the finding is new.
  void report(FindingKind kind, const Warp &warp, uint32_t pc, unsigned lane,
              uint64_t address, llvm::function_ref<std::string()> message);
  /// The allocation that holds all bytes, or null.
  const Allocation *allocation(uint64_t address, uint64_t bytes);
  GlobalShadow::Page &shadowPage(uint64_t number);
};

/// Empty where the text does not name it.
std::string fileName(const Program &program, uint32_t file);
/// The calls around an instruction, innermost first.
std::vector<SourceLine> callersOf(const Program &program,
                                  const Instruction &at);
/// "k.cu:12", "lib.h:3 called at k.cu:12" or "ptx line 40".
std::string describePlace(const Program &program, const Instruction &at);

/// Lanes that did not come to an instruction with the others, and where they
/// stand.
void reportApart(Warp &warp, const Instruction &at, const Fragment &fragment,
                 Mask missing);
std::string describeLanes(Mask lanes);

//===----------------------------------------------------------------------===//
// Memory accesses
//===----------------------------------------------------------------------===//

enum class AccessKind : uint8_t {
  Load,
  Store,
  Atomic,
  AsyncRead,
  AsyncWrite,
  // Checked for bounds and alignment only:
  Object, ///< an mbarrier
  BulkRead,
  BulkWrite,
};
inline bool writes(AccessKind kind) {
  return kind == AccessKind::Store || kind == AccessKind::Atomic ||
         kind == AccessKind::AsyncWrite || kind == AccessKind::BulkWrite;
}

/// One access of a warp: checked, counted, and turned into host pointers.
struct Access {
  AccessKind kind = AccessKind::Load;
  Space space = Space::Generic;
  unsigned bytes = 0;     ///< per lane
  unsigned alignment = 0; ///< 0: that of its bytes
  bool strong = false;
  Mask mayChange = 0; ///< lanes whose bytes of global memory are not read-only
  uint64_t address[kLanes];
  uint8_t *pointer[kLanes];
};

/// Fills the pointers; gives the lanes that may go on.
Mask resolve(Warp &warp, Access &access, Mask lanes);
/// Fills addresses from the address register and the offset.
void computeAddresses(Warp &warp, const Instruction &at, uint32_t reg,
                      Mask lanes, uint64_t *address);
/// An address of shared memory, generic or not, as an offset.
inline uint64_t sharedOffset(uint64_t address) {
  return (address & kWindowMask) == kSharedWindow ? address - kSharedWindow
                                                  : address;
}
uint64_t addressOf(Warp &warp, uint32_t reg, unsigned bits, int64_t offset,
                   unsigned lane);

void countShared(SharedTraffic &traffic, const Access &access, Mask lanes);
void countGlobal(GlobalTraffic &traffic, const Access &access, Mask lanes);

//===----------------------------------------------------------------------===//
// Scheduling
//===----------------------------------------------------------------------===//

enum class RunResult { Waits, Exited, Quantum };

/// Runs fragments until all wait or have exited, or the quantum is over.
RunResult runWarp(Warp &warp, uint64_t quantum);
/// Lanes arrive at the barrier of the instruction; false where they wait.
bool arriveAtBarrier(Warp &warp, const Instruction &at, Fragment &fragment);
/// Releases barriers that need no more threads; whether there were any.
bool releaseBarriers(Block &block);
/// Whether the lanes may pass the wait for a phase; their predicates are set
/// where they may, or have to.
/// `object` is the address of an mbarrier that they wait for.
bool passPhase(Warp &warp, const Instruction &at, Mask lanes, bool forced,
               uint32_t &object);
/// Orders all the warp did before against what its lanes do next.
void tickWarp(Warp &warp);
/// As the text has it.
std::string registerName(const Warp &warp, uint32_t reg);
/// Reports lanes of a register that were never written.
void checkWritten(Warp &warp, uint32_t reg, Mask lanes);
/// Lets the first fragment that waits for lanes of its warp go on without them.
bool forceOneApart(Warp &warp);
bool hasReady(const Warp &warp);

template <class F> void forEachLane(Mask lanes, F f) {
  for (Mask rest = lanes; rest; rest &= rest - 1)
    f(static_cast<unsigned>(__builtin_ctz(rest)));
}

} // namespace raytention::simt

#endif // RAYTENTION_RUNTIME_DEVICE_SIMT_MACHINE_H
