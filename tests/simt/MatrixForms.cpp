//===- MatrixForms.cpp - products and their fragments by loops --*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/simt/FormCase.h"
#include "tests/simt/ModelMath.h"

using namespace raytention::simt;
using namespace raytention::simt::test;

namespace {

struct Coordinate {
  unsigned row, column;
};

/// Where element i of a lane's fragment lies, from the tables of PTX.
Coordinate placeInA(unsigned lane, unsigned i, bool narrow) {
  unsigned group = lane / 4, inGroup = lane % 4;
  if (narrow)
    return {i / 2 % 2 ? group + 8 : group,
            inGroup * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
  return {i % 2 ? group + 8 : group, i >= 2 ? inGroup + 4 : inGroup};
}
Coordinate placeInB(unsigned lane, unsigned i, bool narrow) {
  unsigned group = lane / 4, inGroup = lane % 4;
  if (narrow)
    return {inGroup * 2 + (i & 1) + (i >= 2 ? 8 : 0), group};
  return {inGroup + 4 * i, group};
}
Coordinate placeInC(unsigned lane, unsigned i) {
  return {lane / 4 + (i >= 2 ? 8 : 0), lane % 4 * 2 + (i & 1)};
}

/// Small whole numbers: every type here holds them and their sums exactly.
int elementA(Coordinate at) { return int(at.row * 7 + at.column * 3) % 5 - 2; }
int elementB(Coordinate at) { return int(at.row * 5 + at.column * 2) % 7 - 3; }
int elementC(Coordinate at) { return int(at.row + at.column * 11) % 9 - 4; }

/// The bits of tf32 below ten of fraction are not read.
uint64_t bitsOfElement(int value, const std::string &type) {
  return type == "f16"    ? toHalf(value)
         : type == "bf16" ? toBFloat(value)
         : type == "tf32" ? bitsOf(float(value)) | 0x1FFF
                          : bitsOf(float(value));
}

struct Product {
  unsigned depth;
  std::string sum, factor;
};

/// The columns of one operand: registers of one or two elements.
template <class F>
void addFragment(Columns &columns, unsigned registers, const std::string &type,
                 F element) {
  unsigned each = bitsOfType(type) == 16 ? 2 : 1;
  for (unsigned r = 0; r < registers; ++r) {
    std::vector<uint64_t> column(64);
    for (unsigned thread = 0; thread < 64; ++thread)
      for (unsigned e = 0; e < each; ++e)
        column[thread] |=
            bitsOfElement(element(thread % 32, r * each + e), type) << (16 * e);
    columns.push_back(column);
  }
}

void runProduct(const FormCase &form, const Product &p) {
  bool narrow = p.factor != "tf32";
  unsigned each = narrow ? 2 : 1, ofSum = p.sum == "f16" ? 2 : 1;
  FormRun run;
  addFragment(run.inputs, 16 * p.depth / 32 / each, p.factor,
              [&](unsigned lane, unsigned i) {
                return elementA(placeInA(lane, i, narrow));
              });
  addFragment(run.inputs, 8 * p.depth / 32 / each, p.factor,
              [&](unsigned lane, unsigned i) {
                return elementB(placeInB(lane, i, narrow));
              });
  addFragment(run.inputs, 4 / ofSum, p.sum, [&](unsigned lane, unsigned i) {
    return elementC(placeInC(lane, i));
  });
  Columns out = runForm(form, run);
  ASSERT_EQ(out.size(), 4 / ofSum);
  for (unsigned thread = 0; thread < 64; ++thread)
    for (unsigned i = 0; i < 4; ++i) {
      Coordinate at = placeInC(thread % 32, i);
      int sum = elementC(at);
      for (unsigned k = 0; k < p.depth; ++k)
        sum += elementA({at.row, k}) * elementB({k, at.column});
      uint64_t got = out[i / ofSum][thread] >> (16 * (i % ofSum));
      EXPECT_EQ(ofSum == 2 ? got & 0xFFFF : got, bitsOfElement(sum, p.sum))
          << "row " << at.row << ", column " << at.column;
    }
}

Check checkProduct(FormCase &form) {
  Product p;
  form.take("sync");
  form.take("aligned");
  std::string shape = form.takeAny({"m16n8k16", "m16n8k8", "m16n8k4"});
  form.take("row");
  form.take("col");
  p.sum = form.takeAny({"f32", "f16"});
  p.factor = form.takeAny({"f16", "bf16", "tf32"});
  if (shape.empty() || !form.take(p.factor) || !form.take(p.sum))
    return {};
  p.depth = std::stoi(shape.substr(6));
  return [=] { runProduct(form, p); };
}

//===----------------------------------------------------------------------===//
// Loads and stores of 8 x 8 halves
//===----------------------------------------------------------------------===//

/// Each warp has four matrices: row r of matrix m is the 16 bytes of lane
/// 8 m + r. In global memory they are the first half of the lane's 32.
const char *const kRows = ".shared .align 16 .b8 tile[1024];\n"
                          "and.b32 %t1, %t, 63;\nmov.u32 %t2, tile;\n"
                          "mad.lo.u32 %t2, %t1, 16, %t2;\n"
                          "ld.global.v2.b64 {%m1, %m2}, [%mem];\n"
                          "st.shared.v2.b64 [%t2], {%m1, %m2};\nbar.sync 0;\n";
const char *const kRowsBack = "bar.sync 0;\n"
                              "ld.shared.v2.b64 {%m1, %m2}, [%t2];\n"
                              "st.global.v2.b64 [%mem], {%m1, %m2};\n";

uint16_t *elementOf(std::vector<uint8_t> &memory, unsigned thread,
                    unsigned matrix, unsigned half, bool transposed) {
  unsigned row = thread % 32 / 4, column = 2 * (thread % 4) + half;
  if (transposed)
    std::swap(row, column);
  size_t lane = thread / 32 * 32 + 8 * matrix + row;
  return reinterpret_cast<uint16_t *>(&memory[32 * lane]) + column;
}

void runMatrix(const FormCase &form, bool loads, bool transposed) {
  FormRun run;
  unsigned count = form.count(loads ? Slot::Dest : Slot::Source);
  run.memory.resize(32 * 64);
  for (size_t i = 0; i < run.memory.size(); ++i)
    run.memory[i] = uint8_t(i * 37 + i / 256);
  run.addresses = {"%t2"};
  run.before = kRows;
  run.after = kRowsBack;
  std::vector<uint8_t> wanted = run.memory;
  if (!loads)
    for (unsigned m = 0; m < count; ++m) {
      run.inputs.push_back({});
      for (unsigned t = 0; t < 64; ++t) {
        run.inputs[m].push_back(0x10002000u * (m + 1) + t * 0x00010001u);
        for (unsigned half = 0; half < 2; ++half)
          *elementOf(wanted, t, m, half, transposed) =
              run.inputs[m][t] >> (16 * half);
      }
    }
  Columns out = runForm(form, run);
  EXPECT_EQ(run.memory, wanted);
  for (unsigned m = 0; loads && m < count; ++m)
    for (unsigned t = 0; t < 64; ++t)
      for (unsigned half = 0; half < 2; ++half)
        EXPECT_EQ(out[m][t] >> (16 * half) & 0xFFFF,
                  *elementOf(wanted, t, m, half, transposed));
}

Check checkMatrix(FormCase &form) {
  form.take("sync");
  form.take("aligned");
  form.take("m8n8");
  form.takeAny({"x1", "x2", "x4"});
  bool transposed = form.take("trans"), loads = form.parts[0] == "ldmatrix";
  form.takeAny({"shared", "shared::cta"});
  if (!form.take("b16"))
    return {};
  return [=] { runMatrix(form, loads, transposed); };
}

} // namespace

void raytention::simt::test::addMatrixChecks(CheckTable &table) {
  table["mma"] = &checkProduct;
  table["ldmatrix"] = table["stmatrix"] = &checkMatrix;
}
