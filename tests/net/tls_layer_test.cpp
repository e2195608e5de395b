#include <distribute/net/detail/encrypt.hpp>

#include <tests/support/encrypted_pair.hpp>
#include <tests/support/wire_relay.hpp>

#include <algorithm>
#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#if DISTRIBUTE_HAS_OPENSSL

namespace net = distribute::net;
using distribute::throw_if_error;
using distribute::value_or_throw;
using net::Deadline;
using net::Socket;
using Bytes = std::vector<std::byte>;

namespace {

Deadline soon() { return Deadline::after_seconds(20); }

Bytes random_bytes(size_t count) {
  std::mt19937 random{uint32_t(count)};
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = std::byte(random() & 255);
  return bytes;
}

void send(Socket& socket, const std::string& text) {
  throw_if_error(socket.write(std::as_bytes(std::span(text)), soon()));
}

std::string receive(Socket& socket, size_t count) {
  std::string text(count, '\0');
  throw_if_error(socket.read(std::as_writable_bytes(std::span(text)), soon()));
  return text;
}

absl::Status read_error(Socket& socket) {
  std::byte byte{};
  return socket.read({&byte, 1}, soon());
}

/// What a relay does with the bytes that go to the server.
enum class OnTheWay { Pass, Drop, Repeat };

}  // namespace

TEST_CASE("content of any size arrives, in pieces of any size", "[net][tls_layer]") {
  auto [client, server] = tcp_pair(token_tls());
  for (const size_t size : {1, 15, 16, 17, 255, 256, 1000, 16383, 16384, 16385, 32768, 100'000}) {
    CAPTURE(size);
    const Bytes content = random_bytes(size);
    throw_if_error(client.write(content, soon()));
    Bytes got(size);
    std::span<std::byte> rest(got);
    for (size_t piece = 1; !rest.empty(); piece = 3 * piece + 1) {
      const auto part = rest.first(std::min(piece, rest.size()));
      throw_if_error(server.read(part, soon()));
      rest = rest.subspan(part.size());
    }
    CHECK(got == content);
    CHECK_FALSE(server.has_buffered());
  }
}

TEST_CASE("several encrypted connections carry large messages both ways at once",
          "[net][tls_layer]") {
  const TlsPtr tls = token_tls();
  std::vector<std::pair<Socket, Socket>> flows;
  for (int flow = 0; flow < 3; ++flow) flows.push_back(tcp_pair(tls));
  const Bytes content = random_bytes(3'000'000);
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (auto& [client, server] : flows)
    for (Socket* end : {&client, &server}) {
      threads.emplace_back([&, end] { throw_if_error(end->write(content, soon())); });
      threads.emplace_back([&, end] {
        Bytes got(content.size());
        throw_if_error(end->read(got, soon()));
        right += got == content;
      });
    }
  for (std::thread& thread : threads) thread.join();
  CHECK(right == 6);
}

TEST_CASE("a record that is left out or repeated on the way is refused", "[net][tls_layer]") {
  const OnTheWay what = GENERATE(OnTheWay::Drop, OnTheWay::Repeat);
  CAPTURE(what);
  std::atomic<OnTheWay> next = OnTheWay::Pass;
  net::Listener listener = value_or_throw(net::Listener::bind({"127.0.0.1", 0}, soon()));
  const WireRelay relay(listener.address(), [&](bool to_target, std::string& bytes) {
    if (!to_target) return;
    const OnTheWay now = next.exchange(OnTheWay::Pass);
    if (now == OnTheWay::Drop) bytes.clear();
    if (now == OnTheWay::Repeat) bytes += bytes;
  });
  Socket client = value_or_throw(net::connect(relay.address(), soon()));
  Socket server = value_or_throw(listener.accept(soon()));
  throw_if_error(net::encrypt_pair(client, server, token_tls(), soon()));
  send(client, "first");
  CHECK(receive(server, 5) == "first");
  next = what;
  send(client, "second");
  if (what == OnTheWay::Repeat) CHECK(receive(server, 6) == "second");
  while (next != OnTheWay::Pass) std::this_thread::yield();
  send(client, "third");
  CHECK(read_error(server).code() == absl::StatusCode::kDataLoss);
  CHECK(server.has_buffered());                                     // the failure stays
  CHECK(read_error(client).code() == absl::StatusCode::kDataLoss);  // it was told by an alert
}

TEST_CASE("after the end of the outgoing direction the other one goes on", "[net][tls_layer]") {
  auto [client, server] = tcp_pair(token_tls());
  send(client, "question");
  client.end_writing();
  CHECK(receive(server, 8) == "question");
  CHECK(read_error(server).code() == absl::StatusCode::kUnavailable);
  CHECK(server.saw_end());
  for (int i = 0; i < 3; ++i) {
    send(server, "answer");
    CHECK(receive(client, 6) == "answer");
  }
}

#else

TEST_CASE("builds without OpenSSL cannot encrypt", "[net][tls_layer]") { WARN("not tested here"); }

#endif
