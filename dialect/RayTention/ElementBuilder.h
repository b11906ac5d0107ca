//===- ElementBuilder.h - element-wise code on scalars or vectors ------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_DIALECT_ELEMENTBUILDER_H
#define RAYTENTION_DIALECT_ELEMENTBUILDER_H

#include "mlir/IR/Builders.h"

namespace raytention {

/// Emits arith and math ops on values of one shape: a scalar, or a vector with
/// one row per lane. Integers are 32 bits wide: they are key positions.
class ElementBuilder {
public:
  /// Below every score of the domain (docs/semantics.md), yet finite, and far
  /// enough from the end of the type to be subtracted from one.
  static double getLowest(mlir::Type element);

  /// `shape` is a float type or a vector of one.
  ElementBuilder(mlir::OpBuilder &builder, mlir::Location loc,
                 mlir::Type shape);

  mlir::Type getFloatType() const { return floatType; }
  mlir::Type getIntType() const { return intType; }
  /// Whether the floats are f64 rather than f32.
  bool isDouble() const;

  mlir::Value constant(double value);
  mlir::Value intConstant(int64_t value);
  mlir::Value lowest(); ///< getLowest() of the element type
  /// A scalar of any type in this builder's shape.
  mlir::Value splat(mlir::Value scalar);

  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value div(mlir::Value a, mlir::Value b);
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c);
  mlir::Value max(mlir::Value a, mlir::Value b);
  mlir::Value min(mlir::Value a, mlir::Value b);
  mlir::Value exp(mlir::Value a);
  mlir::Value log(mlir::Value a);
  mlir::Value sqrt(mlir::Value a);
  mlir::Value greater(mlir::Value a, mlir::Value b);
  mlir::Value less(mlir::Value a, mlir::Value b);
  mlir::Value equal(mlir::Value a, mlir::Value b);
  mlir::Value logicalAnd(mlir::Value a, mlir::Value b);
  mlir::Value logicalOr(mlir::Value a, mlir::Value b);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);
  mlir::Value intSub(mlir::Value a, mlir::Value b);
  mlir::Value intLess(mlir::Value a, mlir::Value b);
  mlir::Value intAtMost(mlir::Value a, mlir::Value b);
  /// An integer as a float, exact up to 2^24 in f32.
  mlir::Value toFloat(mlir::Value integer);

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Type floatType, intType;
};

} // namespace raytention

#endif // RAYTENTION_DIALECT_ELEMENTBUILDER_H
