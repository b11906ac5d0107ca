//===- SourceNames.cpp - SSA names of a text ------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/CudaCpp/SourceNames.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Parser/Parser.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace raytention;

/// `location` with the name that stands at `range`, unless it is a number.
static Location named(Location location, llvm::SMRange range) {
  if (!range.isValid())
    return location;
  StringRef text(range.Start.getPointer(),
                 range.End.getPointer() - range.Start.getPointer());
  text.consume_front("%");
  text = text.split('#').first.split(':').first;
  if (text.empty() || llvm::all_of(text, llvm::isDigit))
    return location;
  return NameLoc::get(StringAttr::get(location.getContext(), text), location);
}

static void nameResults(const AsmParserState &state) {
  for (const auto &definition : state.getOpDefs())
    // One name can be kept for an op.
    if (definition.resultGroups.size() == 1)
      definition.op->setLoc(
          named(definition.op->getLoc(),
                definition.resultGroups.front().definition.loc));
}

static void nameArguments(const AsmParserState &state) {
  for (const auto &definition : state.getBlockDefs())
    for (auto [argument, source] :
         llvm::zip(definition.block->getArguments(), definition.arguments))
      argument.setLoc(named(argument.getLoc(), source.loc));
}

OwningOpRef<ModuleOp>
raytention::parseWithNames(const std::shared_ptr<llvm::SourceMgr> &source,
                           MLIRContext *context) {
  Block block;
  AsmParserState state;
  ParserConfig config(context);
  if (failed(parseAsmSourceFile(*source, &block, config, &state)))
    return nullptr;
  nameResults(state);
  nameArguments(state);
  const llvm::MemoryBuffer *buffer =
      source->getMemoryBuffer(source->getMainFileID());
  Location location = FileLineColLoc::get(
      context, buffer->getBufferIdentifier(), /*line=*/0, /*column=*/0);
  return mlir::detail::constructContainerOpForParserIfNecessary<ModuleOp>(
      &block, context, location);
}
