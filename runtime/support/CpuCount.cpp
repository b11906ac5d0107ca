//===- CpuCount.cpp - how many workers are worth having -------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/support/CpuCount.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>

#include <sched.h>
#include <unistd.h>

using namespace llvm;
using namespace raytention;

//===----------------------------------------------------------------------===//
// Control groups
//===----------------------------------------------------------------------===//

/// A file of /proc or /sys; "" where there is none.
static std::string readSystemFile(const Twine &path) {
  auto file = MemoryBuffer::getFileAsStream(path);
  return file ? (*file)->getBuffer().trim().str() : "";
}

namespace {

/// A hierarchy of control groups that may limit CPU time: where it is mounted,
/// and which of its groups stands there.
struct Hierarchy {
  std::string mountPoint, rootGroup;
  bool isUnified; ///< version 2
};

} // namespace

/// Undoes the octal escapes of blanks and the like in /proc/self/mountinfo.
static std::string unescape(StringRef text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned code;
    if (text[i] == '\\' && !text.substr(i + 1, 3).getAsInteger(8, code) &&
        text.size() > i + 3) {
      plain += char(code);
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

/// "36 35 98:0 /group /mount rw shared:1 - cgroup2 cgroup rw".
static SmallVector<Hierarchy> findHierarchies(StringRef mountInfo) {
  SmallVector<Hierarchy> found;
  for (StringRef line : split(mountInfo, '\n')) {
    auto [mount, system] = line.split(" - ");
    SmallVector<StringRef> places, kinds, options;
    mount.split(places, ' ');
    system.split(kinds, ' ');
    if (places.size() < 5 || kinds.size() < 3)
      continue;
    kinds[2].split(options, ',');
    bool isUnified = kinds[0] == "cgroup2";
    if (isUnified || (kinds[0] == "cgroup" && is_contained(options, "cpu")))
      found.push_back({unescape(places[4]), unescape(places[3]), isUnified});
  }
  return found;
}

/// The group of this process: of "4:cpu,cpuacct:/a/b" (version 1) or "0::/a".
static std::optional<std::string> findGroup(StringRef groups, bool isUnified) {
  for (StringRef line : split(groups, '\n')) {
    auto [number, rest] = line.split(':');
    auto [controllers, path] = rest.split(':');
    SmallVector<StringRef> names;
    controllers.split(names, ',');
    if (isUnified ? number == "0" && controllers.empty()
                  : is_contained(names, "cpu"))
      return path.str();
  }
  return std::nullopt;
}

/// The quota that the group with these files sets itself.
static std::optional<double> quotaOf(StringRef folder, bool isUnified) {
  std::string files[2];
  StringRef time, period;
  if (isUnified) {
    files[0] = readSystemFile(folder + "/cpu.max");
    std::tie(time, period) = StringRef(files[0]).split(' ');
  } else {
    files[0] = readSystemFile(folder + "/cpu.cfs_quota_us");
    files[1] = readSystemFile(folder + "/cpu.cfs_period_us");
    time = files[0];
    period = files[1];
  }
  // "max" and -1 stand for no limit.
  uint64_t microseconds, perPeriod;
  if (time.getAsInteger(10, microseconds) ||
      period.getAsInteger(10, perPeriod) || perPeriod == 0)
    return std::nullopt;
  return double(microseconds) / double(perPeriod);
}

/// The tightest quota from `group` up to the group at the mount point.
static std::optional<double>
quotaWithin(StringRef root, const Hierarchy &hierarchy, StringRef group) {
  // Within a container the path may be the host's: then what is mounted is the
  // container's own group.
  StringRef below = group;
  if (hierarchy.rootGroup != "/" && !below.consume_front(hierarchy.rootGroup))
    below = "";
  if (!below.starts_with("/") || below.starts_with("/.."))
    below = "";
  std::optional<double> tightest;
  for (;;) {
    std::string folder = (root + hierarchy.mountPoint + below).str();
    if (auto quota = quotaOf(folder, hierarchy.isUnified))
      tightest = std::min(tightest.value_or(*quota), *quota);
    if (below.empty() || below == "/")
      return tightest;
    below = sys::path::parent_path(below);
  }
}

std::optional<double> raytention::cpuQuota(StringRef root) {
  std::string mounts = readSystemFile(root + "/proc/self/mountinfo");
  std::string groups = readSystemFile(root + "/proc/self/cgroup");
  std::optional<double> tightest;
  for (const Hierarchy &hierarchy : findHierarchies(mounts)) {
    auto group = findGroup(groups, hierarchy.isUnified);
    if (!group)
      continue;
    if (auto quota = quotaWithin(root, hierarchy, *group))
      tightest = std::min(tightest.value_or(*quota), *quota);
  }
  return tightest;
}

//===----------------------------------------------------------------------===//
// CPUs
//===----------------------------------------------------------------------===//

/// 0 where the system does not say.
static int countAllowed() {
  for (int most = 1024; most <= 1 << 20; most *= 2) {
    cpu_set_t *set = CPU_ALLOC(most);
    if (!set)
      return 0;
    size_t bytes = CPU_ALLOC_SIZE(most);
    CPU_ZERO_S(bytes, set);
    bool known = sched_getaffinity(0, bytes, set) == 0;
    int count = known ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (known)
      return count;
  }
  return 0;
}

int CpuCount::workers() const {
  double granted = quota ? std::ceil(*quota) : allowed;
  return std::max(1, int(std::min(double(allowed), granted)));
}

CpuCount raytention::countCpus() {
  constexpr double unread = -1, unlimited = -2;
  // No lock: a process forked off meanwhile reads it again.
  static std::atomic<double> known{unread};
  double quota = known;
  if (quota == unread) {
    quota = cpuQuota("").value_or(unlimited);
    known = quota;
  }
  CpuCount count;
  count.online = std::max<int>(1, sysconf(_SC_NPROCESSORS_ONLN));
  int allowed = countAllowed();
  count.allowed = allowed > 0 ? allowed : count.online;
  if (quota != unlimited)
    count.quota = quota;
  return count;
}
