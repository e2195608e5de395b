#include <distribute/base/limits.hpp>

#include "../support/catch.hpp"
#include "../support/temporary_directory.hpp"

#include <new>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace distribute;

TEST_CASE("the room below a container's limit leaves out cached files", "[base][memory_limit]") {
  const TemporaryDirectory root;
  const std::string group = root / "sys/fs/cgroup";
  std::filesystem::create_directories(root / "proc/self");
  std::filesystem::create_directories(group);
  CHECK(!memory_room(root.path()));
  std::ofstream(root / "proc/self/cgroup") << "0::/\n";
  std::ofstream(root / "proc/self/mountinfo")
      << "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
  std::ofstream(group + "/memory.max") << "1073741824\n";
  std::ofstream(group + "/memory.current") << "800000000\n";
  std::ofstream(group + "/memory.stat") << "anon 500000000\nfile 300000000\nshmem 1000000\n";
  const auto room = memory_room(root.path());
  REQUIRE(room);
  CHECK(room->limit == 1 << 30);
  CHECK(room->used == 501'000'000);
  CHECK(room->free() == (1 << 30) - 501'000'000);
  CHECK(memory_text(*room) == "478 MiB of 1.0 GiB are in use (/sys/fs/cgroup/memory.max)");
}

TEST_CASE("sizes are texts for people", "[base][memory_limit]") {
  CHECK(memory_text(512) == "512 bytes");
  CHECK(memory_text(1536) == "1.5 KiB");
  CHECK(memory_text(int64_t{64} << 20) == "64 MiB");
  CHECK(memory_text(int64_t{3} << 40) == "3.0 TiB");
}

TEST_CASE("the limit of the address space is found", "[base][memory_limit]") {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit{rlim_t{1} << 46, rlim_t{1} << 46};  // above what sanitizers reserve
    ::setrlimit(RLIMIT_AS, &limit);
    const auto room = address_room();
    ::_exit(room && room->limit == int64_t{1} << 46 && room->used > 0 ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
}

TEST_CASE("an error without memory names the limit, and large blocks leave some to others",
          "[base][memory_limit]") {
  CHECK(error_text(std::runtime_error("no sheep")) == "no sheep");
  CHECK(error_text(std::bad_alloc()).substr(0, 18) == "out of host memory");
  CHECK(base_internal::leaves_room_for_others(int64_t{1} << 60));
  const pid_t child = ::fork();
  if (child == 0) {
    rlimit limit{rlim_t{1} << 46, rlim_t{1} << 46};
    ::setrlimit(RLIMIT_AS, &limit);  // for address_room()
    limit.rlim_cur = rlim_t(address_room()->used) + (64 << 20);
    ::setrlimit(RLIMIT_AS, &limit);
    base_internal::prepare_for_little_memory();
    const bool good = base_internal::leaves_room_for_others(32 << 20) &&
                      !base_internal::leaves_room_for_others(56 << 20) &&
                      address_room()->free() > 32 << 20 &&
                      error_text(std::bad_alloc()).find("(ulimit -v)") != std::string::npos;
    ::_exit(good ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
}
