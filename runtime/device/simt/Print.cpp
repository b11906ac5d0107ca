//===- Print.cpp - what kernels print ---------------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/Print.h"
#include "runtime/support/ClassicLocale.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace llvm;
using namespace raytention::simt;

/// Widths and precisions beyond this are cut: a message must fit in memory.
static constexpr int kMaxField = 1 << 16;

namespace {

/// One conversion: %[flags][width][.precision][length]conversion.
struct Conversion {
  std::string flags;
  int width = -1, precision = -1; ///< -1: none
  StringRef length;
  char type = 0; ///< 0: no conversion
};

class Formatter {
public:
  Formatter(StringRef format, function_ref<uint64_t(unsigned)> next,
            function_ref<std::string(uint64_t)> textAt)
      : rest(format), next(next), textAt(textAt) {}

  std::string run() {
    while (!rest.empty()) {
      size_t plain = std::min(rest.find('%'), rest.size());
      out += rest.take_front(plain);
      rest = rest.drop_front(plain);
      if (!rest.empty())
        conversion();
    }
    return std::move(out);
  }

private:
  void conversion() {
    StringRef start = rest;
    rest = rest.drop_front();
    Conversion c;
    StringRef flags =
        rest.take_while([](char x) { return StringRef("-+ #0").contains(x); });
    c.flags = flags.str();
    rest = rest.drop_front(flags.size());
    c.width = number();
    if (rest.consume_front("."))
      c.precision = std::max(0, number());
    // A negative width is a flag.
    if (c.width < -1) {
      c.flags += '-';
      c.width = c.width == INT32_MIN ? kMaxField : -c.width;
    }
    c.width = std::min(c.width, kMaxField);
    c.precision = std::min(c.precision, kMaxField);
    c.length =
        rest.take_while([](char x) { return StringRef("hlLjzt").contains(x); });
    rest = rest.drop_front(c.length.size());
    if (!rest.empty())
      c.type = rest.front();
    rest = rest.drop_front(!rest.empty());
    if (!write(c))
      out += start.take_front(start.size() - rest.size());
  }

  /// Digits or an argument; -1 where there is neither.
  int number() {
    if (rest.consume_front("*")) {
      int value = static_cast<int32_t>(next(4));
      return value == -1 ? -2 : value;
    }
    StringRef digits =
        rest.take_while([](char x) { return x >= '0' && x <= '9'; });
    rest = rest.drop_front(digits.size());
    int value = -1;
    if (!digits.empty() && digits.getAsInteger(10, value))
      value = kMaxField;
    return value;
  }

  template <class T> void append(const Conversion &c, const char *length, T v) {
    std::string spec = "%" + c.flags;
    if (c.width >= 0)
      spec += std::to_string(c.width);
    if (c.precision >= 0)
      spec += "." + std::to_string(c.precision);
    spec += length;
    spec += c.type;
    raytention::ClassicLocale classic; // 1.5, whatever the host program chose
    int size = std::snprintf(nullptr, 0, spec.c_str(), v);
    size_t before = out.size();
    out.resize(before + std::max(size, 0) + 1);
    std::snprintf(&out[before], size + 1, spec.c_str(), v);
    out.pop_back();
  }

  bool write(const Conversion &c) {
    bool isWide = c.length == "l" || c.length == "ll" || c.length == "j" ||
                  c.length == "z" || c.length == "t";
    switch (c.type) {
    case '%':
      out += '%';
      return true;
    case 'd':
    case 'i':
      append(c, "ll", signedOf(c.length, next(isWide ? 8 : 4), isWide));
      return true;
    case 'u':
    case 'o':
    case 'x':
    case 'X':
      append(c, "ll", unsignedOf(c.length, next(isWide ? 8 : 4)));
      return true;
    case 'p':
      append(c, "", reinterpret_cast<void *>(next(8)));
      return true;
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A': {
      uint64_t bits = next(8);
      double value;
      std::memcpy(&value, &bits, sizeof(value));
      append(c, "", value);
      return true;
    }
    case 'c':
    case 's':
      return writeText(c);
    default:
      return false;
    }
  }

  bool writeText(const Conversion &c) {
    if (!c.length.empty())
      return false;
    if (c.type == 'c')
      append(c, "", static_cast<int>(next(4)));
    else if (uint64_t address = next(8))
      append(c, "", textAt(address).c_str());
    else
      append(c, "", "(null)");
    return true;
  }

  static long long signedOf(StringRef length, uint64_t bits, bool isWide) {
    return length == "hh"  ? int8_t(bits)
           : length == "h" ? int16_t(bits)
           : isWide        ? int64_t(bits)
                           : int64_t(int32_t(bits));
  }
  static unsigned long long unsignedOf(StringRef length, uint64_t bits) {
    return length == "hh"  ? uint8_t(bits)
           : length == "h" ? uint16_t(bits)
                           : bits;
  }

  StringRef rest;
  function_ref<uint64_t(unsigned)> next;
  function_ref<std::string(uint64_t)> textAt;
  std::string out;
};

} // namespace

std::string
raytention::simt::formatText(StringRef format,
                             function_ref<uint64_t(unsigned)> next,
                             function_ref<std::string(uint64_t)> textAt) {
  return Formatter(format, next, textAt).run();
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// Behind the first message that does not fit, all are left out: what is kept
/// has no gaps.
void PrintBuffer::add(uint64_t block, std::string text) {
  if (leftOut || text.size() > most - bytes) {
    ++leftOut;
    return;
  }
  bytes += text.size();
  messages.push_back({block, std::move(text)});
}

void PrintBuffer::append(const PrintBuffer &other) {
  messages.insert(messages.end(), other.messages.begin(), other.messages.end());
  leftOut += other.leftOut;
}

uint64_t PrintBuffer::collect(std::string &text) {
  std::stable_sort(
      messages.begin(), messages.end(),
      [](const Message &a, const Message &b) { return a.block < b.block; });
  size_t kept = 0;
  for (const Message &message : messages) {
    if (message.text.size() > most - text.size())
      break;
    text += message.text;
    ++kept;
  }
  return leftOut + messages.size() - kept;
}
