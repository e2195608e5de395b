#include <distribute/base/status.hpp>
#include <distribute/net/detail/descriptor_door.hpp>

#include <cstring>
#include <ctime>
#include <optional>
#include <thread>

#include <sys/mman.h>
#include <unistd.h>

#include "support/catch.hpp"
#include "support/no_descriptors.hpp"

using namespace distribute;
using net::Deadline;
using net::DescriptorDoor;

namespace {
Deadline soon() { return Deadline::after_seconds(20); }
std::string name(const char* what) { return str_cat("distribute-test-", ::getpid(), "-", what); }
}  // namespace

TEST_CASE("a descriptor goes through the door in both directions", "[net][descriptor_door]") {
  const auto door = value_or_throw(DescriptorDoor::open(name("both")));
  std::thread guest([] {
    const auto socket = value_or_throw(net::knock(name("both")));
    const int got = value_or_throw(net::receive_descriptor(socket, soon()));
    char text[3] = {};
    CHECK(::pread(got, text, 2, 0) == 2);
    CHECK(std::string(text) == "hi");
    throw_if_error(net::send_descriptor(socket, got));
    ::close(got);
  });
  const int file = ::memfd_create("test", MFD_CLOEXEC);
  REQUIRE(::write(file, "hi", 2) == 2);
  const auto socket = value_or_throw(door.admit(soon()));
  throw_if_error(net::send_descriptor(socket, file));
  const int back = value_or_throw(net::receive_descriptor(socket, soon()));
  CHECK(back != file);
  CHECK(::lseek(back, 0, SEEK_END) == 2);
  guest.join();
  ::close(back);
  ::close(file);
}

TEST_CASE("waits at the door end", "[net][descriptor_door]") {
  const auto door = value_or_throw(DescriptorDoor::open(name("alone")));
  CHECK(absl::IsDeadlineExceeded(door.admit(Deadline::after_seconds(0.05)).status()));
  const auto socket = value_or_throw(net::knock(name("alone")));
  CHECK(absl::IsDeadlineExceeded(
      net::receive_descriptor(socket, Deadline::after_seconds(0.05)).status()));
  CHECK(absl::IsUnavailable(net::knock(name("absent")).status()));
  CHECK(absl::IsUnavailable(DescriptorDoor::open(name("alone")).status()));  // it is taken
}

TEST_CASE("without a descriptor for the guest the wait ends with its deadline",
          "[net][descriptor_door]") {
  const auto door = value_or_throw(DescriptorDoor::open(name("full")));
  const auto guest = value_or_throw(net::knock(name("full")));
  std::optional<NoDescriptors> none(std::in_place);
  timespec begin{}, end{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  const absl::Status status = door.admit(Deadline::after_seconds(0.5)).status();
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
  none.reset();
  CHECK(absl::IsUnavailable(status));
  CHECK(std::string(status.message()).find("Too many open files") != std::string::npos);
  // It pauses: what it computes meanwhile is next to nothing.
  CHECK(double(end.tv_sec - begin.tv_sec) + double(end.tv_nsec - begin.tv_nsec) * 1e-9 < 0.1);
  CHECK(door.admit(soon()).ok());
}
