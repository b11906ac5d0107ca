//===- CpuCountTest.cpp - how many workers are worth having ---------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/support/CpuCount.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

#include <sched.h>

using namespace raytention;

namespace {

/// A folder in the place of the root, with files planted in it.
class Root {
public:
  Root() {
    llvm::SmallString<128> name;
    if (llvm::sys::fs::createUniqueDirectory("rt-root", name))
      std::abort();
    path = name.str().str();
  }
  ~Root() { llvm::sys::fs::remove_directories(path); }
  Root &plant(const std::string &file, llvm::StringRef text) {
    std::string full = path + file;
    llvm::sys::fs::create_directories(llvm::sys::path::parent_path(full));
    std::error_code code;
    llvm::raw_fd_ostream(full, code) << text << "\n";
    return *this;
  }
  /// -1: no limit.
  double quota() const { return cpuQuota(path).value_or(-1); }

private:
  std::string path;
};

const char *const unified =
    "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
    "30 22 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw";
const char *const legacy =
    "30 22 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
    "31 30 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    "32 30 0:28 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup "
    "rw,cpu,cpuacct";

TEST(CpuQuota, NoneWithoutControlGroups) {
  Root root;
  EXPECT_EQ(root.quota(), -1);
  root.plant("/proc/self/mountinfo", "22 1 8:1 / / rw - ext4 /dev/sda1 rw");
  root.plant("/proc/self/cgroup", "0::/");
  EXPECT_EQ(root.quota(), -1);
}

TEST(CpuQuota, OfVersion2) {
  Root root;
  root.plant("/proc/self/mountinfo", unified);
  root.plant("/proc/self/cgroup", "0::/a.slice/b.scope");
  root.plant("/sys/fs/cgroup/a.slice/b.scope/cpu.max", "max 100000");
  EXPECT_EQ(root.quota(), -1);
  root.plant("/sys/fs/cgroup/a.slice/b.scope/cpu.max", "250000 100000");
  EXPECT_EQ(root.quota(), 2.5);
}

TEST(CpuQuota, TheTightestOfNestedGroups) {
  Root root;
  root.plant("/proc/self/mountinfo", unified);
  root.plant("/proc/self/cgroup", "0::/a/b/c");
  root.plant("/sys/fs/cgroup/a/b/c/cpu.max", "800000 100000");
  root.plant("/sys/fs/cgroup/a/b/cpu.max", "max 100000");
  root.plant("/sys/fs/cgroup/a/cpu.max", "150000 50000");
  EXPECT_EQ(root.quota(), 3);
  root.plant("/sys/fs/cgroup/cpu.max", "100000 100000");
  EXPECT_EQ(root.quota(), 1);
}

TEST(CpuQuota, OfVersion1) {
  Root root;
  root.plant("/proc/self/mountinfo", legacy);
  root.plant("/proc/self/cgroup", "5:memory:/m\n4:cpu,cpuacct:/x/y\n0::/z");
  std::string group = "/sys/fs/cgroup/cpu,cpuacct/x";
  root.plant(group + "/cpu.cfs_quota_us", "-1");
  root.plant(group + "/cpu.cfs_period_us", "100000");
  EXPECT_EQ(root.quota(), -1);
  root.plant(group + "/cpu.cfs_quota_us", "50000");
  EXPECT_EQ(root.quota(), 0.5);
  root.plant(group + "/y/cpu.cfs_quota_us", "20000");
  root.plant(group + "/y/cpu.cfs_period_us", "100000");
  EXPECT_EQ(root.quota(), 0.2);
}

TEST(CpuQuota, BothVersionsTogether) {
  Root root;
  root.plant("/proc/self/mountinfo", std::string(unified) + "\n" + legacy);
  root.plant("/proc/self/cgroup", "4:cpu,cpuacct:/\n0::/");
  root.plant("/sys/fs/cgroup/cpu.max", "400000 100000");
  root.plant("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "300000");
  root.plant("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000");
  EXPECT_EQ(root.quota(), 3);
}

/// What is mounted in a container may be a group below the host's root, under
/// names that the container does or does not see.
TEST(CpuQuota, OfAContainer) {
  Root root;
  root.plant("/proc/self/mountinfo",
             "30 22 0:26 /docker/abc /sys/fs/cgroup\\040x ro - cgroup2 c rw");
  root.plant("/sys/fs/cgroup x/cpu.max", "200000 100000");
  root.plant("/sys/fs/cgroup x/job/cpu.max", "100000 100000");
  for (const char *group :
       {"0::/docker/abc", "0::/", "0::/docker/abcdef", "0::/../../other"}) {
    root.plant("/proc/self/cgroup", group);
    EXPECT_EQ(root.quota(), 2) << group;
  }
  root.plant("/proc/self/cgroup", "0::/docker/abc/job");
  EXPECT_EQ(root.quota(), 1);
}

TEST(CpuQuota, NonsenseIsNoLimit) {
  for (const char *text : {"", "x y", "100000", "100000 0", "-5 100000",
                           "99999999999999999999 1"}) {
    Root root;
    root.plant("/proc/self/mountinfo", unified)
        .plant("/proc/self/cgroup", "0::/");
    root.plant("/sys/fs/cgroup/cpu.max", text);
    EXPECT_EQ(root.quota(), -1) << text;
  }
  Root root;
  root.plant("/proc/self/mountinfo", "- cgroup2\n\n1 2 - cgroup2 x rw\n - - -");
  root.plant("/proc/self/cgroup", ":::\n\n0:");
  EXPECT_EQ(root.quota(), -1);
}

TEST(CpuCount, WorkersAreTheLesserOfCpusAndQuota) {
  CpuCount count;
  count.online = 64;
  count.allowed = 8;
  EXPECT_EQ(count.workers(), 8);
  for (auto [quota, workers] :
       {std::pair(0.01, 1), std::pair(1.0, 1), std::pair(1.5, 2),
        std::pair(7.2, 8), std::pair(8.5, 8), std::pair(1e12, 8)}) {
    count.quota = quota;
    EXPECT_EQ(count.workers(), workers) << quota;
  }
}

TEST(CpuCount, FollowsTheAffinity) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  EXPECT_EQ(countCpus().allowed, CPU_COUNT(&before));
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &before))
      CPU_SET(cpu, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(countCpus().allowed, 1);
  EXPECT_EQ(countCpus().workers(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
  EXPECT_GE(countCpus().online, CPU_COUNT(&before));
}

} // namespace
