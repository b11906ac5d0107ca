//===- TextTest.cpp - text to tokens and back -----------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/rt/Text.h"
#include "tests/unit/Support.h"

#include "gtest/gtest.h"

using namespace raytention::tool;
using namespace raytention::test;

TEST(Text, CutsWords) {
  Tokens tokens = tokenize("To be, or\n\n not_2 be?!", Vocabulary::Word);
  std::vector<std::string> expected = {"To",    " ",     "be", ",", "or",
                                       "\n\n ", "not_2", "?",  "!"};
  EXPECT_EQ(tokens.texts, expected);
  EXPECT_EQ(tokens.ids,
            (std::vector<int32_t>{0, 1, 2, 3, 1, 4, 5, 6, 1, 2, 7, 8}));
}

TEST(Text, KeepsHighBytesInWords) {
  Tokens tokens = tokenize("na\xc3\xafve\xff 1", Vocabulary::Word);
  EXPECT_EQ(tokens.texts,
            (std::vector<std::string>{"na\xc3\xafve\xff", " ", "1"}));
}

TEST(Text, TakesZeroBytesAsTokens) {
  llvm::StringRef text("a\0\0b", 4);
  Tokens tokens = tokenize(text, Vocabulary::Word);
  EXPECT_EQ(tokens.ids, (std::vector<int32_t>{0, 1, 1, 2}));
  EXPECT_EQ(detokenize(tokens, 0, 4), text);
}

TEST(Text, CutsBytes) {
  Tokens tokens = tokenize("a\xff", Vocabulary::Byte);
  EXPECT_EQ(tokens.vocab(), 256);
  EXPECT_EQ(tokens.ids, (std::vector<int32_t>{'a', 255}));
  EXPECT_EQ(tokenize("", Vocabulary::Byte).ids.size(), 0u);
  EXPECT_EQ(tokenize("", Vocabulary::Word).vocab(), 0);
}

TEST(Text, CountsThePlays) {
  std::string text = readFile(RAYTENTION_TEST_DATA "/plays.txt");
  ASSERT_FALSE(text.empty());
  Tokens words = tokenize(text, Vocabulary::Word);
  EXPECT_EQ(words.ids.size(), 465578u);
  EXPECT_EQ(words.vocab(), 13338);
  EXPECT_EQ(detokenize(words, 0, words.ids.size()), text);
  Tokens bytes = tokenize(text, Vocabulary::Byte);
  EXPECT_EQ(detokenize(bytes, 0, bytes.ids.size()), text);
}
