#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/net/detail/encrypt.hpp>
#include <distribute/net/detail/handshake.hpp>
#include <distribute/net/job_token.hpp>

#include <algorithm>

namespace distribute::net_internal {

using net::HandshakeFrame;

/// Computes a proof. The label prevents that a proof of one direction is used in the other.
DISTRIBUTE_INLINE absl::StatusOr<std::string> proof(const std::string& token, const char* label,
                                                    const std::string& transcript) {
  if (token.empty()) return std::string();
  return net::hmac_sha256(token, str_cat("distribute handshake ", net::kProtocolVersion, ", ",
                                         label, '\0', transcript));
}

/// Computes the proof in a Welcome, which also covers the incarnation.
DISTRIBUTE_INLINE absl::StatusOr<std::string> server_proof(const std::string& token,
                                                           const std::string& transcript,
                                                           const net::HandshakeWelcome& welcome) {
  return proof(token, "server", transcript + net::encode_message(welcome.incarnation));
}

DISTRIBUTE_INLINE absl::Status unexpected(const net::Frame& frame) {
  return absl::InvalidArgumentError(
      str_cat("a message of type ", frame.type, " is not what the handshake expects now"));
}

/// Refuses a connection when only one side has a token.
DISTRIBUTE_INLINE absl::Status check_secured(const net::HandshakeHello& hello, bool secured) {
  if (hello.secured == secured) return absl::OkStatus();
  return absl::UnauthenticatedError(
      secured ? str_cat("this job has a token and ", hello.client.name(),
                        " has none: set DISTRIBUTE_JOB_TOKEN there as in the other tasks")
              : str_cat(hello.client.name(),
                        " has a job token and this task has none: set DISTRIBUTE_JOB_TOKEN in all "
                        "tasks or in none"));
}

DISTRIBUTE_INLINE absl::Status check_target(const net::HandshakeHello& hello,
                                            const net::HandshakeConfig& config) {
  if (hello.job != config.job)
    return absl::FailedPreconditionError(str_cat(
        hello.client.name(), " belongs to another job or another cluster description: here ",
        untrusted::printable(config.job), ", there ", untrusted::printable(hello.job)));
  if (hello.server_type != config.self.type || hello.server_index != config.self.index)
    return absl::FailedPreconditionError(
        str_cat(hello.client.name(), " looks for ", hello.server_type, " ", hello.server_index,
                ", but this address belongs to ", config.self.name()));
  return absl::OkStatus();
}

}  // namespace distribute::net_internal

namespace distribute::net {

DISTRIBUTE_INLINE std::string TaskIdentity::name() const { return str_cat(type, " ", index); }

DISTRIBUTE_INLINE absl::StatusOr<HandshakeHello> parse_hello(std::string_view payload) {
  auto hello = parse_message<HandshakeHello>(payload, "hello");
  if (!hello.ok()) return hello.status();
  if (hello->nonce.size() != kNonceBytes)
    return absl::InvalidArgumentError("a damaged message (hello): nonce is too short");
  for (std::string* text : {&hello->client.type, &hello->server_type, &hello->purpose, &hello->job})
    *text = untrusted::printable(*text);
  return hello;
}

DISTRIBUTE_INLINE std::string encode_refusal(const absl::Status& status, uint16_t version) {
  const auto text = status.message();
  const HandshakeRefusal refusal{StatusCode(status.raw_code()),
                                 untrusted::printable({text.data(), text.size()}, 2000)};
  return encode_frame_of(uint16_t(HandshakeFrame::Refusal), refusal, version);
}

DISTRIBUTE_INLINE absl::Status parse_refusal(std::string_view payload) {
  const auto refusal = parse_message<HandshakeRefusal>(payload, "refusal");
  if (!refusal.ok()) return refusal.status();
  if (refusal->code == StatusCode::Ok)
    return absl::InvalidArgumentError("a damaged message (refusal): code is OK");
  return make_status(refusal->code, untrusted::printable(refusal->sentence, 2100));
}

DISTRIBUTE_INLINE absl::Status not_served(const std::string& sentence) {
  return absl::NotFoundError(sentence);
}

DISTRIBUTE_INLINE bool is_not_served(const absl::Status& refusal) {
  return absl::IsNotFound(refusal);
}

DISTRIBUTE_INLINE bool may_come(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) || is_not_served(status);
}

DISTRIBUTE_INLINE absl::StatusOr<std::string> ServerHandshake::on_frame(const Frame& frame) {
  if (step_ == Step::Hello && frame.type == uint16_t(HandshakeFrame::Hello)) return on_hello(frame);
  if (step_ == Step::Proof && frame.type == uint16_t(HandshakeFrame::Proof)) return on_proof(frame);
  return net_internal::unexpected(frame);
}

DISTRIBUTE_INLINE absl::StatusOr<std::string> ServerHandshake::on_hello(const Frame& frame) {
  auto hello = parse_hello(frame.payload);
  if (!hello.ok()) return hello.status();
  hello_ = *std::move(hello);
  const absl::Status secured = net_internal::check_secured(hello_, !config_->token.empty());
  if (!secured.ok()) return secured;
  const auto nonce = random_bytes(kNonceBytes);
  if (!nonce.ok()) return nonce.status();
  const HandshakeChallenge challenge{*nonce};
  transcript_ += frame.payload + encode_message(challenge);
  step_ = Step::Proof;
  return encode_frame_of(uint16_t(HandshakeFrame::Challenge), challenge, config_->version);
}

DISTRIBUTE_INLINE absl::StatusOr<std::string> ServerHandshake::on_proof(const Frame& frame) {
  const auto theirs = parse_message<HandshakeProof>(frame.payload, "proof");
  if (!theirs.ok()) return theirs.status();
  const auto wanted = net_internal::proof(config_->token, "client", transcript_);
  if (!wanted.ok()) return wanted.status();
  if (!equal_in_constant_time(*wanted, theirs->proof))
    return absl::UnauthenticatedError(
        str_cat(hello_.client.name(),
                " does not know the token of this job: it belongs to another "
                "job, or DISTRIBUTE_JOB_TOKEN differs between the tasks"));
  absl::Status status = net_internal::check_target(hello_, *config_);
  if (status.ok() && admit_) status = admit_(hello_);
  if (!status.ok()) return status;
  HandshakeWelcome welcome;
  welcome.incarnation = config_->self.incarnation;
  const auto own = net_internal::server_proof(config_->token, transcript_, welcome);
  if (!own.ok()) return own.status();
  welcome.proof = *own;
  step_ = Step::Finished;
  return encode_frame_of(uint16_t(HandshakeFrame::Welcome), welcome, config_->version);
}

DISTRIBUTE_INLINE ClientHandshake::ClientHandshake(const HandshakeConfig& config,
                                                   HandshakeHello hello)
    : config_(&config), hello_(std::move(hello)) {
  hello_.client = config.self;
  hello_.job = config.job;
  hello_.secured = !config.token.empty();
}

DISTRIBUTE_INLINE absl::StatusOr<std::string> ClientHandshake::start() {
  auto nonce = random_bytes(kNonceBytes);
  if (!nonce.ok()) return nonce.status();
  hello_.nonce = *std::move(nonce);
  transcript_ += encode_message(hello_);
  return encode_frame_of(uint16_t(HandshakeFrame::Hello), hello_, config_->version);
}

DISTRIBUTE_INLINE absl::StatusOr<std::string> ClientHandshake::on_frame(const Frame& frame) {
  if (frame.type == uint16_t(HandshakeFrame::Refusal)) return parse_refusal(frame.payload);
  if (step_ == Step::Challenge && frame.type == uint16_t(HandshakeFrame::Challenge))
    return on_challenge(frame);
  if (step_ == Step::Welcome && frame.type == uint16_t(HandshakeFrame::Welcome))
    return on_welcome(frame);
  return net_internal::unexpected(frame);
}

DISTRIBUTE_INLINE absl::StatusOr<std::string> ClientHandshake::on_challenge(const Frame& frame) {
  const auto challenge = parse_message<HandshakeChallenge>(frame.payload, "challenge");
  if (!challenge.ok()) return challenge.status();
  if (challenge->nonce.size() != kNonceBytes)
    return absl::InvalidArgumentError("a damaged message (challenge): nonce is too short");
  transcript_ += frame.payload;
  const auto own = net_internal::proof(config_->token, "client", transcript_);
  if (!own.ok()) return own.status();
  step_ = Step::Welcome;
  return encode_frame_of(uint16_t(HandshakeFrame::Proof), HandshakeProof{*own}, config_->version);
}

DISTRIBUTE_INLINE absl::StatusOr<std::string> ClientHandshake::on_welcome(const Frame& frame) {
  const auto welcome = parse_message<HandshakeWelcome>(frame.payload, "welcome");
  if (!welcome.ok()) return welcome.status();
  server_incarnation_ = welcome->incarnation;
  const auto wanted = net_internal::server_proof(config_->token, transcript_, *welcome);
  if (!wanted.ok()) return wanted.status();
  if (!equal_in_constant_time(*wanted, welcome->proof))
    return absl::UnauthenticatedError("the other side does not know the token of this job");
  step_ = Step::Finished;
  return std::string();
}

DISTRIBUTE_INLINE absl::StatusOr<uint64_t> handshake(Socket& socket, const HandshakeConfig& config,
                                                     const HandshakeHello& hello,
                                                     Deadline deadline) {
  const std::string context = str_cat(hello.server_type, " ", hello.server_index, " at ",
                                      socket.peer(), " and this task, ", config.self.name());
  ClientHandshake client(config, hello);
  if (config.tls) {
    const absl::Status encrypted = encrypt(socket, config.tls, deadline);
    if (!encrypted.ok()) return annotate(encrypted, context);
    client.bind(socket.layer()->binding());
  }
  auto answer = client.start();
  while (answer.ok() && !client.finished()) {
    if (const absl::Status sent = socket.write(std::as_bytes(std::span(*answer)), deadline);
        !sent.ok())
      return annotate(sent, context);
    FrameReader reader(kHandshakeFrameBytes, config.version);
    while (!reader.complete()) {
      const std::span<std::byte> space = reader.space();
      absl::Status status = socket.read(space, deadline);
      if (status.ok()) status = reader.filled(space.size());
      if (!status.ok()) return annotate(status, context);
    }
    answer = client.on_frame(reader.take());
  }
  if (!answer.ok()) return annotate(answer.status(), context);
  return client.server_incarnation();
}

}  // namespace distribute::net
