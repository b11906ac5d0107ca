//===- Program.h - what a PTX text is assembled into ------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_DEVICE_SIMT_PROGRAM_H
#define RAYTENTION_RUNTIME_DEVICE_SIMT_PROGRAM_H

#include "runtime/device/simt/Products.h"
#include "runtime/device/simt/Simt.h"

#include <array>

namespace raytention::simt {

constexpr unsigned kLanes = 32;
using Mask = uint32_t;
constexpr Mask kAllLanes = ~Mask(0);

struct Warp;
struct Instruction;
/// Executes an instruction for the lanes of a mask that is not empty.
using Handler = void (*)(Warp &, const Instruction &, Mask);

/// What the scheduler has to know; all else is the handler's.
enum class Flow : uint8_t {
  Plain,
  Branch,        ///< to `target`
  IndexedBranch, ///< op[0] selects from `targets`
  Exit,
  Barrier,     ///< of the block: see BarrierForm
  Collective,  ///< lanes of a mask meet here, then the handler runs
  Phase,       ///< waits for a phase of an mbarrier
  Products,    ///< waits for those of the warpgroup
  ClusterWait, ///< for the phase of the cluster's barrier
  Trap,
  Sleep,
};

enum class Space : uint8_t { Generic, Global, Shared, Local, Const, Param };

/// Generic addresses of spaces that are not host memory. No host pointer of a
/// process reaches them.
constexpr uint64_t kSharedWindow = uint64_t(1) << 60;
constexpr uint64_t kLocalWindow = uint64_t(2) << 60;
constexpr uint64_t kParamWindow = uint64_t(3) << 60;
constexpr uint64_t kWindowMask = uint64_t(15) << 60;

enum class BarrierForm : uint8_t { Sync, Arrive, And, Or, Popc, ClusterArrive };

/// Registers are named by the offset of their lanes in the warp's register
/// file. In front of each stand 32 bytes, the last four of which are the mask
/// of lanes that were written; before it stand its RegisterMarks.
constexpr uint32_t kRegisterHeader = 32;
constexpr unsigned kMaxOperands = 18;

struct Instruction {
  Handler run = nullptr;
  Flow flow = Flow::Plain;
  Space space = Space::Generic;
  bool guarded = false, guardNegated = false;
  bool copies = false;   ///< a register as it is
  bool accesses = false; ///< memory
  /// Registers from registers: what was never written, or computed from that,
  /// stays so in the destination.
  bool computes = false;
  bool gathers = false; ///< the first source from other lanes
  bool selects = false; ///< the last source picks one of the two before it
  bool aligned = false; ///< all lanes of the warp must come together
  bool strong = false;  ///< volatile, relaxed, acquire, release or atomic
  bool releases = false, acquires = false;
  bool isNarrow = false; ///< of a scope that no other block is in
  bool fixedCount = false;
  bool isProduct = false; ///< wgmma.mma_async: `target` is its Product
  uint8_t destinations = 0, sources = 0;
  uint8_t bytes = 0;  ///< of one element in memory
  uint8_t vector = 1; ///< elements per lane
  uint8_t addressBits = 64, addressBits2 = 64, addressBits3 = 64;
  uint8_t flops = 0; ///< per lane
  uint8_t form = 0, form2 = 0, rounding = 0;
  bool flush = false, saturate = false;
  uint16_t mnemonic = 0;
  uint32_t guard = 0;
  uint32_t target = 0; ///< pc, or index of a list of targets
  uint32_t line = 0;   ///< of the PTX text
  uint32_t file = 0, sourceLine = 0;
  uint32_t caller = 0; ///< index of a call site from 1; 0: not inlined
  int64_t offset = 0;  ///< added to the address register
  int64_t offset2 = 0; ///< to a second one
  int64_t offset3 = 0; ///< and a third one
  uint32_t op[kMaxOperands] = {}; ///< destinations, then sources
};

/// A value that a register holds from the start, in every lane.
struct Constant {
  uint32_t reg = 0;
  uint8_t bytes = 4; ///< of one lane; 0: a predicate
  uint64_t bits = 0;
  bool addDynamicBase = false; ///< an address in dynamic shared memory
};

enum class Special : uint8_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  LaneId,
  WarpId,
  NWarpId,
  LanemaskEq,
  LanemaskLt,
  LanemaskLe,
  LanemaskGt,
  LanemaskGe,
  DynamicSmemSize,
  TotalSmemSize,
  SmId,
  NSmId,
  GridId,
  ClusterRank,
  ClusterRanks,
  ClusterCtaX,
  ClusterCtaY,
  ClusterCtaZ,
  ClusterCtasX,
  ClusterCtasY,
  ClusterCtasZ,
  ClusterX,
  ClusterY,
  ClusterZ,
  ClustersX,
  ClustersY,
  ClustersZ,
};

struct SpecialRegister {
  Special what;
  uint32_t reg;
};

/// One entry with all it calls, ready to run.
struct Kernel {
  Entry entry;
  std::vector<Instruction> code;
  std::vector<std::vector<uint32_t>> targets; ///< of indexed branches
  std::vector<Product> products;
  std::vector<Constant> constants;
  std::vector<SpecialRegister> specials;
  std::map<uint32_t, std::string> registerNames;
  uint32_t fileBytes = 0;
  uint32_t dynamicBase = 0; ///< first byte of dynamic shared memory
};

struct Variable {
  std::string name;
  uint64_t bytes = 0;
  uint32_t alignment = 1;
  bool constant = false;
  std::unique_ptr<uint8_t[]> storage;
  uint8_t *base = nullptr;
};

/// Where a function was put in place of its call.
struct CallSite {
  uint32_t file = 0, line = 0;
  uint32_t caller = 0; ///< of that place, as in Instruction
};

struct Program {
  std::vector<Entry> entries;
  std::vector<Kernel> kernels; ///< one per entry
  std::vector<std::string> mnemonics;
  std::map<uint32_t, std::string> files;
  std::vector<CallSite> callSites;
  std::vector<std::unique_ptr<Variable>> variables;
};

} // namespace raytention::simt

#endif // RAYTENTION_RUNTIME_DEVICE_SIMT_PROGRAM_H
