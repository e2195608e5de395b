#include <distribute/net/socket.hpp>

#include <tests/support/encrypted_pair.hpp>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <poll.h>

namespace net = distribute::net;
using distribute::throw_if_error;
using distribute::value_or_throw;
using net::Deadline;

namespace {

using Bytes = std::vector<std::byte>;

Bytes random_bytes(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = std::byte(random() & 255);
  return bytes;
}

bool contains(const absl::Status& status, const std::string& part) {
  return std::string(status.ToString()).find(part) != std::string::npos;
}

/// Every test runs on a plain connection and on an encrypted one.
struct Ends {
  Ends() {
    const bool encrypted = net::has_tls() && GENERATE(false, true);
    CAPTURE(encrypted);
    std::tie(client, server) = tcp_pair(encrypted ? token_tls() : nullptr);
    CHECK((client.layer() != nullptr) == encrypted);
  }
  net::Socket client, server;
};

bool is_readable(const net::Socket& socket) {
  pollfd entry{socket.native(), POLLIN, 0};
  return socket.has_buffered() || ::poll(&entry, 1, 0) == 1;
}

}  // namespace

TEST_CASE("bytes go both ways at once, each direction with a thread of its own at both ends",
          "[net][socket]") {
  Ends ends;
  const Bytes there = random_bytes(3'000'000, 1), back = random_bytes(2'999'999, 2);
  Bytes got_there(there.size()), got_back(back.size());
  const auto soon = [] { return Deadline::after_seconds(30); };
  std::thread threads[] = {
      std::thread([&] { throw_if_error(ends.client.write(there, soon())); }),
      std::thread([&] { throw_if_error(ends.server.write(back, soon())); }),
      std::thread([&] { throw_if_error(ends.client.read(got_back, soon())); }),
      std::thread([&] { throw_if_error(ends.server.read(got_there, soon())); })};
  for (std::thread& thread : threads) thread.join();
  CHECK(got_there == there);
  CHECK(got_back == back);
}

TEST_CASE("reads and writes of either kind end at their deadline and name the peer",
          "[net][socket]") {
  Ends ends;
  std::byte byte{};
  const absl::Status late = ends.server.read({&byte, 1}, Deadline::after_seconds(0.02));
  CHECK(late.code() == absl::StatusCode::kDeadlineExceeded);
  CHECK(contains(late, "127.0.0.1:2"));
  const Bytes much(64 << 20);
  CHECK(ends.client.write(much, Deadline::after_seconds(0.05)).code() ==
        absl::StatusCode::kDeadlineExceeded);
}

TEST_CASE("what was written before the end can be read, and the other direction goes on",
          "[net][socket]") {
  Ends ends;
  const Bytes sent = random_bytes(100'000, 3);
  throw_if_error(ends.client.write(sent, Deadline::after_seconds(10)));
  ends.client.end_writing();
  Bytes got(sent.size());
  throw_if_error(ends.server.read(got, Deadline::after_seconds(10)));
  CHECK(got == sent);
  CHECK_FALSE(ends.server.saw_end());
  std::byte byte{};
  const absl::Status end = ends.server.read({&byte, 1}, Deadline::after_seconds(10));
  CHECK(end.code() == absl::StatusCode::kUnavailable);
  CHECK(contains(end, "127.0.0.1:2 has closed the connection"));
  CHECK(ends.server.saw_end());
  CHECK(ends.server.has_ended());
  throw_if_error(ends.server.write(got, Deadline::after_seconds(10)));
  throw_if_error(ends.client.read(got, Deadline::after_seconds(10)));
  CHECK(got == sent);
  CHECK_FALSE(ends.client.has_ended());
}

TEST_CASE("shutdown from another thread ends a read that waits", "[net][socket]") {
  Ends ends;
  absl::Status status;
  std::thread reader([&] {
    std::byte byte{};
    status = ends.client.read({&byte, 1}, Deadline::after_seconds(30));
  });
  ends.client.shutdown();
  reader.join();
  CHECK(status.code() == absl::StatusCode::kUnavailable);
}

TEST_CASE("a connection that was reset says so", "[net][socket]") {
  Ends ends;
  const linger hard{1, 0};
  ::setsockopt(ends.client.native(), SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
  ends.client.close();
  std::byte byte{};
  const absl::Status status = ends.server.read({&byte, 1}, Deadline::after_seconds(10));
  CHECK(status.code() == absl::StatusCode::kUnavailable);
  CHECK(contains(status, "127.0.0.1:2: "));
  CHECK_FALSE(ends.server.saw_end());
}

TEST_CASE("a write that was cut short goes on with the rest, in any pieces", "[net][socket]") {
  Ends ends;
  const Bytes all = random_bytes(20'000'000, 4);
  Bytes got(all.size());
  size_t sent = 0, come = 0, stops = 0;
  while (come < all.size()) {
    const auto rest = std::span(all).subspan(sent);
    const size_t first = std::min<size_t>(rest.size(), 1000 + sent % 100'000);
    const size_t second = std::min<size_t>(rest.size() - first, 300'000);
    const size_t now =
        value_or_throw(ends.client.write_some(rest.first(first), rest.subspan(first, second)));
    sent += now;
    if (now == first + second && sent < all.size()) continue;
    ++stops;
    for (size_t taken = 1; taken > 0; come += taken) {
      const auto out = std::span(got).subspan(come);
      const size_t piece = std::min<size_t>(out.size(), 777);
      taken = value_or_throw(ends.server.read_some(out.first(piece), out.subspan(piece)));
    }
  }
  CHECK(stops > 1);  // the system's buffers are smaller
  CHECK(got == all);
}

TEST_CASE("bytes that ::poll does not speak of are announced", "[net][socket]") {
  Ends ends;
  const Bytes sent = random_bytes(5000, 5);
  throw_if_error(ends.client.write(sent, Deadline::after_seconds(10)));
  Bytes got(sent.size());
  throw_if_error(ends.server.read(std::span(got).first(1), Deadline::after_seconds(10)));
  for (size_t come = 1; come < got.size(); ++come) {
    REQUIRE(is_readable(ends.server));
    const auto one = value_or_throw(ends.server.read_some(std::span(got).subspan(come, 1)));
    REQUIRE(one == 1);
  }
  CHECK(got == sent);
  std::byte byte{};
  CHECK(value_or_throw(ends.server.read_some({&byte, 1})) == 0);
  CHECK_FALSE(is_readable(ends.server));
  CHECK_FALSE(ends.server.has_ended());
}

TEST_CASE("the next byte on the wire can be looked at", "[net][socket]") {
  auto [client, server] = tcp_pair();
  CHECK_FALSE(server.peek_byte().has_value());
  const std::byte sent[2] = {std::byte{7}, std::byte{8}};
  throw_if_error(client.write(sent, Deadline::after_seconds(10)));
  Bytes got(2);
  pollfd entry{server.native(), POLLIN, 0};
  ::poll(&entry, 1, 10'000);
  CHECK(server.peek_byte() == std::byte{7});
  throw_if_error(server.read(got, Deadline::after_seconds(10)));
  CHECK(std::equal(got.begin(), got.end(), sent));
}
