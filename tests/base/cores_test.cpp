#include <distribute/base/limits.hpp>
#include <distribute/base/parallel.hpp>

#include "../support/catch.hpp"
#include "../support/temporary_directory.hpp"

#include <sched.h>

using namespace distribute;

namespace {

CoreLimits limits(int online, int allowed, std::optional<double> quota) {
  CoreLimits limits;
  limits.online = online;
  limits.allowed = allowed;
  limits.quota = quota;
  return limits;
}

}  // namespace

TEST_CASE("the tighter of affinity and quota bounds the cores", "[base][cores]") {
  CHECK(limits(64, 64, std::nullopt).usable() == 64);
  CHECK(limits(64, 16, std::nullopt).usable() == 16);
  CHECK(limits(64, 64, 12).usable() == 12);
  CHECK(limits(64, 4, 12).usable() == 4);
}

TEST_CASE("half a core and more is rounded up", "[base][cores]") {
  const auto [quota, cores] =
      GENERATE(std::pair{0.5, 1}, std::pair{1.0, 1}, std::pair{1.4, 1}, std::pair{1.5, 2},
               std::pair{2.0, 2}, std::pair{2.49, 2}, std::pair{11.99, 12}, std::pair{100.0, 64});
  CHECK(limits(64, 64, quota).cores() == cores);
}

TEST_CASE("the text says how many cores and why", "[base][cores]") {
  CHECK(limits(64, 64, std::nullopt).text() == "64 cores");
  CHECK(limits(1, 1, std::nullopt).text() == "1 core");
  CHECK(limits(64, 8, std::nullopt).text() == "8 of 64 cores by the affinity of the process");
  CHECK(limits(64, 64, 12).text() == "12 of 64 cores by the container's quota");
  CoreLimits with_file = limits(4, 4, 0.5);
  with_file.quota_file = "/sys/fs/cgroup/cpu.max";
  CHECK(with_file.text() == "0.5 of 4 cores by the container's quota (/sys/fs/cgroup/cpu.max)");
}

TEST_CASE("a quota below a root is found", "[base][cores]") {
  const TemporaryDirectory root;
  std::filesystem::create_directories(root / "proc/self");
  std::filesystem::create_directories(root / "sys/fs/cgroup");
  std::ofstream(root / "proc/self/cgroup") << "0::/\n";
  std::ofstream(root / "proc/self/mountinfo")
      << "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
  std::ofstream(root / "sys/fs/cgroup/cpu.max") << "25000 100000\n";
  const CoreLimits found = find_core_limits(root.path());
  CHECK(found.quota == 0.25);
  CHECK(found.quota_file == "/sys/fs/cgroup/cpu.max");
  CHECK(found.cores() == 1);
}

TEST_CASE("the affinity is that of the process", "[base][cores]") {
  cpu_set_t before, one;
  REQUIRE(::sched_getaffinity(0, sizeof before, &before) == 0);
  CHECK(find_core_limits().allowed == CPU_COUNT(&before));
  CPU_ZERO(&one);
  for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
  const int allowed = find_core_limits().allowed;
  REQUIRE(::sched_setaffinity(0, sizeof before, &before) == 0);
  CHECK(allowed == 1);
}

TEST_CASE("tasks of one host divide its cores, and each has one", "[base][cores]") {
  const int all = core_limits().cores();
  CHECK(cores_for_tasks(0) == all);
  CHECK(cores_for_tasks(1) == all);
  CHECK(cores_for_tasks(2) == std::max(all / 2, 1));
  CHECK(cores_for_tasks(1000 * all) == 1);
  set_tasks_on_host(2);
  CHECK(usable_cores() == std::max(all / 2, 1));
  set_tasks_on_host(1);
  CHECK(usable_cores() == all);
}

TEST_CASE("a new thread computes with the threads that may be used", "[base][cores]") {
  if (std::getenv("OMP_NUM_THREADS")) SKIP("OMP_NUM_THREADS sets the number of threads");
  const int all = core_limits().cores();
  set_tasks_on_host(1000 * all);
  int threads = 0, set = 0;
  std::thread([&] { threads = intra_op_threads(); }).join();
  std::thread([&] {
    set_intra_op_threads(3);  // what a program sets is kept
    set = intra_op_threads();
  }).join();
  set_tasks_on_host(1);
  CHECK(threads == 1);
  CHECK(set == 3);
}

TEST_CASE("threads spin for others only while each has a core", "[base][cores]") {
  const int all = core_limits().cores();
  CHECK(spinning_pays(all));
  CHECK(!spinning_pays(all + 1));
}
