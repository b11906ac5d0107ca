//===- OutputDir.cpp - a folder written whole or not at all ---------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/rt/OutputDir.h"

#include "tools/rt/ToolError.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using llvm::Error;
using llvm::StringRef;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace raytention::tool {

//===----------------------------------------------------------------------===//
// Removal on a signal
//===----------------------------------------------------------------------===//

namespace {

constexpr std::array<int, 3> endSignals = {SIGINT, SIGTERM, SIGHUP};

/// What the handler removes, in fixed memory: it may not allocate.
struct Pending {
  static constexpr int maxFiles = 8;
  char folder[PATH_MAX];
  char files[maxFiles][PATH_MAX];
  int numFiles = 0;
  std::atomic<bool> armed{false};
  struct sigaction previous[endSignals.size()];
};
Pending pending;

/// Only calls that are allowed in a handler. Another thread may be creating a
/// file meanwhile, so a folder that is not empty is tried again.
void removePending() {
  for (int attempt = 0; attempt < 100; ++attempt) {
    for (int i = 0; i < pending.numFiles; ++i)
      unlink(pending.files[i]);
    if (rmdir(pending.folder) == 0 || errno != ENOTEMPTY)
      return;
  }
}

void onSignal(int number) {
  if (pending.armed.exchange(false))
    removePending();
  // The signal is blocked here: it ends the process once this returns.
  signal(number, SIG_DFL);
  raise(number);
}

} // namespace

static void copyPath(char (&out)[PATH_MAX], StringRef text) {
  size_t length = std::min<size_t>(text.size(), PATH_MAX - 1);
  std::memcpy(out, text.data(), length);
  out[length] = 0;
}

/// Registers the paths before any of them exists, then takes the signals that
/// the caller's parent has not told to ignore.
static void arm(StringRef folder, llvm::ArrayRef<StringRef> names) {
  copyPath(pending.folder, folder);
  pending.numFiles = 0;
  for (StringRef name : names.take_front(Pending::maxFiles))
    copyPath(pending.files[pending.numFiles++], (folder + "/" + name).str());
  pending.armed = true;
  struct sigaction action = {};
  action.sa_handler = onSignal;
  for (size_t i = 0; i < endSignals.size(); ++i) {
    sigaction(endSignals[i], &action, &pending.previous[i]);
    if (pending.previous[i].sa_handler == SIG_IGN)
      sigaction(endSignals[i], &pending.previous[i], nullptr);
  }
}

static void disarm() {
  if (!pending.armed.exchange(false))
    return;
  for (size_t i = 0; i < endSignals.size(); ++i)
    sigaction(endSignals[i], &pending.previous[i], nullptr);
}

//===----------------------------------------------------------------------===//
// The folder
//===----------------------------------------------------------------------===//

/// An existing folder may only hold what would be written anew.
static Error checkReplaceable(StringRef place,
                              llvm::ArrayRef<StringRef> names) {
  fs::file_status status;
  if (fs::status(place, status) || !fs::exists(status)) {
    if (fs::is_symlink_file(place))
      return usageError("--out {0}: expected a new folder, got a dangling link",
                        place);
    return Error::success();
  }
  if (!fs::is_directory(status) || fs::is_symlink_file(place))
    return usageError("--out {0}: expected a new folder or one that holds "
                      "only results, got {1}",
                      place, fs::is_directory(status) ? "a link" : "a file");
  std::error_code code;
  for (fs::directory_iterator it(place, code), end; it != end && !code;
       it.increment(code))
    if (!llvm::is_contained(names, path::filename(it->path())))
      return usageError("--out {0}: expected a new folder or one that holds "
                        "only results, got one with {1}",
                        place, quoted(path::filename(it->path())));
  if (code)
    return usageError("--out {0}: expected a readable folder, got: {1}", place,
                      code.message());
  return Error::success();
}

/// Makes the folder, with the rights of any new one, and arms its removal
/// before a signal can come between. Returns errno, or 0.
static int makeTemporary(std::string &name, llvm::ArrayRef<StringRef> names) {
  sigset_t ends, before;
  sigemptyset(&ends);
  for (int number : endSignals)
    sigaddset(&ends, number);
  pthread_sigmask(SIG_BLOCK, &ends, &before);
  int code = mkdtemp(name.data()) ? 0 : errno;
  if (!code) {
    mode_t mask = umask(0);
    umask(mask);
    chmod(name.c_str(), 0777 & ~mask);
    arm(name, names);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return code;
}

llvm::Expected<std::unique_ptr<OutputDir>>
OutputDir::create(StringRef place, llvm::ArrayRef<StringRef> names) {
  llvm::SmallString<256> full = place;
  if (std::error_code code = fs::make_absolute(full))
    return usageError("--out {0}: expected a usable path, got: {1}", place,
                      code.message());
  path::remove_dots(full, /*remove_dot_dot=*/false);
  while (full.size() > 1 && full.back() == '/')
    full.pop_back();
  if (Error error = checkReplaceable(full, names))
    return error;
  StringRef parent = path::parent_path(full);
  if (!fs::is_directory(parent))
    return usageError("--out {0}: expected an existing folder around it, got "
                      "none at {1}",
                      place, parent);
  std::string temporary = (full + ".tmp-XXXXXX").str();
  if (temporary.size() + 64 > PATH_MAX)
    return usageError("--out: expected a path below {0} bytes, got {1}",
                      PATH_MAX - 64, temporary.size());
  if (int code = makeTemporary(temporary, names))
    return usageError("--out {0}: expected a folder that can be written, got: "
                      "{1}",
                      place, std::strerror(code));
  return std::unique_ptr<OutputDir>(
      new OutputDir(full.str().str(), std::move(temporary)));
}

OutputDir::OutputDir(std::string path, std::string temporary)
    : path(std::move(path)), temporary(std::move(temporary)) {}

OutputDir::~OutputDir() {
  if (!committed)
    removePending();
  disarm();
}

Error OutputDir::writeNpy(
    StringRef name, NpyType type, llvm::ArrayRef<int64_t> shape,
    const std::function<void(llvm::raw_ostream &)> &body) {
  std::error_code code;
  llvm::raw_fd_ostream os(temporary + "/" + name.str(), code);
  if (!code) {
    os.SetBufferSize(1 << 20);
    os << npyHeader(type, shape);
    body(os);
    os.close();
    code = os.error();
    os.clear_error(); // told below; the destructor would abort
  }
  if (code)
    return missingError("--out: expected to write {0} in full, got: {1}", name,
                        code.message());
  return Error::success();
}

/// Puts `from` in the place of the folder `to`. One step where the file system
/// can exchange names; else `to` is away for a moment.
static bool replaceFolder(const std::string &from, const std::string &to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(),
                RENAME_EXCHANGE) == 0)
    return true; // what was replaced now has the temporary name
  std::string old = from + ".old";
  if (std::rename(to.c_str(), old.c_str()))
    return false;
  if (std::rename(from.c_str(), to.c_str())) {
    std::rename(old.c_str(), to.c_str());
    return false;
  }
  std::rename(old.c_str(), from.c_str());
  return true;
}

Error OutputDir::commit() {
  bool done;
  if (fs::exists(path))
    done = replaceFolder(temporary, path);
  else
    done = std::rename(temporary.c_str(), path.c_str()) == 0;
  if (!done)
    return usageError("--out {0}: expected a place to rename to, got: {1}",
                      path, std::strerror(errno));
  // After an exchange the temporary name holds the older results.
  removePending();
  committed = true;
  disarm();
  return Error::success();
}

} // namespace raytention::tool
