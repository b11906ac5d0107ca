//===- InputFile.cpp - files that are read --------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/rt/InputFile.h"

#include "tools/rt/ToolError.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"

#include <algorithm>

#include <unistd.h>

using llvm::Expected;
using llvm::StringRef;
namespace fs = llvm::sys::fs;

namespace raytention::tool {

llvm::Error InputFile::unreadable(const std::string &reason) const {
  return usageError("{0}: expected a readable {1}, got: {2}", name, kind,
                    reason);
}

Expected<InputFile> InputFile::open(StringRef path, StringRef name,
                                    StringRef kind) {
  InputFile result(-1, name, kind);
  Expected<fs::file_t> file = fs::openNativeFileForRead(path);
  if (!file)
    return result.unreadable(llvm::toString(file.takeError()));
  result.file = *file;
  fs::file_status status;
  if (std::error_code code = fs::status(*file, status))
    return result.unreadable(code.message());
  if (fs::is_regular_file(status))
    result.known = status.getSize();
  return result;
}

InputFile::InputFile(InputFile &&other)
    : file(other.file), known(other.known), done(other.done),
      name(std::move(other.name)), kind(std::move(other.kind)) {
  other.file = -1;
}

InputFile::~InputFile() {
  if (file >= 0)
    ::close(file);
}

Expected<size_t> InputFile::read(llvm::MutableArrayRef<char> to) {
  size_t filled = 0;
  while (filled < to.size()) {
    Expected<size_t> count = fs::readNativeFile(file, to.drop_front(filled));
    if (!count)
      return unreadable(llvm::toString(count.takeError()));
    if (*count == 0)
      break;
    filled += *count;
    done += *count;
  }
  return filled;
}

Expected<std::unique_ptr<llvm::MemoryBuffer>>
readWhole(StringRef path, StringRef name, uint64_t limit) {
  Expected<InputFile> file = InputFile::open(path, name);
  if (!file)
    return file.takeError();
  if (file->size().value_or(0) > limit)
    return usageError("{0}: expected at most {1} bytes, got {2}", name, limit,
                      *file->size());
  constexpr size_t least = 1 << 16;
  llvm::SmallVector<char, 0> bytes;
  for (size_t have = 0;;) {
    size_t room = std::max<size_t>(
        {least, 2 * have, have ? 0 : file->size().value_or(0) + 1});
    bytes.resize_for_overwrite(std::min<uint64_t>(room, limit + 1));
    Expected<size_t> count =
        file->read(llvm::MutableArrayRef<char>(bytes).drop_front(have));
    if (!count)
      return count.takeError();
    have += *count;
    if (have > limit)
      return usageError("{0}: expected at most {1} bytes, got more", name,
                        limit);
    if (have < bytes.size()) {
      bytes.resize(have);
      return std::make_unique<llvm::SmallVectorMemoryBuffer>(
          std::move(bytes), name, /*RequiresNullTerminator=*/true);
    }
  }
}

} // namespace raytention::tool
