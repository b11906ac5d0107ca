//===- FormCase.h - one form, taken apart and run ---------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TESTS_SIMT_FORMCASE_H
#define RAYTENTION_TESTS_SIMT_FORMCASE_H

#include "runtime/device/simt/Forms.h"
#include "tests/simt/Support.h"

#include <functional>
#include <map>

namespace raytention::simt::test {

/// An operand as FormInfo writes it.
struct Slot {
  enum Kind { Dest, Source, Address, Number, Word } kind = Word;
  std::string type; ///< of a register; what its bits mean, where that is known
  bool negated = false;
  uint64_t least = 0, most = 0; ///< of a Number
};

/// A form whose parts are taken one by one, by those who know what they mean.
class FormCase {
public:
  explicit FormCase(const FormInfo &info);

  bool take(const std::string &part);
  /// One of these, or "".
  std::string takeAny(const std::vector<std::string> &choices);
  std::string takeType();
  /// A form with a part that nobody took is not covered.
  bool done() const { return next == parts.size(); }
  const std::string &last() const { return parts.back(); }
  size_t count(Slot::Kind kind) const;
  const Slot &source(size_t index) const;

  FormInfo info;
  std::vector<std::string> parts;
  std::vector<Slot> slots;

private:
  size_t next = 1;
};

using Columns = std::vector<std::vector<uint64_t>>;

/// How a form is run: by threads of blocks of 64, each with values of its own.
struct FormRun {
  Columns inputs;            ///< of each source, by thread
  size_t threads = 64;       ///< where there are no inputs
  std::string before, after; ///< text; %t is the thread, %mem its 32 bytes
  std::vector<std::string> addresses = {"%mem", "%mem"}, numbers;
  std::vector<uint8_t> memory; ///< 32 bytes per thread, changed by the run
  std::string module;          ///< text before the entry
  /// Findings that there have to be, by name; "" for none.
  std::string finding;
};

/// What each destination holds afterwards, by thread.
Columns runForm(const FormCase &form, FormRun &run);

/// Covers a form: what checks it. Empty where a part is not known.
using Check = std::function<void()>;
using MakeCheck = Check (*)(FormCase &);
/// By family; each kind of form adds its own.
using CheckTable = std::map<std::string, MakeCheck>;
Check checkFloat(FormCase &form);
void addNumberChecks(CheckTable &table);
void addFloatChecks(CheckTable &table);
void addBitChecks(CheckTable &table);
void addCompareChecks(CheckTable &table);
void addConvertChecks(CheckTable &table);
void addMemoryChecks(CheckTable &table);
Check checkAsync(FormCase &form);     ///< cp.async.bulk and .mbarrier
Check checkReduction(FormCase &form); ///< cp.reduce.async.bulk
/// What an atomic operation leaves in memory.
uint64_t atomicResult(const std::string &op, const std::string &type,
                      uint64_t old, uint64_t b, uint64_t c);
/// Eight values; pairs of 16-bit ones.
const std::vector<uint64_t> &atomicEdges(const std::string &type);
void addAsyncChecks(CheckTable &table);
void addAtomicChecks(CheckTable &table);
void addLaneChecks(CheckTable &table);
void addMatrixChecks(CheckTable &table);
void addControlChecks(CheckTable &table);
void addWarpgroupChecks(CheckTable &table);

//===----------------------------------------------------------------------===//
// Forms that map values to values
//===----------------------------------------------------------------------===//

/// From the sources' bits to the destinations'.
using Model = std::function<void(const uint64_t *, uint64_t *)>;

/// Runs the form on all combinations of edge values of its sources. With a
/// tolerance results may differ by that, relatively.
Check checkModel(const FormCase &form, Model model, double tolerance = 0);

unsigned bitsOfType(const std::string &type);
bool isFloatType(const std::string &type);
/// Any NaN is as good as another but for those PTX calls canonical.
bool agree(const std::string &type, uint64_t got, uint64_t wanted,
           double tolerance = 0);
uint64_t truncated(uint64_t bits, const std::string &type);

/// Every n-th of many cases where tests run slowly, under the sanitizers.
constexpr unsigned kSample =
#ifdef __SANITIZE_ADDRESS__
    16;
#else
    1;
#endif

} // namespace raytention::simt::test

#endif // RAYTENTION_TESTS_SIMT_FORMCASE_H
