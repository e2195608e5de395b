#include <distribute/base/status.hpp>
#include <distribute/net/address.hpp>
#include <distribute/net/job_token.hpp>
#include <distribute/net/socket.hpp>

#include <tests/support/catch.hpp>

#include <string>
#include <thread>
#include <vector>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace net = distribute::net;
using distribute::throw_if_error;
using distribute::value_or_throw;
using net::Deadline;

namespace {

net::Listener listen(const std::string& host = "127.0.0.1") {
  return value_or_throw(net::Listener::bind({host, 0}, Deadline::after_seconds(5)));
}

bool contains(const absl::Status& status, const std::string& part) {
  return std::string(status.ToString()).find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a connection carries bytes both ways, without Nagle's delay", "[net][connect]") {
  net::Listener listener = listen();
  CHECK(listener.address().port > 0);
  auto client = value_or_throw(net::connect(listener.address(), Deadline::after_seconds(5)));
  auto server = value_or_throw(listener.accept(Deadline::after_seconds(5)));
  CHECK(client.peer() == listener.address().text());
  CHECK(server.peer() == net::local_address(client.native())->text());
  for (const net::Socket* socket : {&client, &server}) {
    int value = 0;
    socklen_t size = sizeof(value);
    ::getsockopt(socket->native(), IPPROTO_TCP, TCP_NODELAY, &value, &size);
    CHECK(value != 0);
  }
  std::vector<char> out(3'000'000, 'x'), in(out.size());
  std::thread writer([&] {
    throw_if_error(client.write(std::as_bytes(std::span(out)), Deadline::after_seconds(20)));
  });
  throw_if_error(server.read(std::as_writable_bytes(std::span(in)), Deadline::after_seconds(20)));
  writer.join();
  CHECK(in == out);
}

TEST_CASE("reads and writes end at their deadline and name the peer", "[net][socket]") {
  net::Listener listener = listen();
  auto client = value_or_throw(net::connect(listener.address(), Deadline::after_seconds(5)));
  auto server = value_or_throw(listener.accept(Deadline::after_seconds(5)));
  std::byte byte{};
  const absl::Status late = server.read({&byte, 1}, Deadline::after_seconds(0.02));
  CHECK(late.code() == absl::StatusCode::kDeadlineExceeded);
  CHECK(contains(late, server.peer()));
  const std::vector<std::byte> much(64 << 20);
  CHECK(client.write(much, Deadline::after_seconds(0.05)).code() ==
        absl::StatusCode::kDeadlineExceeded);
  client.close();
  absl::Status closed;
  std::vector<std::byte> rest(1 << 20);
  while (closed.ok()) closed = server.read(rest, Deadline::after_seconds(5));
  CHECK(closed.code() == absl::StatusCode::kUnavailable);
  CHECK(contains(closed, server.peer()));
}

TEST_CASE("a port without a listener is Unavailable at once", "[net][connect]") {
  net::Listener listener = listen();
  const net::Address address = listener.address();
  listener.close();
  const auto socket = net::connect(address, Deadline::after_seconds(10));
  CHECK(socket.status().code() == absl::StatusCode::kUnavailable);
  CHECK(contains(socket.status(), address.text()));
}

TEST_CASE("patient connections wait for the listener, and no longer than their deadline",
          "[net][connect]") {
  net::Listener reserved = listen();
  const net::Address address = reserved.address();
  reserved.close();
  const auto late = net::connect_patiently(address, Deadline::after_seconds(0.1));
  CHECK(late.status().code() == absl::StatusCode::kDeadlineExceeded);
  CHECK(contains(late.status(), "could not connect to " + address.text()));
  CHECK(contains(late.status(), "refused"));

  int tries = 0;
  const auto given_up = net::connect_patiently(address, Deadline::after_seconds(20),
                                               [&](const absl::Status&) { return ++tries < 3; });
  CHECK(given_up.status().code() == absl::StatusCode::kUnavailable);
  CHECK(tries == 3);

  net::Listener listener;
  const auto socket =
      net::connect_patiently(address, Deadline::after_seconds(20), [&](const absl::Status&) {
        if (++tries == 6) listener = *net::Listener::bind(address, Deadline::after_seconds(5));
        return true;
      });
  CHECK(socket.ok());
}

TEST_CASE("a taken port and a foreign address are errors with the cure", "[net][listener]") {
  const net::Listener first = listen();
  const auto second = net::Listener::bind(first.address(), Deadline::after_seconds(5));
  CHECK(second.status().code() == absl::StatusCode::kFailedPrecondition);
  CHECK(contains(second.status(), "cannot listen on " + first.address().text()));
  CHECK(contains(second.status(), "another process"));
  // 192.0.2.0/24 is reserved for documentation.
  const auto foreign = net::Listener::bind({"192.0.2.1", 0}, Deadline::after_seconds(5));
  CHECK(contains(foreign.status(), "not one of this machine"));
}

TEST_CASE("accepting ends at its deadline", "[net][listener]") {
  net::Listener listener = listen();
  const auto socket = listener.accept(Deadline::after_seconds(0.02));
  CHECK(socket.status().code() == absl::StatusCode::kDeadlineExceeded);
  CHECK_FALSE(bool(*listener.accept_now()));
}

TEST_CASE("IPv6 works where the machine has it", "[net][connect]") {
  auto listener = net::Listener::bind({"::1", 0}, Deadline::after_seconds(5));
  if (!listener.ok()) SKIP("no IPv6 loopback here");
  CHECK(listener->address().text().starts_with("[::1]:"));
  CHECK(net::connect(listener->address(), Deadline::after_seconds(5)).ok());
}

TEST_CASE("names are resolved, IPv4 first, and numbers are left alone", "[net][resolve]") {
  const auto local = net::resolve({"localhost", 7}, Deadline::after_seconds(20));
  REQUIRE(local.ok());
  CHECK(local->front().is_loopback());
  CHECK(local->front().port == 7);
  CHECK(net::resolve({"::1", 7}, Deadline::after_seconds(0))->front().host == "::1");
  const auto unknown = net::resolve({"no-such-host.invalid", 7}, Deadline::after_seconds(20));
  CHECK_FALSE(unknown.ok());
  CHECK(contains(unknown.status(), "no-such-host.invalid"));
}

TEST_CASE("tokens are long, different, and decide which addresses may be used",
          "[net][job_token]") {
  const std::string a = *net::make_job_token(), b = *net::make_job_token();
  CHECK(a.size() == 64);
  CHECK(a.find_first_not_of("0123456789abcdef") == std::string::npos);
  CHECK(a != b);
  const net::Address outside{"10.0.0.1", 1}, inside{"127.0.0.1", 1};
  CHECK(net::check_exposure(inside, false, false).ok());
  CHECK(net::check_exposure(outside, true, false).ok());
  CHECK(net::check_exposure(outside, false, true).ok());
  CHECK(contains(net::check_exposure(outside, false, false), "10.0.0.1:1 is not one"));
}
