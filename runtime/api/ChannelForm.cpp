//===- ChannelForm.cpp - what channels say of themselves --------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "raytention/Attention.h"

#include "dialect/RayTention/RayTention.h"
#include "dialect/RayTention/SweepLayout.h"
#include "runtime/api/StatusError.h"
#include "runtime/support/Crew.h"

using namespace mlir;
using namespace raytention;

namespace {
/// The registered channels.
class Registry {
public:
  Registry() { context.loadDialect<RayTentionDialect>(); }

  llvm::Expected<ChannelInterface> parse(llvm::StringRef channel) {
    std::string error;
    FailureOr<Attribute> attr = parseChannelSpelling(&context, channel, error);
    if (failed(attr))
      return llvm::createStringError(error);
    return cast<ChannelInterface>(*attr);
  }
  const RayTentionDialect &dialect() {
    return *context.getLoadedDialect<RayTentionDialect>();
  }

private:
  ForkGuard guard;
  MLIRContext context{MLIRContext::Threading::DISABLED};
};
} // namespace

Result<OutputForm> raytention::channelForm(std::string_view channel) {
  Registry registry;
  llvm::Expected<ChannelInterface> parsed = registry.parse(channel);
  if (!parsed)
    return toStatus(parsed.takeError());
  switch (parsed->getForm()) {
  case ChannelForm::Weighted:
    return OutputForm::Weighted;
  case ChannelForm::Copy:
    return OutputForm::Copy;
  case ChannelForm::Scalar:
    return OutputForm::Scalar;
  }
  llvm_unreachable("every form is listed");
}

Result<long double> raytention::largestScalar(std::string_view channel,
                                              long double distance,
                                              long double score,
                                              long double tau) {
  Registry registry;
  llvm::Expected<ChannelInterface> parsed = registry.parse(channel);
  if (!parsed)
    return toStatus(parsed.takeError());
  return parsed->getLargestValue(distance, score, tau);
}

std::vector<std::string> raytention::channelSpellings() {
  Registry registry;
  std::vector<std::string> spellings;
  for (llvm::StringRef spelling : registry.dialect().getChannelSpellings())
    spellings.push_back(spelling.str());
  return spellings;
}
