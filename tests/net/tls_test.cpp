#include <distribute/net/detail/tls.hpp>
#include <distribute/net/job_token.hpp>

#include <tests/support/certificates.hpp>
#include <tests/support/encrypted_pair.hpp>

#include <string>
#include <thread>
#include <vector>

#if DISTRIBUTE_HAS_OPENSSL
#include <distribute/net/detail/tls_openssl.hpp>

namespace net = distribute::net;
using distribute::throw_if_error;
using distribute::value_or_throw;
using net::Deadline;
using net::TlsContext;

namespace {

void check_error(const net::TlsOptions& options, const std::string& part) {
  const auto made = TlsContext::make(options);
  CHECK(made.status().code() == absl::StatusCode::kInvalidArgument);
  CHECK_THAT(made.status().ToString(), Catch::Contains(part));
}

}  // namespace

TEST_CASE("encryption needs a token or all three files, and says which one is wrong",
          "[net][tls]") {
  const TestAuthority authority;
  const auto one = authority.issue("one"), other = authority.issue("other");
  check_error({.name = "worker 0"}, "needs a job token, in DISTRIBUTE_JOB_TOKEN");
  check_error({.certificate_file = one.certificate, .key_file = one.key},
              "needs all of DISTRIBUTE_TLS_CERT, DISTRIBUTE_TLS_KEY and DISTRIBUTE_TLS_CA");
  check_error({.certificate_file = "/nowhere", .key_file = one.key, .ca_file = authority.file()},
              "DISTRIBUTE_TLS_CERT=/nowhere: ");
  check_error(
      {.certificate_file = one.certificate, .key_file = other.key, .ca_file = authority.file()},
      "DISTRIBUTE_TLS_KEY=" + other.key + ": key values mismatch");
  check_error({.certificate_file = one.certificate, .key_file = one.key, .ca_file = one.key},
              "DISTRIBUTE_TLS_CA=" + one.key);
  CHECK(TlsContext::make(
            {.certificate_file = one.certificate, .key_file = one.key, .ca_file = authority.file()})
            .ok());
}

TEST_CASE("the key is HKDF-SHA256 of the token with the documented context", "[net][tls]") {
  const std::string token = "0123456789abcdef";  // RFC 5869 by hand: extract, then expand once
  const auto extracted = value_or_throw(net::hmac_sha256(std::string(32, '\0'), token));
  const std::string info = std::string(net::kTlsKeyContext) + '\1';
  CHECK(net::kTlsKeyContext == std::string("distribute TLS 1.3 pre-shared key, version 1"));
  CHECK(distribute::net_internal::key_from_token(token).bytes() ==
        value_or_throw(net::hmac_sha256(extracted, info)));
}

TEST_CASE("a sender takes a new key in time, and the receiver follows", "[net][tls]") {
  const auto tls = value_or_throw(
      TlsContext::make({.name = "worker 0", .token = "token", .bytes_per_key = 100'000}));
  auto [client, server] = tcp_pair(tls);
  const std::vector<std::byte> sent(5'000'000, std::byte{42});
  std::vector<std::byte> got(sent.size());
  for (int round = 0; round < 2; ++round) {
    net::Socket &from = round == 0 ? client : server, &to = round == 0 ? server : client;
    std::thread writer([&] { throw_if_error(from.write(sent, Deadline::after_seconds(20))); });
    throw_if_error(to.read(got, Deadline::after_seconds(20)));
    writer.join();
    CHECK(got == sent);
    got.assign(got.size(), std::byte{0});
  }
}

TEST_CASE("both ends know the same binding, which no other connection has", "[net][tls]") {
  const auto tls = token_tls();
  const auto [client, server] = tcp_pair(tls);
  const auto [another, its_server] = tcp_pair(tls);
  CHECK(client.layer()->binding().size() == 32);
  CHECK(client.layer()->binding() == server.layer()->binding());
  CHECK(client.layer()->binding() != another.layer()->binding());
}

#else

TEST_CASE("a build without OpenSSL refuses to encrypt", "[net][tls]") {
  CHECK_FALSE(distribute::net::has_tls());
  const auto made = distribute::net::TlsContext::make({.name = "worker 0", .token = "token"});
  CHECK(made.status().code() == absl::StatusCode::kUnimplemented);
}

#endif
