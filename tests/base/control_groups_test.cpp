#include <distribute/base/limits.hpp>

#include "../support/catch.hpp"
#include "../support/control_group.hpp"
#include "../support/temporary_directory.hpp"

using namespace distribute;

namespace {

/// A machine of the test's own: /proc/self and mounted control groups below a folder.
struct Machine {
  TemporaryDirectory folder;

  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = folder.path() + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  /// Version 2 in its usual place; `shown` is the part of the tree that is mounted.
  void mount_second(const std::string& group, const std::string& shown = "/") const {
    write("/proc/self/cgroup", "0::" + group + "\n");
    write("/proc/self/mountinfo", "22 1 0:20 / /proc rw - proc proc rw\n31 23 0:28 " + shown +
                                      " /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n");
  }
  void mount_first(const std::string& group, const std::string& shown = "/") const {
    write("/proc/self/cgroup", "9:name=systemd:/x\n4:memory:" + group +
                                   "\n3:cpuset:/y\n2:cpu,cpuacct:" + group + "\n0::/\n");
    write("/proc/self/mountinfo",
          "32 31 0:29 " + shown + " /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n" +
              "34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n" + "35 31 0:32 " +
              shown + " /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  }
  ControlGroups groups() const { return ControlGroups(folder.path()); }
};

}  // namespace

TEST_CASE("a quota of version 2 is found, and says where it stands", "[base][control_groups]") {
  const Machine machine;
  machine.mount_second("/kubepods/pod7/trainer");
  machine.write("/sys/fs/cgroup/kubepods/pod7/trainer/cpu.max", "150000 100000\n");
  const auto cores = machine.groups().cores();
  REQUIRE(cores);
  CHECK(cores->value == 1.5);
  CHECK(cores->file == "/sys/fs/cgroup/kubepods/pod7/trainer/cpu.max");
}

TEST_CASE("of nested groups the tightest limits", "[base][control_groups]") {
  const Machine machine;
  machine.mount_second("/pod/inner");
  machine.write("/sys/fs/cgroup/pod/inner/cpu.max", "max 100000\n");
  machine.write("/sys/fs/cgroup/pod/cpu.max", "50000 20000\n");
  machine.write("/sys/fs/cgroup/pod/inner/memory.max", "2147483648\n");
  machine.write("/sys/fs/cgroup/pod/memory.max", "1073741824\n");
  CHECK(machine.groups().cores()->value == 2.5);
  CHECK(machine.groups().memory()->value == 1 << 30);
  machine.write("/sys/fs/cgroup/pod/inner/cpu.max", "100000 100000\n");
  CHECK(machine.groups().cores()->value == 1);
}

TEST_CASE("without a limit there is none", "[base][control_groups]") {
  const Machine machine;
  CHECK(!machine.groups().cores());  // no /proc at all
  machine.mount_second("/");
  CHECK(!machine.groups().cores());
  machine.write("/sys/fs/cgroup/cpu.max", "max 100000\n");
  machine.write("/sys/fs/cgroup/memory.max", "max\n");
  CHECK(!machine.groups().cores());
  CHECK(!machine.groups().memory());
  CHECK(!machine.groups().memory_used());
  CHECK(!machine.groups().throttling());
  machine.write("/sys/fs/cgroup/cpu.max", "nonsense\n");
  CHECK(!machine.groups().cores());
  machine.write("/sys/fs/cgroup/cpu.max", "100000 0\n");
  CHECK(!machine.groups().cores());
}

TEST_CASE("a container sees its own group as the whole tree", "[base][control_groups]") {
  const Machine machine;
  // A namespace shows "/"; without one the mount shows a part, and the path is that of the host.
  const auto [group, shown] = GENERATE(std::pair{"/", "/"}, std::pair{"/docker/4f", "/docker/4f"},
                                       std::pair{"/../../other", "/"});
  machine.mount_second(group, shown);
  machine.write("/sys/fs/cgroup/cpu.max", "400000 100000\n");
  CHECK(machine.groups().cores()->value == 4);
}

TEST_CASE("a group inside of the part that is mounted is found", "[base][control_groups]") {
  const Machine machine;
  machine.mount_second("/docker/4f/sub", "/docker/4f");
  machine.write("/sys/fs/cgroup/sub/cpu.max", "300000 100000\n");
  CHECK(machine.groups().cores()->value == 3);
  machine.mount_second("/docker/4f0", "/docker/4f");  // another group, not one inside
  CHECK(!machine.groups().cores());
}

TEST_CASE("limits of version 1 are found", "[base][control_groups]") {
  const Machine machine;
  machine.mount_first("/docker/4f", "/docker/4f");
  machine.write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  machine.write("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  machine.write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  CHECK(!machine.groups().cores());
  CHECK(!machine.groups().memory());
  machine.write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "25000\n");
  machine.write("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "50000\n");
  machine.write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "536870912\n");
  machine.write("/sys/fs/cgroup/memory/memory.usage_in_bytes", "300000000\n");
  machine.write("/sys/fs/cgroup/memory/memory.stat",
                "cache 9\ntotal_cache 120000000\ntotal_shmem 20000000\n");
  CHECK(machine.groups().cores()->value == 0.5);
  CHECK(machine.groups().cores()->file == "/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  CHECK(machine.groups().memory()->value == 536870912);
  CHECK(machine.groups().memory_used() == 200000000);
}

TEST_CASE("throttling is that of the group with the quota", "[base][control_groups]") {
  const Machine machine;
  machine.mount_second("/pod/inner");
  machine.write("/sys/fs/cgroup/pod/inner/cpu.max", "max 100000\n");
  machine.write("/sys/fs/cgroup/pod/inner/cpu.stat", "nr_periods 1\nnr_throttled 1\n");
  machine.write("/sys/fs/cgroup/pod/cpu.max", "100000 100000\n");
  machine.write("/sys/fs/cgroup/pod/cpu.stat",
                "usage_usec 9\nnr_periods 40\nnr_throttled 10\nthrottled_usec 2500000\n");
  const auto throttling = machine.groups().throttling();
  REQUIRE(throttling);
  CHECK(throttling->file == "/sys/fs/cgroup/pod/cpu.stat");
  CHECK(throttling->periods == 40);
  CHECK(throttling->throttled == 10);
  CHECK(throttling->seconds == Approx(2.5));
}

TEST_CASE("throttled time of version 1 is in nanoseconds", "[base][control_groups]") {
  const Machine machine;
  machine.mount_first("/");
  machine.write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000\n");
  machine.write("/sys/fs/cgroup/cpu/cpu.stat",
                "nr_periods 7\nnr_throttled 3\nthrottled_time 1500000000\n");
  CHECK(machine.groups().cores()->value == 1);  // the usual period
  CHECK(machine.groups().throttling()->seconds == Approx(1.5));
}

TEST_CASE("a real control group's quota is found", "[base][control_groups]") {
  const ControlGroup group("cpu", "cpu.cfs_quota_us", "cpu.max");
  if (!group.why_not().empty()) SKIP("" + group.why_not());
  group.limit("70000");  // of the usual period
  CHECK(group.run([] {
    const auto cores = ControlGroups().cores();
    return cores && cores->value == 0.7 ? 0 : 1;
  }) == 0);
}
