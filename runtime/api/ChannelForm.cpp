//===- ChannelForm.cpp - how a channel's output is formed -------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "raytention/Attention.h"

#include "dialect/RayTention/RayTention.h"
#include "dialect/RayTention/SweepLayout.h"
#include "runtime/support/Crew.h"

using namespace mlir;
using namespace raytention;

llvm::Expected<OutputForm> raytention::channelForm(llvm::StringRef channel) {
  ForkGuard guard;
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<RayTentionDialect>();
  std::string error;
  FailureOr<Attribute> attr = parseChannelSpelling(&context, channel, error);
  if (failed(attr))
    return llvm::createStringError(error);
  switch (cast<ChannelInterface>(*attr).getForm()) {
  case ChannelForm::Weighted:
    return OutputForm::Weighted;
  case ChannelForm::Copy:
    return OutputForm::Copy;
  case ChannelForm::Scalar:
    return OutputForm::Scalar;
  }
  llvm_unreachable("every form is listed");
}
