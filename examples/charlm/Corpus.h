//===- Corpus.h - a text as training and validation ids ---------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_EXAMPLES_CHARLM_CORPUS_H
#define RAYTENTION_EXAMPLES_CHARLM_CORPUS_H

#include "raytention/Status.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Twine.h"

#include <cstdint>
#include <string>
#include <vector>

namespace raytention::charlm {

inline Status wrongInput(const llvm::Twine &message) {
  return Status(StatusCode::InvalidArgument, message.str());
}

/// A text as ids of the bytes that occur in it. The first nine tenths are for
/// training, the rest for validation.
struct Corpus {
  std::vector<unsigned char> alphabet; ///< byte of each id, ascending
  std::vector<int32_t> ids;
  int64_t split = 0; ///< first position of the validation text

  int64_t vocab() const { return int64_t(alphabet.size()); }
  llvm::ArrayRef<int32_t> training() const {
    return llvm::ArrayRef<int32_t>(ids).take_front(size_t(split));
  }
  llvm::ArrayRef<int32_t> validation() const {
    return llvm::ArrayRef<int32_t>(ids).drop_front(size_t(split));
  }
  std::string textOf(llvm::ArrayRef<int32_t> some) const;
};

Corpus makeCorpus(llvm::StringRef text);

/// Reads a file; one that cannot be read or is empty is an error.
Result<Corpus> loadCorpus(llvm::StringRef path);

} // namespace raytention::charlm

#endif // RAYTENTION_EXAMPLES_CHARLM_CORPUS_H
