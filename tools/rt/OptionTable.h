//===- OptionTable.h - the options of rt run --------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TOOLS_RT_OPTIONTABLE_H
#define RAYTENTION_TOOLS_RT_OPTIONTABLE_H

#include "tools/rt/Options.h"

#include <functional>

namespace raytention::tool {

/// One row of the table: how an option is spelled, described and stored.
struct Option {
  llvm::StringRef name;
  llvm::StringRef valueName; ///< empty: a flag
  llvm::StringRef help;
  /// Stores a value, or says what was expected instead.
  std::function<llvm::Error(llvm::StringRef name, llvm::StringRef value,
                            RunOptions &options)>
      store;
  bool repeatable = false;
};

struct OptionGroup {
  llvm::StringRef title;
  llvm::ArrayRef<Option> options;
};

/// All options of `rt run`, in the order of its help.
llvm::ArrayRef<OptionGroup> runOptionGroups();

} // namespace raytention::tool

#endif // RAYTENTION_TOOLS_RT_OPTIONTABLE_H
