#include <distribute/net/detail/handshake.hpp>
#include <distribute/net/job_token.hpp>

#include <tests/support/catch.hpp>

#include <cstring>
#include <functional>
#include <optional>
#include <string>

namespace net = distribute::net;

namespace {

net::HandshakeConfig config_of(const std::string& type, int index, const std::string& token) {
  return {.self = {type, index, uint64_t(1000 + index)}, .job = "job", .token = token};
}

net::Frame frame_of(const std::string& bytes) {
  const auto header = net::parse_frame_header(bytes.substr(0, 16), 4096);
  REQUIRE(header.ok());
  return {header->type, bytes.substr(16)};
}

struct Outcome {
  absl::Status client, server;
  std::string wire;  // everything that travelled
  uint64_t incarnation = 0;
};

/// Lets both sides talk; `tamper` may change each message, numbered from 0.
Outcome talk(const net::HandshakeConfig& client_config, const net::HandshakeConfig& server_config,
             net::HandshakeHello hello, net::ServerHandshake::Admit admit = nullptr,
             const std::function<void(int, std::string&)>& tamper = nullptr) {
  net::ClientHandshake client(client_config, std::move(hello));
  net::ServerHandshake server(server_config, std::move(admit));
  Outcome result;
  int number = 0;
  const auto travel = [&](std::string bytes) {
    if (tamper) tamper(number++, bytes);
    result.wire += bytes;
    return frame_of(bytes);
  };
  auto to_server = client.start();
  while (to_server.ok() && !client.finished()) {
    const auto answer = server.on_frame(travel(*to_server));
    result.server = answer.status();
    to_server =
        client.on_frame(travel(answer.ok() ? *answer : net::encode_refusal(answer.status())));
  }
  result.client = to_server.status();
  result.incarnation = client.server_incarnation();
  if (result.client.ok()) CHECK(server.finished());
  return result;
}

net::HandshakeHello hello_to(const std::string& type, int index) {
  net::HandshakeHello hello;
  hello.server_type = type;
  hello.server_index = index;
  hello.purpose = "member";
  hello.detail = "detail";
  return hello;
}

bool contains(const absl::Status& status, const std::string& part) {
  INFO(status.ToString());
  return std::string(status.ToString()).find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("hmac_sha256 gives the values of RFC 4231", "[net][hmac]") {
  if (!net::has_hmac()) SKIP("this build has no OpenSSL");
  const auto hex = [](const std::string& bytes) {
    std::string text;
    for (const unsigned char byte : bytes) {
      char digits[3];
      std::snprintf(digits, sizeof(digits), "%02x", byte);
      text += digits;
    }
    return text;
  };
  CHECK(hex(*net::hmac_sha256("Jefe", "what do ya want for nothing?")) ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  CHECK(hex(*net::hmac_sha256(std::string(131, '\xaa'),
                              "Test Using Larger Than Block-Size Key - Hash Key First")) ==
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  CHECK(net::equal_in_constant_time("abc", "abc"));
  CHECK_FALSE(net::equal_in_constant_time("abc", "abd"));
  CHECK_FALSE(net::equal_in_constant_time("abc", "ab"));
  CHECK(net::random_bytes(1000)->size() == 1000);
  CHECK(*net::random_bytes(16) != *net::random_bytes(16));
}

TEST_CASE("both sides with the same token accept each other", "[net][handshake]") {
  const std::string token = GENERATE("", "a token of this job");
  if (!token.empty() && !net::has_hmac()) SKIP("this build has no OpenSSL");
  std::optional<net::HandshakeHello> admitted;
  const Outcome outcome = talk(config_of("worker", 2, token), config_of("chief", 0, token),
                               hello_to("chief", 0), [&](const net::HandshakeHello& hello) {
                                 admitted = hello;
                                 return absl::OkStatus();
                               });
  CHECK(outcome.client.ok());
  CHECK(outcome.server.ok());
  CHECK(outcome.incarnation == 1000);
  REQUIRE(admitted);
  CHECK(admitted->client.name() == "worker 2");
  CHECK(admitted->client.incarnation == 1002);
  CHECK(admitted->purpose == "member");
  CHECK(admitted->detail == "detail");
  if (!token.empty()) CHECK(outcome.wire.find(token) == std::string::npos);
}

TEST_CASE("refusals say on both sides why", "[net][handshake]") {
  if (!net::has_hmac()) SKIP("this build has no OpenSSL");
  const auto worker = config_of("worker", 2, "token");
  const auto refused = [&](const net::HandshakeConfig& server, const net::HandshakeHello& hello,
                           absl::StatusCode code, const std::string& why) {
    bool asked = false;
    const Outcome outcome = talk(worker, server, hello, [&](const net::HandshakeHello&) {
      asked = true;
      return absl::OkStatus();
    });
    CHECK(outcome.client.code() == code);
    CHECK(outcome.server.code() == code);
    CHECK(contains(outcome.client, why));
    CHECK(contains(outcome.server, why));
    CHECK_FALSE(asked);
  };
  const auto unauthenticated = absl::StatusCode::kUnauthenticated;
  const auto precondition = absl::StatusCode::kFailedPrecondition;
  refused(config_of("chief", 0, "other"), hello_to("chief", 0), unauthenticated,
          "worker 2 does not know the token");
  refused(config_of("chief", 0, ""), hello_to("chief", 0), unauthenticated,
          "worker 2 has a job token and this task has none");
  refused(config_of("chief", 0, "token"), hello_to("worker", 0), precondition,
          "worker 2 looks for worker 0, but this address belongs to chief 0");
  auto other_job = config_of("chief", 0, "token");
  other_job.job = "another";
  refused(other_job, hello_to("chief", 0), precondition, "here another, there job");
  const Outcome outcome =
      talk(worker, config_of("chief", 0, "token"), hello_to("chief", 0),
           [](const net::HandshakeHello&) { return absl::AlreadyExistsError("line\nbreak"); });
  CHECK(outcome.client.code() == absl::StatusCode::kAlreadyExists);
  CHECK(contains(outcome.client, "line\\x0abreak"));
}

TEST_CASE("a changed byte in any message ends the handshake", "[net][handshake]") {
  if (!net::has_hmac()) SKIP("this build has no OpenSSL");
  for (int message = 0; message < 4; ++message)
    for (size_t at = net::kFrameHeaderBytes;; at += 3) {
      bool inside = false;
      const Outcome outcome =
          talk(config_of("worker", 2, "token"), config_of("chief", 0, "token"),
               hello_to("chief", 0), nullptr, [&](int number, std::string& bytes) {
                 if (number != message || at >= bytes.size()) return;
                 inside = true;
                 bytes[at] = char(bytes[at] ^ 1);
               });
      if (!inside) break;
      INFO(message << " at " << at);
      CHECK_FALSE(outcome.client.ok());
    }
}

TEST_CASE("a recorded proof does not serve again", "[net][handshake]") {
  if (!net::has_hmac()) SKIP("this build has no OpenSSL");
  const auto server_config = config_of("chief", 0, "token"),
             client = config_of("worker", 2, "token");
  std::string hello_bytes, proof_bytes;
  CHECK(talk(client, server_config, hello_to("chief", 0), nullptr,
             [&](int number, std::string& bytes) {
               if (number == 0) hello_bytes = bytes;
               if (number == 2) proof_bytes = bytes;
             })
            .client.ok());
  net::ServerHandshake server(server_config, nullptr);
  CHECK(server.on_frame(frame_of(hello_bytes)).ok());
  CHECK(server.on_frame(frame_of(proof_bytes)).status().code() ==
        absl::StatusCode::kUnauthenticated);
}

TEST_CASE("a server cannot send a client's proof back to it", "[net][handshake]") {
  if (!net::has_hmac()) SKIP("this build has no OpenSSL");
  const auto config = config_of("worker", 2, "token");
  net::ClientHandshake client(config, hello_to("chief", 0));
  CHECK(client.start().ok());
  const auto proof =
      client.on_frame({uint16_t(net::HandshakeFrame::Challenge),
                       net::encode_message(net::HandshakeChallenge{std::string(32, 'n')})});
  REQUIRE(proof.ok());
  const std::string mirrored = std::string(8, '\0') + proof->substr(net::kFrameHeaderBytes);
  CHECK(client.on_frame({uint16_t(net::HandshakeFrame::Welcome), mirrored}).status().code() ==
        absl::StatusCode::kUnauthenticated);
}

TEST_CASE("messages out of order and damaged refusals are errors", "[net][handshake]") {
  const auto config = config_of("chief", 0, "");
  net::ServerHandshake server(config, nullptr);
  CHECK(contains(server.on_frame({uint16_t(net::HandshakeFrame::Proof), ""}).status(),
                 "a message of type 3"));
  CHECK(contains(server.on_frame({uint16_t(net::HandshakeFrame::Hello), "short"}).status(),
                 "damaged"));
  CHECK(contains(net::parse_refusal(""), "a damaged message (refusal): code is cut off"));
  CHECK(contains(net::parse_refusal(std::string(8, '\0')),
                 "a damaged message (refusal): code is OK"));
  CHECK_FALSE(net::parse_refusal(std::string("\x63\0\0\0\0\0\0\0", 8)).ok());
}

TEST_CASE("a refusal says by its code that a purpose is not served", "[net][handshake]") {
  const auto heard = [](const absl::Status& said) {
    return net::parse_refusal(net::encode_refusal(said).substr(net::kFrameHeaderBytes));
  };
  const absl::Status not_served = heard(net::not_served("worker 0 does not serve \"rpc\" now"));
  CHECK(net::is_not_served(not_served));
  CHECK(net::may_come(not_served));
  CHECK(contains(not_served, "does not serve \"rpc\""));
  const absl::Status failed = heard(absl::UnavailableError("worker 0 does not serve \"rpc\" now"));
  CHECK_FALSE(net::is_not_served(failed));
  CHECK(net::may_come(failed));
  CHECK_FALSE(net::may_come(heard(absl::FailedPreconditionError("another job"))));
}
