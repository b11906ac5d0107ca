//===- PairCover.cpp - choices that hold every pair of values --*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/fuzz/PairCover.h"
#include "tests/fuzz/Draws.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace raytention;
using namespace raytention::fuzz;

std::vector<Choice> fuzz::findChoices(llvm::ArrayRef<int> counts,
                                      IsAllowed isAllowed) {
  std::vector<Choice> choices;
  for (Choice choice(counts.size(), 0);;) {
    if (isAllowed(choice))
      choices.push_back(choice);
    size_t place = 0;
    while (place < counts.size() && ++choice[place] == counts[place])
      choice[place++] = 0;
    if (place == counts.size())
      return choices;
  }
}

namespace {

/// Which pairs are covered. A value has a number among those of all parameters.
class Pairs {
public:
  explicit Pairs(llvm::ArrayRef<int> counts) {
    for (int count : counts) {
      starts.push_back(numValues);
      numValues += count;
    }
    covered.resize(numValues * numValues);
  }
  int countNew(const Choice &choice) const {
    int count = 0;
    forEach(choice, [&](int pair) { count += !covered[pair]; });
    return count;
  }
  void add(const Choice &choice) {
    forEach(choice, [&](int pair) { covered.set(pair); });
  }

private:
  void forEach(const Choice &choice,
               llvm::function_ref<void(int)> visit) const {
    for (size_t i = 0; i < choice.size(); ++i)
      for (size_t k = 0; k < i; ++k)
        visit((starts[i] + choice[i]) * numValues + starts[k] + choice[k]);
  }

  std::vector<int> starts;
  int numValues = 0;
  llvm::BitVector covered;
};

} // namespace

std::vector<Choice> fuzz::coverPairs(llvm::ArrayRef<int> counts,
                                     IsAllowed isAllowed, uint64_t seed) {
  std::vector<Choice> left = findChoices(counts, isAllowed), cover;
  Draws draws(seed, 0);
  for (size_t i = left.size(); i > 1; --i)
    std::swap(left[i - 1], left[draws.integer(0, i - 1)]);
  // Greedy: each time the one with most that is new.
  for (Pairs pairs(counts); !left.empty();) {
    const Choice *best = &left.front();
    int most = 0;
    for (const Choice &choice : left)
      if (int count = pairs.countNew(choice); count > most)
        best = &choice, most = count;
    pairs.add(*best);
    cover.push_back(*best);
    llvm::erase_if(left, [&](const Choice &choice) {
      return pairs.countNew(choice) == 0;
    });
  }
  return cover;
}
