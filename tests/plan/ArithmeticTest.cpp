//===- ArithmeticTest.cpp - integers of the host program ------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/Arithmetic.h"

#include "gtest/gtest.h"

#include <limits>

using namespace raytention::plan;

namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

/// What `op` gives, or the message of its error.
std::string text(Opcode op, unsigned bits, int64_t a, int64_t b) {
  auto value = compute(op, bits, a, b);
  return value ? std::to_string(*value) : llvm::toString(value.takeError());
}

struct Row {
  Opcode op;
  unsigned bits;
  int64_t a, b, wanted;
};

TEST(Arithmetic, IsThatOfMlir) {
  const Row rows[] = {
      {Opcode::Add, 64, 2, -5, -3},
      {Opcode::Add, 64, kMax, 1, kMin},
      {Opcode::Add, 32, 2147483647, 1, -2147483648},
      {Opcode::Sub, 64, kMin, 1, kMax},
      {Opcode::Sub, 8, -128, 1, 127},
      {Opcode::Mul, 64, -7, 6, -42},
      {Opcode::Mul, 32, 65536, 65536, 0},
      {Opcode::DivS, 64, 7, 2, 3},
      {Opcode::DivS, 64, -7, 2, -3},
      {Opcode::DivS, 64, 7, -2, -3},
      {Opcode::DivU, 64, -1, 2, kMax},
      {Opcode::DivU, 8, -1, 2, 127},
      {Opcode::CeilDivS, 64, 7, 2, 4},
      {Opcode::CeilDivS, 64, -7, 2, -3},
      {Opcode::CeilDivS, 64, 7, -2, -3},
      {Opcode::CeilDivS, 64, -7, -2, 4},
      {Opcode::CeilDivS, 64, 8, 2, 4},
      {Opcode::CeilDivS, 64, 0, 5, 0},
      {Opcode::CeilDivS, 64, kMax, 2, int64_t(1) << 62},
      {Opcode::CeilDivS, 64, kMin, 2, kMin / 2},
      {Opcode::CeilDivU, 64, -1, 2, kMin},
      {Opcode::CeilDivU, 32, 7, 2, 4},
      {Opcode::FloorDivS, 64, 7, 2, 3},
      {Opcode::FloorDivS, 64, -7, 2, -4},
      {Opcode::FloorDivS, 64, 7, -2, -4},
      {Opcode::FloorDivS, 64, -7, -2, 3},
      {Opcode::FloorDivS, 64, -8, 2, -4},
      {Opcode::RemS, 64, 7, 4, 3},
      {Opcode::RemS, 64, -7, 4, -3},
      {Opcode::RemS, 64, 7, -4, 3},
      {Opcode::RemS, 64, kMin, -1, 0},
      {Opcode::RemU, 8, -1, 16, 15},
      {Opcode::MinU, 64, -1, 1, 1},
      {Opcode::MaxU, 64, -1, 1, -1},
      {Opcode::And, 1, -1, -1, -1},
      {Opcode::Xor, 1, -1, -1, 0},
      {Opcode::ShiftL, 32, 1, 31, -2147483648},
      {Opcode::ShiftRU, 64, -16, 60, 15},
      {Opcode::ShiftRU, 8, -1, 4, 15},
  };
  for (const Row &row : rows)
    EXPECT_EQ(text(row.op, row.bits, row.a, row.b), std::to_string(row.wanted))
        << getName(row.op).str() << " i" << row.bits << " " << row.a << ", "
        << row.b;
}

TEST(Arithmetic, HasEveryOperation) {
  const std::pair<Opcode, int64_t> wanted[] = {
      {Opcode::Add, -10},     {Opcode::Sub, -16},     {Opcode::Mul, -39},
      {Opcode::DivS, -4},     {Opcode::CeilDivS, -4}, {Opcode::FloorDivS, -5},
      {Opcode::RemS, -1},     {Opcode::MinS, -13},    {Opcode::MaxS, 3},
      {Opcode::MinU, 3},      {Opcode::MaxU, -13},    {Opcode::And, 3},
      {Opcode::Or, -13},      {Opcode::Xor, -16},     {Opcode::ShiftL, -104},
      {Opcode::ShiftRS, -2},  {Opcode::ShiftRU, 30},  {Opcode::DivU, 81},
      {Opcode::CeilDivU, 81}, {Opcode::RemU, 0},
  };
  size_t count = 0;
#define RT_PLAN_BINARY(NAME, SPELLING) ++count;
#include "runtime/plan/Ops.def"
  EXPECT_EQ(std::size(wanted), count);
  for (auto [op, value] : wanted)
    EXPECT_EQ(text(op, 8, -13, 3), std::to_string(value)) << getName(op).str();
}

TEST(Arithmetic, WhatMlirLeavesUndefinedIsRefused) {
  for (Opcode op :
       {Opcode::DivS, Opcode::DivU, Opcode::CeilDivS, Opcode::CeilDivU,
        Opcode::FloorDivS, Opcode::RemS, Opcode::RemU})
    EXPECT_EQ(text(op, 64, 5, 0),
              getName(op).str() + ": expected a divisor other than 0, got 0");
  for (Opcode op : {Opcode::DivS, Opcode::CeilDivS, Opcode::FloorDivS})
    EXPECT_EQ(text(op, 32, -2147483648, -1),
              getName(op).str() + ": expected a quotient of 32 bits, got "
                                  "-2147483648 / -1");
  for (Opcode op : {Opcode::ShiftL, Opcode::ShiftRS, Opcode::ShiftRU}) {
    EXPECT_EQ(text(op, 32, 1, 32),
              getName(op).str() + ": expected a shift of less than 32, got 32");
    EXPECT_EQ(text(op, 64, 1, -1),
              getName(op).str() + ": expected a shift of less than 64, got -1");
  }
}

TEST(Arithmetic, ComparesSignedAndUnsigned) {
  const std::pair<Predicate, std::array<bool, 3>> wanted[] = {
      {Predicate::EQ, {false, true, false}},
      {Predicate::NE, {true, false, true}},
      {Predicate::SLT, {true, false, false}},
      {Predicate::SLE, {true, true, false}},
      {Predicate::SGT, {false, false, true}},
      {Predicate::SGE, {false, true, true}},
      {Predicate::ULT, {false, false, true}},
      {Predicate::ULE, {false, true, true}},
      {Predicate::UGT, {true, false, false}},
      {Predicate::UGE, {true, true, false}}};
  for (auto [predicate, results] : wanted) {
    EXPECT_EQ(compare(predicate, 64, -1, 2), results[0]) << int(predicate);
    EXPECT_EQ(compare(predicate, 64, 2, 2), results[1]) << int(predicate);
    EXPECT_EQ(compare(predicate, 64, 2, -1), results[2]) << int(predicate);
  }
}

TEST(Arithmetic, CastsBySignAndByZeros) {
  EXPECT_EQ(castSigned(32, 64, -5), -5);
  EXPECT_EQ(castUnsigned(32, 64, -5), 4294967291);
  EXPECT_EQ(castSigned(64, 32, (int64_t(1) << 32) + 7), 7);
  EXPECT_EQ(castSigned(64, 32, int64_t(1) << 31), -2147483648);
  EXPECT_EQ(castSigned(1, 64, -1), -1);
  EXPECT_EQ(castUnsigned(1, 64, -1), 1);
}

} // namespace
