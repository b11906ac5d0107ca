//===- Emitter.cpp - ops as statements ------------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/CudaCpp/Emitter.h"
#include "codegen/CudaCpp/Literals.h"
#include "codegen/CudaCpp/Types.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace raytention;
using namespace raytention::cuda;

InFlightDiagnostic cuda::refuse(Operation *op) {
  return op->emitOpError("has no form in CUDA C++");
}

LogicalResult Emitter::emitBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(emit(&op)))
      return failure();
  return success();
}

void Emitter::define(Value result, const Twine &expression) {
  os << getCType(result.getType()) << " " << operands.getNames().of(result)
     << " = " << expression << ";\n";
}

static LogicalResult checkConstant(arith::ConstantOp op) {
  if (makeLiteral(op.getValue()).empty())
    return op.emitOpError("expected a number of i1, i8, i32, i64, index, bf16, "
                          "f32 or f64, got ")
           << op.getValue();
  return success();
}

static LogicalResult checkScalars(Operation *op) {
  auto check = [&](TypeRange types) -> LogicalResult {
    for (Type type : types)
      if (getCType(type).empty())
        return op->emitOpError("expected values of i1, i8, i32, i64, index, "
                               "bf16, f32 or f64, got ")
               << type;
    return success();
  };
  return success(succeeded(check(op->getOperandTypes())) &&
                 succeeded(check(op->getResultTypes())));
}

/// bf16 is stored and converted; for all else it has to become f32.
static LogicalResult checkBf16(Operation *op) {
  auto isBf16 = [](Type type) { return type.isBF16(); };
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::SelectOp>(op) ||
      llvm::none_of(op->getOperandTypes(), isBf16))
    return success();
  return op->emitOpError("expected bf16 to be extended to f32 first, got ")
         << op->getOperand(0).getType();
}

static FailureOr<std::string> makeExpression(const Operands &operands,
                                             Operation *op) {
  if (failed(checkScalars(op)) || failed(checkBf16(op)))
    return failure();
  if (op->getName().getDialectNamespace() == "math")
    return makeMath(operands, op);
  return isa<CastOpInterface>(op) ? makeArithCast(operands, op)
                                  : makeArith(operands, op);
}

LogicalResult Emitter::emit(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return checkConstant(constant);
  StringRef dialect = op->getName().getDialectNamespace();
  if (dialect == "arith" || dialect == "math") {
    FailureOr<std::string> expression = makeExpression(operands, op);
    if (failed(expression))
      return failure();
    define(op->getResult(0), *expression);
    return success();
  }
  if (dialect == "scf")
    return emitScf(*this, op);
  if (dialect == "memref")
    return emitMemRef(*this, op);
  if (dialect == "gpu")
    return emitGpu(*this, op);
  return refuse(op);
}
