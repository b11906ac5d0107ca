//===- ClassicLocale.h - numbers with a point -------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_SUPPORT_CLASSICLOCALE_H
#define RAYTENTION_RUNTIME_SUPPORT_CLASSICLOCALE_H

#include <clocale>
#include <locale.h>

namespace raytention {

/// While it lives, this thread reads and prints numbers as in the locale "C":
/// LLVM prints them by snprintf, which writes 1,5 where the host program chose
/// a locale with a comma.
class ClassicLocale {
public:
  ClassicLocale()
      : classic(newlocale(LC_ALL_MASK, "C", nullptr)),
        before(uselocale(classic)) {}
  ~ClassicLocale() {
    uselocale(before);
    if (classic)
      freelocale(classic);
  }
  ClassicLocale(const ClassicLocale &) = delete;
  ClassicLocale &operator=(const ClassicLocale &) = delete;

private:
  locale_t classic, before;
};

} // namespace raytention

#endif // RAYTENTION_RUNTIME_SUPPORT_CLASSICLOCALE_H
