//===- Syntax.h - PTX as it is written --------------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_DEVICE_SIMT_SYNTAX_H
#define RAYTENTION_RUNTIME_DEVICE_SIMT_SYNTAX_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace raytention::simt {

struct Token {
  enum Kind { End, Name, Number, String, Mark } kind = End;
  llvm::StringRef text;
  unsigned line = 1;
  bool is(llvm::StringRef mark) const {
    return (kind == Mark || kind == Name) && text == mark;
  }
};

/// Names keep their dots, `%` and `::`; comments vanish. The last is an End.
llvm::Expected<std::vector<Token>> tokenize(llvm::StringRef text);

struct Operand {
  enum Kind {
    Name,
    Integer,
    Float32,
    Float64,
    Address,
    Vector,
    Pair
  } kind = Name;
  llvm::StringRef name; ///< of a Name, or of an Address's base if it has one
  bool negated = false; ///< !%p
  uint64_t bits = 0;    ///< of a number
  int64_t offset = 0;   ///< of an Address
  std::vector<Operand> elements; ///< of a Vector or Pair
};

struct SourcePlace {
  uint32_t file = 0, line = 0, column = 0;
  bool operator<(const SourcePlace &other) const {
    return std::tie(file, line, column) <
           std::tie(other.file, other.line, other.column);
  }
};

struct Statement {
  enum Kind {
    Instruction,
    Label,
    Open,
    Close,
    Register,
    Variable,
    Location,
    Targets
  } kind = Instruction;
  unsigned line = 0;
  llvm::StringRef name; ///< opcode, label, register or variable
  // Instructions and target lists.
  bool guarded = false, guardNegated = false;
  llvm::StringRef guard;
  std::vector<Operand> operands;
  // Registers and variables.
  llvm::StringRef space, type;
  uint64_t count = 1;     ///< elements, or registers of a numbered family
  bool numbered = false;  ///< %r<count>
  uint32_t alignment = 0; ///< 0: natural
  bool isExtern = false, isArray = false;
  std::vector<Operand> initial;
  // Locations, and where what stands there was put in place of a call.
  SourcePlace place, caller;
};

struct Function {
  llvm::StringRef name;
  unsigned line = 0;
  bool isEntry = false, hasBody = false;
  std::vector<Statement> results, parameters, body;
  uint32_t maxThreads = 0;
  bool isExplicitCluster = false;
};

struct SyntaxTree {
  std::vector<Statement> variables;
  std::vector<Function> functions;
  std::map<uint32_t, std::string> files;
};

/// The tree refers to the text.
llvm::Expected<SyntaxTree> parseSyntax(llvm::StringRef text);

/// "ptx line 12: ..."
llvm::Error errorAt(unsigned line, const llvm::Twine &message);

} // namespace raytention::simt

#endif // RAYTENTION_RUNTIME_DEVICE_SIMT_SYNTAX_H
