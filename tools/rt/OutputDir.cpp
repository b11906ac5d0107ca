//===- OutputDir.cpp - a folder written whole or not at all ---------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/rt/OutputDir.h"

#include "tools/rt/PendingFolder.h"
#include "tools/rt/ToolError.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <numeric>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

using llvm::Error;
using llvm::StringRef;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace raytention::tool {

//===----------------------------------------------------------------------===//
// What can be known before there is anything to write
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

/// Whether something is mounted on the folder: it cannot be renamed.
static bool isMountPoint(const char *folder) {
  struct statx status;
  return statx(AT_FDCWD, folder, AT_SYMLINK_NOFOLLOW, STATX_TYPE, &status) ==
             0 &&
         (status.stx_attributes_mask & status.stx_attributes &
          STATX_ATTR_MOUNT_ROOT);
}

/// Whether `parent` lets only owners move `folder` away, and we own neither.
static bool isSticky(const char *parent, const char *folder) {
  struct stat around, inner;
  uid_t user = geteuid();
  return user != 0 && stat(parent, &around) == 0 &&
         lstat(folder, &inner) == 0 && (around.st_mode & S_ISVTX) &&
         around.st_uid != user && inner.st_uid != user;
}

/// The folder will make place for a new one of its name.
static Error checkMovable(StringRef place, const std::string &full,
                          const std::string &parent) {
  if (!fs::exists(full))
    return Error::success();
  if (isSticky(parent.c_str(), full.c_str()))
    return usageError("--out {0}: expected a folder that can be replaced, got "
                      "one of another user in {1}, where only owners may "
                      "rename; name a new one",
                      place, parent);
  if (access(full.c_str(), W_OK | X_OK))
    return usageError("--out {0}: expected a folder that can be emptied, got: "
                      "{1}; name a new one",
                      place, std::strerror(errno));
  return Error::success();
}

/// The results are written beside `full`, under a name that begins alike.
static Error checkParent(StringRef place, StringRef full,
                         const std::string &parent) {
  StringRef name = path::filename(full);
  if (name == "..")
    return usageError("--out {0}: expected the name of a folder, got ..",
                      place);
  fs::file_status status;
  if (fs::status(parent, status) || !fs::is_directory(status))
    return usageError("--out {0}: expected an existing folder around it, got "
                      "{1} at {2}{3}",
                      place, fs::exists(status) ? "a file" : "none", parent,
                      fs::exists(status) ? "" : "; make it first (mkdir -p)");
  long longest = pathconf(parent.c_str(), _PC_NAME_MAX);
  if (longest > 0 && name.size() > size_t(longest))
    return usageError("--out: expected a name of at most {0} bytes, got {1}: "
                      "{2}",
                      longest, name.size(), quoted(name));
  if (full.size() + 64 > PATH_MAX)
    return usageError("--out: expected a path below {0} bytes, got {1}",
                      PATH_MAX - 64, full.size());
  return Error::success();
}

llvm::Expected<std::unique_ptr<OutputDir>>
OutputDir::create(StringRef place, llvm::ArrayRef<StringRef> names) {
  llvm::SmallString<256> absolute = place;
  if (std::error_code code = fs::make_absolute(absolute))
    return usageError("--out {0}: expected a usable path, got: {1}", place,
                      code.message());
  path::remove_dots(absolute, /*remove_dot_dot=*/false);
  while (absolute.size() > 1 && absolute.back() == '/')
    absolute.pop_back();
  std::string full = absolute.str().str();
  std::string parent = path::parent_path(full).str();
  if (isMountPoint(full.c_str()))
    return usageError("--out {0}: expected a folder that can be replaced, got "
                      "a mount point; name one inside it, as {0}/results",
                      place);
  if (Error error = checkParent(place, full, parent))
    return error;
  if (Error error = checkReplaceable(full, names))
    return error;
  if (Error error = checkMovable(place, full, parent))
    return error;
  // A name that is nearly too long leaves no room for the suffix.
  constexpr size_t most = 200;
  std::string temporary = parent + "/" +
                          path::filename(full).take_front(most).str() +
                          ".tmp-XXXXXX";
  if (int code = makePendingFolder(temporary, names))
    return usageError("--out {0}: expected a folder around it that can be "
                      "written (results stand beside their place until they "
                      "are complete), got: {1} at {2}; name one elsewhere",
                      place, std::strerror(code), parent);
  return std::unique_ptr<OutputDir>(
      new OutputDir(std::move(full), std::move(temporary)));
}

Error OutputDir::checkRoom(llvm::ArrayRef<uint64_t> files) const {
  uint64_t total = std::accumulate(files.begin(), files.end(), uint64_t(0));
  uint64_t largest =
      files.empty() ? 0 : *std::max_element(files.begin(), files.end());
  struct rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      largest > limit.rlim_cur)
    return missingError("--out {0}: expected files of at most {1} bytes (the "
                        "limit of this process), got a need of {2}; raise it "
                        "(ulimit -f)",
                        path, uint64_t(limit.rlim_cur), largest);
  struct statvfs disk;
  if (statvfs(temporary.c_str(), &disk))
    return Error::success();
  uint64_t blocks = geteuid() == 0 ? disk.f_bfree : disk.f_bavail;
  uint64_t room = llvm::SaturatingMultiply<uint64_t>(blocks, disk.f_frsize);
  // Some file systems do not count their blocks.
  if (disk.f_blocks != 0 && total > room)
    return missingError("--out {0}: expected {1} bytes of room for the "
                        "results, got {2}; free some, or name a folder on "
                        "another disk",
                        path, total, room);
  return Error::success();
}

OutputDir::OutputDir(std::string path, std::string temporary)
    : path(std::move(path)), temporary(std::move(temporary)) {}

OutputDir::~OutputDir() {
  if (!committed)
    removePendingFolder();
  keepPendingFolder();
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
  removePendingFolder();
  committed = true;
  keepPendingFolder();
  return Error::success();
}

} // namespace raytention::tool
