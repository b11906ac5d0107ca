//===- Products.h - what warpgroup products leave unfinished -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_DEVICE_SIMT_PRODUCTS_H
#define RAYTENTION_RUNTIME_DEVICE_SIMT_PRODUCTS_H

#include <cstdint>
#include <string>
#include <vector>

namespace raytention::simt {

struct Instruction;
struct Warp;

enum class ElementType : uint8_t { BFloat, Half, TensorFloat };

/// What one wgmma.mma_async says, its accumulators included: they are too many
/// for the operands of an Instruction.
struct Product {
  unsigned columns = 0, depth = 0;
  ElementType type = ElementType::BFloat;
  bool halfAccumulators = false;
  bool registersOfA = false;
  bool transposedA = false, transposedB = false; ///< M or N lies together
  bool negative = false; ///< one of A and B is, not both
  std::vector<uint32_t> accumulators;
  std::string name; ///< "wgmma.m64n128k16.bf16"

  /// Products of one shape may follow one another on the same accumulators.
  uint32_t shape() const {
    return columns << 8 | static_cast<uint32_t>(type) << 1 | halfAccumulators;
  }
};

/// How products use a register; lies in front of it. Groups count from 1; one
/// that was waited for is over, whatever is written here.
struct RegisterMarks {
  uint32_t result = 0;  ///< group of the product that writes it
  uint32_t shape = 0;   ///< of that product
  uint32_t operand = 0; ///< last group that reads it as a part of A
  uint32_t written = 0; ///< fences before the last ordinary write
};

/// A product that was issued and not waited for.
struct PendingProduct {
  const Product *product = nullptr;
  uint32_t pc = 0, group = 0;
  uint32_t issue = 0; ///< from 1
  uint64_t a = 0, b = 0;
  bool hasRead = false; ///< shared memory
};

struct WarpProducts {
  std::vector<PendingProduct> pending;
  uint32_t committed = 0, finished = 0; ///< groups
  uint32_t fences = 1;
  uint32_t issued = 0;             ///< products
  std::vector<uint32_t> groupEnds; ///< issued, by committed group

  bool isPending(uint32_t group) const { return group > finished; }
};

/// The products of four warps, which must all issue the same.
struct Warpgroup {
  struct Issue {
    uint32_t pc = 0, warp = 0;
    uint64_t a = 0, b = 0; ///< descriptors
  };
  std::vector<Issue> issues;
  uint32_t dropped = 0;  ///< issues that all four have made
  bool diverged = false; ///< reported: what follows from it is not
};

constexpr unsigned kWarpsPerGroup = 4;

/// Before an ordinary instruction runs: it must not touch a register of a
/// product in flight. A copy passes on what is known of its sources.
void noteRegisterUse(Warp &warp, const Instruction &at);
/// The lanes that are left after some ended; alive says which.
void leaveProducts(Warp &warp);
/// All four warps of the group issue this product, which was counted, with
/// these descriptors.
void noteIssue(Warp &warp, uint64_t a, uint64_t b);
/// Accumulators and registers of A of a product about to be issued.
void checkFragments(Warp &warp, const Product &product, const uint32_t *a,
                    uint32_t lanes, uint32_t accumulates);
void beginProduct(Warp &warp, const Product &product, const uint32_t *a,
                  uint64_t descriptorA, uint64_t descriptorB);
/// Whether the products of all but the last `left` groups are over: they are
/// the warpgroup's, and begin when its four warps have issued them.
bool waitForProducts(Warp &warp, uint64_t left, bool forced);

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// Reads the 16 rows of this warp, or the 16 columns of them where A is
/// transposed, one after another.
void readMatrixA(Warp &warp, const Product &product, uint64_t descriptor,
                 uint8_t *to);
/// Reads the rows of N, or the rows of K where B is transposed.
void readMatrixB(Warp &warp, const Product &product, uint64_t descriptor,
                 uint8_t *to);
/// Reports a descriptor that no layout has.
void checkDescriptor(Warp &warp, char operand, uint64_t bits);
/// From now on who knows of the end may write what the warp's part read.
void endReads(Warp &warp, const PendingProduct &pending);

/// Whose reads those of products are.
unsigned warpgroupAgent(const Warp &warp);

/// "0x1f"
std::string describeHex(uint64_t value);

} // namespace raytention::simt

#endif // RAYTENTION_RUNTIME_DEVICE_SIMT_PRODUCTS_H
