//===- Simt.h - a machine that executes PTX on the CPU ----------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX text in, results, findings and a profile out. What a kernel does wrong is
// a finding of its launch, not an error; errors are for what cannot be run.
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_DEVICE_SIMT_SIMT_H
#define RAYTENTION_RUNTIME_DEVICE_SIMT_SIMT_H

#include "runtime/device/simt/Profile.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace raytention::simt {

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
};

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// Where an argument lies among the argument bytes of a launch.
struct Parameter {
  std::string name;
  uint32_t offset = 0, size = 0, alignment = 1;
};

/// A kernel that can be launched.
struct Entry {
  std::string name;
  std::vector<Parameter> parameters;
  uint32_t parameterBytes = 0; ///< end of the last parameter
  uint32_t staticSharedBytes = 0;
  uint32_t localBytes = 0; ///< per thread
  /// From __launch_bounds__; 0: none.
  uint32_t maxThreads = 0;
};

/// A __device__ or __constant__ variable: its storage, which lives as long as
/// the module.
struct Symbol {
  void *address = nullptr;
  uint64_t bytes = 0;
  bool constant = false;
};

struct Program; // internal

/// A parsed PTX text. Copies share it, its variables included.
class Module {
public:
  llvm::ArrayRef<Entry> entries() const;
  /// Null where there is no such entry.
  const Entry *findEntry(llvm::StringRef name) const;
  /// An error that names what exists where there is no such variable.
  llvm::Expected<Symbol> findSymbol(llvm::StringRef name) const;
  const Program &program() const { return *impl; }

private:
  friend llvm::Expected<Module> parse(llvm::StringRef);
  std::shared_ptr<Program> impl;
};

/// Reads PTX. Errors name the line, what was expected and what was found. The
/// whole text is checked: unknown opcodes and forms stop here, not at a launch.
llvm::Expected<Module> parse(llvm::StringRef ptx);

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

struct Allocation {
  uint64_t base = 0, bytes = 0;
  bool readOnly = false;
  std::string name;
  bool contains(uint64_t address, uint64_t size) const {
    return address >= base && size <= bytes && address - base <= bytes - size;
  }
};

/// What kernels may touch. Addresses are host pointers. Not to be changed
/// while a launch runs.
class Memory {
public:
  Memory() = default;
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  ~Memory();

  /// Owned memory, aligned to 256 bytes, filled with 0xFF bytes.
  llvm::Expected<void *> allocate(uint64_t bytes, llvm::StringRef name);
  /// Memory of the caller's; must not overlap what is there.
  llvm::Error add(void *base, uint64_t bytes, llvm::StringRef name,
                  bool readOnly = false);
  /// Frees or forgets what starts at `base`.
  llvm::Error remove(void *base);
  llvm::Error setReadOnly(void *base, bool readOnly);

  /// The allocation that holds the address, or null.
  const Allocation *find(uint64_t address) const;
  /// The allocation that ends last before the address, or null.
  const Allocation *findBefore(uint64_t address) const;
  size_t size() const { return allocations.size(); }

private:
  struct Held {
    Allocation allocation;
    void *owned = nullptr;
  };
  std::map<uint64_t, Held> allocations; ///< by base
};

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

struct LaunchOptions {
  /// Off: no races, uninitialised reads, divergence or alignment; accesses out
  /// of bounds, deadlocks and the step limit are always found.
  bool checks = true;
  bool profile = true;
  unsigned threads = 0;     ///< 0: all cores
  uint64_t shuffleSeed = 0; ///< 0: blocks in order; else a drawn order
  /// Warp instructions per block. After a few blocks that do not end, or trap,
  /// the rest of the launch is left out.
  uint64_t stepLimit = uint64_t(1) << 26;
  unsigned maxFindings = 32;
  /// Of what kernels print, by printf; later messages are left out.
  uint64_t maxPrintedBytes = uint64_t(1) << 20;
};

enum class FindingKind {
  OutOfBounds,
  Misaligned,
  ReadOnlyWrite,
  UninitializedShared,
  UninitializedRegister,
  RaceInBlock,
  RaceBetweenBlocks,
  DivergentBarrier,
  DivergentCollective,
  LaneNotInMask,
  AsyncCopyUnfinished,
  AsyncReadUnfinished,
  AsyncCopyAtExit,
  NoProxyFence,
  BarrierMisuse,
  BulkCopyMisuse,
  WgmmaUnfinished,
  WgmmaUnfenced,
  WgmmaAtExit,
  BadDescriptor,
  Deadlock,
  StepLimit,
  Trap,
  AssertionFailed,
};

/// "out-of-bounds", "race-between-blocks", ...
llvm::StringRef getName(FindingKind kind);

struct SourceLine {
  std::string file;
  unsigned line = 0;
};

struct Finding {
  FindingKind kind = FindingKind::OutOfBounds;
  std::string message;  ///< expected and got, without the place
  unsigned ptxLine = 0; ///< 1-based
  std::string file;     ///< CUDA file; empty without line information
  unsigned line = 0;    ///< CUDA line; 0 without line information
  /// The calls that were replaced by their bodies around it, innermost first.
  std::vector<SourceLine> callers;
  Dim3 block{0, 0, 0};
  unsigned warp = 0;    ///< within the block
  unsigned lane = 0;    ///< first lane concerned
  uint64_t address = 0; ///< 0 where none is concerned
  /// How often the same kind was found at the same instruction.
  uint64_t count = 1;

  /// "k.cu:12: out-of-bounds: ... (block 0,0,0 warp 1 lane 3, ptx line 80)";
  /// "lib.h:3 called at k.cu:12: ..."
  std::string text() const;
};

/// What a launch left, apart from memory.
struct Report {
  /// By instruction and kind, the first maxFindings; each the one of the lowest
  /// block that was seen.
  std::vector<Finding> findings;
  uint64_t findingsInAll = 0; ///< with those not kept and repetitions
  Profile profile;            ///< empty where not asked for
  /// What printf gave, by block; within a block as its warps ran. For callers
  /// to show: nothing is printed here.
  std::string printed;
  uint64_t messagesLeftOut = 0; ///< calls of printf whose text did not fit
  bool clean() const { return findingsInAll == 0; }
};

/// Runs every block of the grid. `arguments` holds each parameter at its
/// offset. Errors: no such entry, argument bytes that do not fit, a shape or an
/// amount of shared memory no device has.
llvm::Expected<Report> launch(const Module &module, llvm::StringRef entry,
                              Dim3 grid, Dim3 block,
                              uint32_t dynamicSharedBytes,
                              llvm::ArrayRef<uint8_t> arguments, Memory &memory,
                              const LaunchOptions &options = {});

} // namespace raytention::simt

#endif // RAYTENTION_RUNTIME_DEVICE_SIMT_SIMT_H
