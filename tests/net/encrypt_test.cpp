#include <distribute/net/detail/encrypt.hpp>
#include <distribute/net/detail/handshake.hpp>
#include <distribute/net/detail/tls_handshake.hpp>
#include <distribute/net/job_token.hpp>

#include <tests/support/certificates.hpp>
#include <tests/support/encrypted_pair.hpp>
#include <tests/support/wire_relay.hpp>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <poll.h>

#if DISTRIBUTE_HAS_OPENSSL

namespace net = distribute::net;
using distribute::throw_if_error;
using distribute::value_or_throw;
using net::Deadline;

namespace {

Deadline soon() { return Deadline::after_seconds(10); }

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

net::Listener listen() { return value_or_throw(net::Listener::bind({"127.0.0.1", 0}, soon())); }

/// The accepting side until it has agreed or failed.
absl::Status accept_tls(net::Socket& socket, const TlsPtr& tls) {
  net::TlsHandshake handshake(tls, net::TlsHandshake::Role::Server, socket.native());
  const Deadline deadline = soon();
  for (;;) {
    if (absl::Status status = handshake.advance(); !status.ok()) return status;
    if (handshake.finished()) break;
    pollfd entry{socket.native(), handshake.events(), 0};
    if (::poll(&entry, 1, deadline.left_ms()) == 0) return absl::DeadlineExceededError("server");
  }
  socket.secure(handshake.take_layer());
  return absl::OkStatus();
}

struct Meeting {
  absl::Status client, server;
};

/// Both sides of a connection; a client that has agreed reads once, as it hears of a refused
/// certificate then only.
Meeting meet(const TlsPtr& client_tls, const TlsPtr& server_tls,
             const std::string& dialed = "127.0.0.1") {
  auto [client, server] = tcp_pair();
  client.set_peer(dialed + ":1");
  Meeting result;
  std::thread thread([&, &server = server] {
    result.server = accept_tls(server, server_tls);
    const std::byte byte{1};
    if (result.server.ok()) result.server = server.write({&byte, 1}, soon());
    server.end_writing();
    std::byte rest{};
    (void)server.read({&rest, 1}, soon());  // so that its last word is not lost by a reset
  });
  result.client = net::encrypt(client, client_tls, soon());
  std::byte byte{};
  if (result.client.ok()) result.client = client.read({&byte, 1}, soon());
  client.shutdown();
  thread.join();
  return result;
}

void check(const absl::Status& status, const std::string& part,
           absl::StatusCode code = absl::StatusCode::kUnauthenticated) {
  CHECK(status.code() == code);
  CHECK_THAT(status.ToString(), Catch::Contains(part));
}

TlsPtr certificate_tls(const TestAuthority& trusted, const CertificateFiles& files) {
  return value_or_throw(net::TlsContext::make({.name = "worker 1",
                                               .certificate_file = files.certificate,
                                               .key_file = files.key,
                                               .ca_file = trusted.file()}));
}

/// A connection through a relay, with what goes wrong on the way.
struct Relayed {
  explicit Relayed(const TlsPtr& tls, WireRelay::Change change = nullptr)
      : listener(listen()), relay(listener.address(), std::move(change)) {
    client = value_or_throw(net::connect(relay.address(), soon()));
    server = value_or_throw(listener.accept(soon()));
    if (!tls) return;
    std::thread thread([&] { accepted = accept_tls(server, tls); });
    connected = net::encrypt(client, tls, soon());
    thread.join();
  }
  net::Listener listener;
  WireRelay relay;
  net::Socket client, server;
  absl::Status connected, accepted;
};

}  // namespace

TEST_CASE("who knows the token gets in, who does not is told so, and both sides name the cure",
          "[net][encrypt]") {
  const Meeting good = meet(token_tls("one"), token_tls("one"));
  CHECK(good.client.ok());
  CHECK(good.server.ok());
  const Meeting bad = meet(token_tls("one"), token_tls("another"));
  check(bad.server,
        "worker 1 does not know the token of this job: it belongs to another job, or "
        "DISTRIBUTE_JOB_TOKEN differs");
  check(bad.client, "DISTRIBUTE_JOB_TOKEN differs between the tasks");
}

TEST_CASE("certificates are checked on both sides", "[net][encrypt]") {
  const TestAuthority ours("ours"), theirs("theirs");
  const TlsPtr good = certificate_tls(ours, ours.issue("good"));
  SECTION("of the same authority") {
    const Meeting meeting = meet(good, good);
    CHECK(meeting.client.ToString() == "OK");
    CHECK(meeting.server.ToString() == "OK");
  }
  SECTION("of another authority") {
    const TlsPtr stranger = certificate_tls(ours, theirs.issue("stranger"));
    const Meeting as_server = meet(good, stranger), as_client = meet(stranger, good);
    check(as_server.client, "its certificate is not accepted: unable to get local issuer");
    check(as_client.server, "its certificate is not accepted: unable to get local issuer");
    check(as_client.client, "it does not accept this task's certificate (DISTRIBUTE_TLS_CERT)");
  }
  SECTION("that has expired") {
    const TlsPtr old = certificate_tls(ours, ours.issue("old", "IP:127.0.0.1", -60));
    check(meet(good, old).client, "its certificate is not accepted: certificate has expired");
    const Meeting as_client = meet(old, good);
    check(as_client.server, "its certificate is not accepted: certificate has expired");
    check(as_client.client, "it does not accept this task's certificate");
  }
  SECTION("for another host") {
    const TlsPtr elsewhere = certificate_tls(ours, ours.issue("elsewhere", "IP:127.0.0.9"));
    check(meet(good, elsewhere).client, "IP address mismatch; it must name the address that the");
    const TlsPtr named = certificate_tls(ours, ours.issue("named", "DNS:host-b"));
    check(meet(good, named, "host-a").client, "hostname mismatch; it must name the address that");
    CHECK(meet(good, named, "host-b").client.ok());
  }
  SECTION("and are no alternative to a token") {
    const Meeting as_server = meet(token_tls(), good), as_client = meet(good, token_tls());
    for (const absl::Status& status :
         {as_server.client, as_server.server, as_client.client, as_client.server})
      check(status, "certificate");
  }
}

TEST_CASE("a server that does not encrypt, is silent or goes away is an error at once or in time",
          "[net][encrypt]") {
  auto [client, server] = tcp_pair();
  SECTION("it says that it does not encrypt") {
    const std::string refusal =
        net::encode_refusal(net::one_side_encrypts("worker 0", "the connecting task"));
    throw_if_error(server.write(bytes_of(refusal), soon()));
    check(
        net::encrypt(client, token_tls(), soon()),
        "the connecting task encrypts its connections and worker 0 does not: set DISTRIBUTE_TLS=1 "
        "in all tasks of the job or in none",
        absl::StatusCode::kFailedPrecondition);
  }
  SECTION("it sends something else") {
    throw_if_error(server.write(bytes_of("HTTP/1.1 400 Bad Request\r\n\r\n"), soon()));
    check(net::encrypt(client, token_tls(), soon()), "this task encrypts its connections and the",
          absl::StatusCode::kFailedPrecondition);
  }
  SECTION("it is silent") {
    check(net::encrypt(client, token_tls(), Deadline::after_seconds(0.05)),
          "has not answered the TLS handshake", absl::StatusCode::kDeadlineExceeded);
  }
  SECTION("it goes away") {
    server.close();
    CHECK(net::encrypt(client, token_tls(), soon()).code() == absl::StatusCode::kUnavailable);
  }
  CHECK(client.layer() == nullptr);  // and nothing goes on unencrypted
}

TEST_CASE("the wire shows neither the token nor what is said, which it does without encryption",
          "[net][encrypt]") {
  const bool encrypted = GENERATE(true, false);
  CAPTURE(encrypted);
  const std::string token = value_or_throw(net::make_job_token()), secret(1000, 'w');
  Relayed relayed(encrypted ? token_tls(token) : nullptr);
  REQUIRE(relayed.connected.ok());
  throw_if_error(relayed.client.write(bytes_of(secret), soon()));
  std::vector<std::byte> got(secret.size());
  throw_if_error(relayed.server.read(got, soon()));
  throw_if_error(relayed.server.write(got, soon()));
  throw_if_error(relayed.client.read(got, soon()));
  for (const bool to_target : {true, false}) {
    const std::string wire = relayed.relay.recorded(to_target);
    CHECK(wire.size() >= secret.size());
    CHECK((wire.find(secret.substr(0, 16)) == std::string::npos) == encrypted);
    CHECK(wire.find(token) == std::string::npos);
  }
}

TEST_CASE("one bit that changes on the way is an error on both sides, not a hang",
          "[net][encrypt]") {
  std::atomic<int64_t> flip{-1};  // byte of what follows
  const auto change = [&](bool to_target, std::string& bytes) {
    if (!to_target || flip < 0) return;
    if (flip < int64_t(bytes.size())) bytes[size_t(flip)] = char(bytes[size_t(flip)] ^ 1);
    flip = flip < int64_t(bytes.size()) ? -1 : flip - int64_t(bytes.size());
  };
  for (const int position : {0, 1, 3, 4, 5, 500, 20'000}) {  // headers, text, a later record
    CAPTURE(position);
    Relayed relayed(token_tls(), change);
    REQUIRE(relayed.connected.ok());
    flip = position;
    throw_if_error(relayed.client.write(std::vector<std::byte>(40'000), soon()));
    relayed.client.end_writing();
    std::vector<std::byte> got(40'000);
    const absl::Status status = relayed.server.read(got, soon());
    CHECK_FALSE(status.ok());
    if (position > 4) check(status, "changed on their way", absl::StatusCode::kDataLoss);
    CHECK(relayed.server.read(got, soon()).code() == status.code());  // and it stays so
    relayed.server.end_writing();
    CHECK_FALSE(relayed.client.read(got, soon()).ok());
  }
}

TEST_CASE("a recorded connection that is played again gets nowhere", "[net][encrypt]") {
  const TlsPtr tls = token_tls();
  Relayed first(tls);
  const std::string order = "update the weights";
  throw_if_error(first.client.write(bytes_of(order), soon()));
  std::vector<std::byte> got(order.size());
  throw_if_error(first.server.read(got, soon()));
  const std::string recording = first.relay.recorded(true);
  auto [client, server] = tcp_pair();
  throw_if_error(client.write(bytes_of(recording), soon()));
  client.end_writing();
  const absl::Status status = accept_tls(server, tls);
  CHECK(status.code() == absl::StatusCode::kUnauthenticated);
  CHECK(server.layer() == nullptr);
}

TEST_CASE("a damaged TLS handshake is an error on both sides", "[net][encrypt]") {
  for (const int position : {60, 130, 200}) {
    CAPTURE(position);
    int64_t seen = 0;
    const Relayed relayed(token_tls(), [&](bool to_target, std::string& bytes) {
      if (to_target) return;
      const int64_t at = position - seen;
      seen += int64_t(bytes.size());
      if (at >= 0 && at < int64_t(bytes.size())) bytes[size_t(at)] = char(bytes[size_t(at)] ^ 1);
    });
    CHECK_FALSE(relayed.connected.ok());
    CHECK_FALSE(relayed.accepted.ok());
  }
}

#else

TEST_CASE("builds without OpenSSL cannot encrypt", "[net][encrypt]") { WARN("not tested here"); }

#endif
