//===- Text.cpp - text to tokens and back ---------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/rt/Text.h"

#include "llvm/ADT/StringMap.h"

using llvm::StringRef;

namespace raytention::tool {

static bool isWord(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_' || c >= 0x80;
}

/// The ASCII white space, whatever the locale.
static bool isSpace(unsigned char c) { return c == ' ' || (c >= 9 && c <= 13); }

/// Length of the token that starts `text`, which is not empty.
static size_t tokenLength(StringRef text) {
  bool (*kind)(unsigned char) = isWord(text[0])    ? isWord
                                : isSpace(text[0]) ? isSpace
                                                   : nullptr;
  size_t length = 1;
  while (kind && length < text.size() && kind(text[length]))
    ++length;
  return length;
}

static Tokens bytes(StringRef text) {
  Tokens tokens;
  for (int c = 0; c < 256; ++c)
    tokens.texts.push_back(std::string(1, char(c)));
  tokens.ids.reserve(text.size());
  for (unsigned char c : text)
    tokens.ids.push_back(c);
  return tokens;
}

Tokens tokenize(StringRef text, Vocabulary vocabulary) {
  if (vocabulary == Vocabulary::Byte)
    return bytes(text);
  Tokens tokens;
  llvm::StringMap<int32_t> known;
  while (!text.empty()) {
    StringRef token = text.take_front(tokenLength(text));
    text = text.drop_front(token.size());
    auto [entry, isNew] =
        known.try_emplace(token, int32_t(tokens.texts.size()));
    if (isNew)
      tokens.texts.push_back(token.str());
    tokens.ids.push_back(entry->second);
  }
  return tokens;
}

std::string detokenize(const Tokens &tokens, size_t begin, size_t end) {
  std::string text;
  for (size_t i = begin; i < end && i < tokens.ids.size(); ++i)
    text += tokens.texts[tokens.ids[i]];
  return text;
}

} // namespace raytention::tool
