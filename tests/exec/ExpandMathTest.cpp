//===- ExpandMathTest.cpp - exp and log against wider ones ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LlvmCpu/Jit.h"
#include "codegen/LlvmCpu/Passes.h"
#include "codegen/Pipelines/Registration.h"
#include "passes/Pipelines/LlvmLowering.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace raytention;

namespace {

constexpr const char *kFunctions = R"(
func.func @exp_f32(%x: f32) -> f32 {
  %y = math.exp %x : f32
  return %y : f32
}
func.func @exp_f64(%x: f64) -> f64 {
  %y = math.exp %x : f64
  return %y : f64
}
func.func @log_f32(%x: f32) -> f32 {
  %y = math.log %x : f32
  return %y : f32
}
func.func @log_f64(%x: f64) -> f64 {
  %y = math.log %x : f64
  return %y : f64
}
)";

class ExpandMath : public testing::Test {
protected:
  ExpandMath() {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    registerLlvmTranslations(registry);
    context.appendDialectRegistry(registry);
    auto module = mlir::parseSourceString<mlir::ModuleOp>(
        kFunctions, mlir::ParserConfig(&context));
    mlir::PassManager pm(&context);
    pm.addPass(createExpandMathPass());
    buildLlvmLowering(pm);
    EXPECT_TRUE(mlir::succeeded(pm.run(*module)));
    jit = llvm::cantFail(Jit::compile(*module, {}));
  }

  template <typename Real> Real (*find(const char *name))(Real) {
    return llvm::cantFail(jit->lookup<Real(Real)>(name));
  }

  mlir::MLIRContext context;
  std::unique_ptr<Jit> jit;
};

/// The least that a normal number is the exponential of, rounded up.
constexpr float kLow32 = -87.33654f;
constexpr double kLow64 = -708.396418532264;

/// |y - truth| in units of the last place of `truth`.
template <typename Real> double ulps(Real y, long double truth) {
  Real rounded = static_cast<Real>(truth);
  Real next =
      std::nextafter(std::fabs(rounded), std::numeric_limits<Real>::infinity());
  return std::fabs(
      static_cast<double>((y - truth) / (next - std::fabs(rounded))));
}

/// The largest error over evenly spaced values.
template <typename Real>
double worst(Real (*f)(Real), long double (*truth)(long double), Real low,
             Real high) {
  constexpr int64_t steps = 1 << 19;
  double largest = 0;
  for (int64_t i = 0; i <= steps; ++i) {
    Real x = std::min(
        high, low + (high - low) * (static_cast<Real>(i) / steps)); // rounded
    largest = std::max(largest, ulps<Real>(f(x), truth(x)));
  }
  return largest;
}

template <typename Real>
void expectEdges(Real (*f)(Real), Real low, Real high) {
  constexpr Real infinity = std::numeric_limits<Real>::infinity();
  EXPECT_EQ(f(0), 1);
  EXPECT_EQ(f(-Real(0)), 1);
  for (Real x : {std::nextafter(low, -infinity), 2 * low, Real(-1e30),
                 std::numeric_limits<Real>::lowest(), -infinity})
    EXPECT_EQ(f(x), 0) << x;
  EXPECT_GT(f(low), std::numeric_limits<Real>::min());
  for (Real x : {2 * high, std::numeric_limits<Real>::max(), infinity})
    EXPECT_EQ(f(x), f(high)) << x;
  EXPECT_TRUE(std::isnan(f(std::numeric_limits<Real>::quiet_NaN())));
}

TEST_F(ExpandMath, ExpIsRightToAboutAUnitOfTheLastPlace) {
  EXPECT_LT(worst<float>(find<float>("exp_f32"), std::exp, kLow32, 88), 1.1);
  EXPECT_LT(worst<float>(find<float>("exp_f32"), std::exp, -1, 1), 1.1);
  EXPECT_LT(worst<double>(find<double>("exp_f64"), std::exp, kLow64, 709), 1.1);
  EXPECT_LT(worst<double>(find<double>("exp_f64"), std::exp, -1, 1), 1.1);
}

TEST_F(ExpandMath, ExpAtItsEdges) {
  expectEdges<float>(find<float>("exp_f32"), kLow32, 88);
  expectEdges<double>(find<double>("exp_f64"), kLow64, 709);
}

TEST_F(ExpandMath, LogIsRightToTwoUnitsOfTheLastPlace) {
  EXPECT_LT(worst<float>(find<float>("log_f32"), std::log, 0.25f, 8), 2);
  EXPECT_LT(worst<float>(find<float>("log_f32"), std::log, 1e-37f, 1e37f), 2);
  EXPECT_LT(worst<double>(find<double>("log_f64"), std::log, 0.25, 8), 2);
}

} // namespace
