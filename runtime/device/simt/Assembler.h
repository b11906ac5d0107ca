//===- Assembler.h - statements to instructions -----------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_DEVICE_SIMT_ASSEMBLER_H
#define RAYTENTION_RUNTIME_DEVICE_SIMT_ASSEMBLER_H

#include "runtime/device/simt/Program.h"
#include "runtime/device/simt/Syntax.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"

#include <map>
#include <optional>
#include <set>

namespace raytention::simt {

enum class Type : uint8_t {
  None,
  Pred,
  B8,
  B16,
  B32,
  B64,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  F16,
  BF16,
  F32,
  F64,
  F16x2,
  BF16x2,
  TF32,
  U16x2,
  S16x2,
};

Type parseType(llvm::StringRef text);
llvm::StringRef nameOf(Type type);
unsigned bitsOf(Type type); ///< 1 for a predicate
inline bool isSigned(Type t) { return t >= Type::S8 && t <= Type::S64; }
inline bool isInteger(Type t) { return t >= Type::B8 && t <= Type::S64; }
inline bool isFloat(Type t) { return t >= Type::F16 && t <= Type::BF16x2; }
inline bool isPair(Type t) {
  return t == Type::F16x2 || t == Type::BF16x2 || t >= Type::U16x2;
}

enum Rounding : uint8_t {
  RoundNearest,
  RoundZero,
  RoundDown,
  RoundUp,
  RoundAway
};

class KernelAssembler;
class FormChooser;
using Types = llvm::ArrayRef<Type>;

/// One instruction being built: the parts of its mnemonic and its operands are
/// taken one by one. Parts may stand in any order, as ptxas has it, but for
/// types; builders take them in that of the PTX manual. The first complaint
/// stays; what follows it is moot. With a chooser there is no text: what is
/// taken is chosen, and so all forms are listed (Forms.h). A builder therefore
/// asks only the functions here what its statement is.
class Form {
public:
  Form(KernelAssembler &kernel, const Statement &statement,
       FormChooser *chooser = nullptr);

  Instruction code;

  //===--------------------------------------------------------------------===//
  // The mnemonic
  //===--------------------------------------------------------------------===//

  llvm::StringRef family() const { return parts.front(); }
  /// Takes the part if it is there.
  bool has(llvm::StringRef part) { return maybe({part}, 1) == 0; }
  /// Takes the first part that is one of these; gives its index.
  unsigned oneOf(llvm::ArrayRef<llvm::StringRef> choices,
                 llvm::StringRef inWords = "");
  /// Like oneOf, but may be missing: then `otherwise`.
  unsigned maybe(llvm::ArrayRef<llvm::StringRef> choices, unsigned otherwise);
  Type type(Types types);
  /// The type at the end of the mnemonic, which is yet to be taken.
  Type lastType(Types types);
  /// .rn, .rz, .rm or .rp.
  Rounding rounding();
  /// `otherwise` where there is none.
  Rounding maybeRounding(Rounding otherwise = RoundNearest);
  /// Parts that change nothing of what is executed: at most one of them, which
  /// is given back, or "".
  llvm::StringRef ignores(llvm::ArrayRef<llvm::StringRef> choices);
  /// Exactly one of them.
  llvm::StringRef ignoresOne(llvm::ArrayRef<llvm::StringRef> choices);

  //===--------------------------------------------------------------------===//
  // Operands
  //===--------------------------------------------------------------------===//

  size_t operandsLeft() const;
  /// Null where none is left, and where forms are listed.
  const Operand *peekOperand() const;
  const Operand *takeOperand();
  /// What the operands say of the form: the answer by the text, or each.
  bool either(bool inText) { return among(2, inText); }
  unsigned among(unsigned count, unsigned inText);
  /// Says what an operand is that is taken by other means; see listForms.
  void shape(const llvm::Twine &text);
  void dest(Type type);
  void source(Type type);
  /// %r1|%p1
  void destBoth(Type first, Type second);
  /// The same or %r1.
  void destPair(Type first, Type second);
  /// %p1 or !%p1; whether it is negated.
  bool sourcePredicate();
  /// A register at least as wide as the type; gives its bits.
  unsigned wideDest(Type type);
  unsigned wideSource(Type type);
  /// `count` registers in braces, or one alone; those unused may be `_`.
  /// Where `wide`, form2 is the bits of each register.
  void destVector(Type type, unsigned count, bool wide = false);
  void sourceVector(Type type, unsigned count, bool wide = false);
  /// More registers than an instruction has operands: they are given back.
  std::vector<uint32_t> destList(Type type, unsigned count);
  /// An instruction has up to three addresses.
  void address(unsigned place = 0);
  /// [map, {coordinates}].
  void tensorAddress(unsigned place, unsigned rank);
  uint64_t immediate(uint64_t least, uint64_t most);
  uint64_t immediateOf(llvm::ArrayRef<uint64_t> choices);
  void label();
  void addDest(uint32_t reg);
  void addSource(uint32_t reg);
  uint32_t readRegister(const Operand &operand, Type type, bool wide = false,
                        unsigned *bits = nullptr);
  uint32_t writtenRegister(const Operand &operand, Type type, bool wide = false,
                           unsigned *bits = nullptr);
  uint32_t constant(Type type, uint64_t bits);

  void fail(const llvm::Twine &message);
  bool failed() const { return !message.empty(); }
  /// The complaint, also where parts or operands were not taken.
  llvm::Error finish();

  KernelAssembler &kernel;
  const Statement &statement;

private:
  llvm::StringRef peekPart() const;
  unsigned takeFirst(llvm::ArrayRef<llvm::StringRef> choices);
  uint32_t base(const Operand &operand, unsigned place);
  llvm::ArrayRef<Operand> takeElements(unsigned count);
  llvm::StringRef ignoresAny(llvm::ArrayRef<llvm::StringRef> choices,
                             bool required);
  Type wideRegister(Type type, bool wide);
  void vectorShape(llvm::StringRef mark, Type type, unsigned count, bool wide);

  FormChooser *chooser;
  llvm::SmallVector<llvm::StringRef, 8> parts;
  llvm::SmallVector<bool, 8> taken;
  size_t nextOperand = 0;
  std::string message;
};

/// Builds the instruction of a family of opcodes: sets code.run and operands.
using Builder = void (*)(Form &);
using BuilderTable = std::map<llvm::StringRef, Builder>;
const BuilderTable &allBuilders();

/// A function without a body that is known all the same. Its parameters, then
/// its results, are in local memory: the sources of its instruction.
struct SystemFunction {
  Handler run = nullptr;
  Flow flow = Flow::Plain;
  llvm::SmallVector<unsigned, 5> parameterBytes, resultBytes;
};
std::optional<SystemFunction> findSystemFunction(llvm::StringRef name);

/// Assembles one entry with the functions it calls put in place of the calls.
class KernelAssembler {
public:
  KernelAssembler(Program &program, const SyntaxTree &tree);

  llvm::Expected<Kernel> run(const Function &entry);

  //===--------------------------------------------------------------------===//
  // For forms
  //===--------------------------------------------------------------------===//

  struct Register {
    uint32_t offset = 0;
    Type type = Type::None;
  };
  struct Place {
    Space space = Space::Generic;
    uint64_t value = 0;
    bool dynamic = false;
  };

  /// False where the name is no register.
  bool findRegister(llvm::StringRef name, Register &found);
  bool findSpecial(llvm::StringRef name, Register &found);
  bool findPlace(llvm::StringRef name, Place &found);
  uint32_t constant(Type type, uint64_t bits, bool dynamic = false);
  uint32_t scratch(unsigned bytesPerLane, llvm::StringRef name);
  /// The predicate that add.cc and its like write.
  uint32_t carryFlag();
  /// An index that becomes a pc at the end.
  bool findLabel(llvm::StringRef name, uint32_t &label);
  bool findTargets(llvm::StringRef name, uint32_t &list);
  Kernel kernel;

private:
  struct Declared {
    const Statement *statement = nullptr;
    bool isRegister = false;
    Place place;
    std::map<uint64_t, Register> registers; ///< of a numbered family
  };
  struct Scope {
    std::map<llvm::StringRef, Declared> names;
    std::map<llvm::StringRef, uint32_t> labels;
    std::map<llvm::StringRef, uint32_t> targets;
    bool isFunction = false;
  };
  static constexpr uint32_t kNoLabel = ~0u;

  llvm::Error body(llvm::ArrayRef<Statement> statements);
  llvm::Error statement(const Statement &s);
  llvm::Error instruction(const Statement &s);
  llvm::Error declareRegister(const Statement &s);
  llvm::Error declareVariable(const Statement &s);
  llvm::Error targetList(const Statement &s);
  void location(const Statement &s);
  llvm::Error call(const Statement &s);
  llvm::Error inlineCall(const Statement &s, const Function &callee,
                         llvm::ArrayRef<Operand> results,
                         llvm::ArrayRef<Operand> arguments);
  llvm::Error systemCall(const Statement &s, const Function &callee,
                         llvm::ArrayRef<Operand> results,
                         llvm::ArrayRef<Operand> arguments);
  /// A variable of a call with at least so many bytes.
  bool findLocal(const Operand &operand, uint64_t bytes, Place &place);
  llvm::Error checkCount(const Statement &s, const Function &callee,
                         size_t results, size_t arguments) const;
  llvm::Error addInstruction(const Statement &s, Instruction &code);
  llvm::Error bind(const Statement &formal, const Operand &actual, Scope &scope,
                   unsigned line);
  llvm::Error guard(const Statement &s, Instruction &code);
  llvm::Error finish();
  void collectLabels(llvm::ArrayRef<Statement> rest, Scope &scope);
  void declareParameters(const Function &entry, Scope &scope);
  void stamp(Instruction &code, const Statement &s);
  bool sharedVariable(const Statement &s, Place &place);
  uint32_t newLabel();
  uint32_t mnemonic(llvm::StringRef name);

  Program &program;
  const SyntaxTree &tree;
  std::map<llvm::StringRef, const Function *> functions;
  std::vector<Scope> scopes;
  std::vector<const Function *> active; ///< being put in place
  std::vector<uint32_t> returns;        ///< label behind each call in progress
  std::vector<uint32_t> labelPcs;
  std::map<std::pair<unsigned, uint64_t>, uint32_t> constants;
  std::map<llvm::StringRef, Register> specials;
  std::map<const Statement *, Place> sharedPlaces;
  std::map<std::string, uint16_t> mnemonics;
  uint32_t file = 0, sourceLine = 0, caller = 0;
  std::map<SourcePlace, uint32_t> callers; ///< of places met so far
  uint64_t localBytes = 0, sharedBytes = 0;
  uint64_t fileBytes = 0;
  uint32_t carry = 0; ///< 0: none yet
  uint32_t dynamicAlignment = 16;
};

} // namespace raytention::simt

#endif // RAYTENTION_RUNTIME_DEVICE_SIMT_ASSEMBLER_H
