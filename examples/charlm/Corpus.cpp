//===- Corpus.cpp - a text as training and validation ids -----------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "examples/charlm/Corpus.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <array>

namespace raytention::charlm {

std::string Corpus::textOf(llvm::ArrayRef<int32_t> some) const {
  std::string text;
  for (int32_t id : some)
    text += char(alphabet[size_t(id)]);
  return text;
}

Corpus makeCorpus(llvm::StringRef text) {
  std::array<int32_t, 256> idOf;
  idOf.fill(-1);
  for (unsigned char byte : text)
    idOf[byte] = 0;
  Corpus corpus;
  for (size_t byte = 0; byte < idOf.size(); ++byte)
    if (idOf[byte] == 0) {
      idOf[byte] = int32_t(corpus.alphabet.size());
      corpus.alphabet.push_back(static_cast<unsigned char>(byte));
    }
  corpus.ids.reserve(text.size());
  for (unsigned char byte : text)
    corpus.ids.push_back(idOf[byte]);
  corpus.split = int64_t(text.size()) * 9 / 10;
  return corpus;
}

Result<Corpus> loadCorpus(llvm::StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return wrongInput("--text: expected a readable file, got '" + path +
                      "': " + file.getError().message());
  if ((*file)->getBufferSize() == 0)
    return wrongInput("--text: expected text, got the empty file "
                      "'" +
                      path + "'");
  return makeCorpus((*file)->getBuffer());
}

} // namespace raytention::charlm
