#include <distribute/base/status.hpp>
#include <distribute/net/detail/descriptor_listener.hpp>

#include <cstring>
#include <ctime>
#include <optional>
#include <thread>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include "support/catch.hpp"
#include "support/no_descriptors.hpp"

using namespace distribute;
using net::Deadline;
using net::DescriptorListener;

namespace {
Deadline soon() { return Deadline::after_seconds(20); }
std::string name(const char* what) { return str_cat("distribute-test-", ::getpid(), "-", what); }
}  // namespace

TEST_CASE("a descriptor is sent in both directions", "[net][descriptor_listener]") {
  const auto listener = value_or_throw(DescriptorListener::open(name("both")));
  std::thread client([] {
    const auto socket = value_or_throw(net::connect_to_descriptors(name("both"), soon()));
    const int got = value_or_throw(net::receive_descriptor(socket, soon()));
    char text[3] = {};
    CHECK(::pread(got, text, 2, 0) == 2);
    CHECK(std::string(text) == "hi");
    throw_if_error(net::send_descriptor(socket, got));
    ::close(got);
  });
  const int file = ::memfd_create("test", MFD_CLOEXEC);
  REQUIRE(::write(file, "hi", 2) == 2);
  const auto socket = value_or_throw(listener.accept(soon()));
  throw_if_error(net::send_descriptor(socket, file));
  const int back = value_or_throw(net::receive_descriptor(socket, soon()));
  CHECK(back != file);
  CHECK(::lseek(back, 0, SEEK_END) == 2);
  client.join();
  ::close(back);
  ::close(file);
}

TEST_CASE("waiting for a client or a descriptor ends at the deadline",
          "[net][descriptor_listener]") {
  const auto listener = value_or_throw(DescriptorListener::open(name("alone")));
  CHECK(absl::IsDeadlineExceeded(listener.accept(Deadline::after_seconds(0.05)).status()));
  const auto socket = value_or_throw(net::connect_to_descriptors(name("alone"), soon()));
  CHECK(absl::IsDeadlineExceeded(
      net::receive_descriptor(socket, Deadline::after_seconds(0.05)).status()));
  CHECK(absl::IsUnavailable(net::connect_to_descriptors(name("absent"), soon()).status()));
  CHECK(absl::IsUnavailable(DescriptorListener::open(name("alone")).status()));  // it is taken
}

TEST_CASE("connecting to a listener whose queue is full ends at the deadline",
          "[net][descriptor_listener]") {
  const auto listener = value_or_throw(DescriptorListener::open(name("queue")));
  std::vector<net::Socket> waiting;
  absl::Status status;
  while (status.ok()) {
    auto socket = net::connect_to_descriptors(name("queue"),
                                              Deadline::after_seconds(waiting.empty() ? 20 : 0.05));
    status = socket.status();
    if (status.ok()) waiting.push_back(std::move(*socket));
    REQUIRE(waiting.size() < 1000);
  }
  CHECK(absl::IsDeadlineExceeded(status));
  CHECK(waiting.size() >= 64);
  std::thread late([] { CHECK(net::connect_to_descriptors(name("queue"), soon()).ok()); });
  for (size_t i = 0; i <= waiting.size(); ++i) CHECK(listener.accept(soon()).ok());
  late.join();
}

TEST_CASE("without a descriptor for the client the wait ends with its deadline",
          "[net][descriptor_listener]") {
  const auto listener = value_or_throw(DescriptorListener::open(name("full")));
  const auto client = value_or_throw(net::connect_to_descriptors(name("full"), soon()));
  std::optional<NoDescriptors> none(std::in_place);
  timespec begin{}, end{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  const absl::Status status = listener.accept(Deadline::after_seconds(0.5)).status();
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
  none.reset();
  CHECK(absl::IsUnavailable(status));
  CHECK(std::string(status.message()).find("Too many open files") != std::string::npos);
  // It pauses: what it computes meanwhile is next to nothing.
  CHECK(double(end.tv_sec - begin.tv_sec) + double(end.tv_nsec - begin.tv_nsec) * 1e-9 < 0.1);
  CHECK(listener.accept(soon()).ok());
}
