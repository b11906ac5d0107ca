//===- ReferenceOps.cpp - verifiers and tiling of the reference ops ------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/RayTention.h"
#include "dialect/RayTention/ShapeChecker.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace raytention;

static Type elementOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType();
}
static int64_t rankOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getRank();
}
static Type i32(Operation *op) {
  return IntegerType::get(op->getContext(), 32);
}
static Type i64(Operation *op) {
  return IntegerType::get(op->getContext(), 64);
}

/// C1 of a gather and its adjoint: rows at the indices of a table.
static LogicalResult verifyRows(Operation *op, StringRef tableName, Value table,
                                Value indices, Value rows) {
  ShapeChecker shapes(op);
  Type index = elementOf(indices);
  if (!index.isInteger(32) && !index.isInteger(64))
    return op->emitOpError()
           << "C1: expected indices of i32 or i64, got " << index;
  LogicalResult checked =
      rankOf(table) == 3 ? shapes.check("C1", tableName, table, {"B", "V", "D"})
                         : shapes.check("C1", tableName, table, {"V", "D"});
  return success(
      succeeded(checked) &&
      succeeded(shapes.check("C1", "indices", indices, {"B", "N"})) &&
      succeeded(shapes.check("C1", "rows", rows, {"B", "N", "D"})));
}

LogicalResult LookupOp::verify() {
  Type element = elementOf(getTable());
  if (element.isBF16() && elementOf(getRows()).isF32())
    element = elementOf(getRows());
  if (elementOf(getRows()) != element)
    return emitOpError() << "C2: expected rows of " << element << ", got "
                         << getRows().getType();
  return verifyRows(*this, "a table", getTable(), getIndices(), getRows());
}

LogicalResult ScatterAddOp::verify() {
  Type element = elementOf(getRows());
  if (!element.isF32() && !element.isF64())
    return emitOpError() << "C2: expected rows of f32 or f64, got " << element;
  if (elementOf(getInit()) != element)
    return emitOpError() << "C2: expected an init of " << element << ", got "
                         << getInit().getType();
  return verifyRows(*this, "an init", getInit(), getIndices(), getRows());
}

LogicalResult DistanceOp::verify() {
  ShapeChecker shapes(*this);
  Type element = elementOf(getDistances());
  if (!element.isF32() && !element.isF64())
    return emitOpError() << "C2: expected distances of f32 or f64, got "
                         << element;
  if (getMetric() == Metric::Dot)
    return emitOpError() << "C3: expected the metric sq_l2 or l2, got dot";
  return success(
      succeeded(
          shapes.check("C1", "queries", getQueries(), {"B", "Tq", "D"})) &&
      succeeded(shapes.check("C2", "queries", getQueries(), {"B", "Tq", "D"},
                             getStoredType(getQueries(), element))) &&
      succeeded(shapes.check("C2", "keys", getKeys(), {"B", "T", "D"},
                             getStoredType(getKeys(), element))) &&
      succeeded(
          shapes.check("C1", "distances", getDistances(), {"B", "Tq", "T"})));
}

LogicalResult SoftmaxOp::verify() {
  ShapeChecker shapes(*this);
  Type element = elementOf(getDistances());
  if (failed(verifyMask(*this, "C2", getMaskAttr())))
    return failure();
  return success(succeeded(shapes.check("C1", "distances", getDistances(),
                                        {"B", "Tq", "T"})) &&
                 succeeded(shapes.check("C1", "tau", getTau(), {}, element)) &&
                 succeeded(shapes.check("C1", "lengths", getLengths(), {"B"},
                                        i64(*this))));
}

LogicalResult DecayOp::verify() {
  ShapeChecker shapes(*this);
  Type element = elementOf(getWeights());
  if (failed(shapes.check("C1", "weights", getWeights(), {"B", "Tq", "T"})) ||
      failed(shapes.check("C1", "gammas", getGammas(), {"n"}, element)) ||
      failed(shapes.check("C1", "lengths", getLengths(), {"B"}, i64(*this))))
    return failure();
  int64_t n = shapes.getSize("n"), index = getIndex();
  if (index < 0 || (!ShapedType::isDynamic(n) && index >= n))
    return emitOpError() << "C2: expected an index from 0 to " << n - 1
                         << ", got " << index;
  return success();
}

LogicalResult ReduceOp::verify() {
  ShapeChecker shapes(*this);
  Type element = elementOf(getWeights());
  if (getFloor() && (!getValues() || getFloorAttr().getValueAsDouble() <= 0))
    return emitOpError() << "C2: expected a positive floor, with values";
  if (failed(shapes.check("C1", "weights", getWeights(), {"B", "Tq", "T"})))
    return failure();
  if (!getValues())
    return shapes.check("C1", "a result", getResult(), {"B", "Tq"}, element);
  return success(succeeded(shapes.check("C1", "values", getValues(),
                                        {"B", "T", "D"}, element)) &&
                 succeeded(shapes.check("C1", "a result", getResult(),
                                        {"B", "Tq", "D"}, element)));
}

LogicalResult ArgSelectOp::verify() {
  ShapeChecker shapes(*this);
  Type element = elementOf(getScores());
  if (static_cast<int64_t>(getRank()) < 1)
    return emitOpError() << "C2: expected a rank of at least 1, got "
                         << static_cast<int64_t>(getRank());
  return success(
      succeeded(shapes.check("C1", "scores", getScores(), {"B", "Tq", "T"})) &&
      succeeded(shapes.check("C1", "weights", getWeights(), {"B", "Tq", "T"},
                             element)) &&
      succeeded(shapes.check("C1", "positions", getPositions(), {"B", "Tq"},
                             i32(*this))));
}

LogicalResult NormalizeOp::verify() {
  ShapeChecker shapes(*this);
  return success(succeeded(shapes.check("C1", "x", getX(), {"B", "Tq", "S"})) &&
                 succeeded(shapes.check("C1", "a norm", getNorm(), {"B", "Tq"},
                                        elementOf(getX()))) &&
                 succeeded(shapes.check("C1", "lengths", getLengths(), {"B"},
                                        i64(*this))));
}

LogicalResult ClearPaddingOp::verify() {
  ShapeChecker shapes(*this);
  return success(
      succeeded(shapes.check("C1", "rows", getRows(), {"B", "N", "W"})) &&
      succeeded(
          shapes.check("C1", "lengths", getLengths(), {"B"}, i64(*this))));
}
