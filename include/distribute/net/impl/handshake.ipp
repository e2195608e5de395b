#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/net/bytes.hpp>
#include <distribute/net/detail/encrypt.hpp>
#include <distribute/net/detail/handshake.hpp>
#include <distribute/net/job_token.hpp>

#include <algorithm>

namespace distribute::net_internal {

using net::HandshakeFrame;

inline constexpr size_t kNonceBytes = 32;
inline constexpr size_t kNameBytes = 256;  // of a task's type, a purpose, a detail

/// The label keeps a proof of one direction from serving in the other.
DISTRIBUTE_INLINE absl::StatusOr<std::string> proof(const std::string& token, const char* label,
                                                    const std::string& transcript) {
  if (token.empty()) return std::string();
  return net::hmac_sha256(token, str_cat("distribute handshake 1, ", label, '\0', transcript));
}

DISTRIBUTE_INLINE absl::Status unexpected(const net::Frame& frame) {
  return absl::InvalidArgumentError(
      str_cat("a message of type ", frame.type, " is not what the handshake expects now"));
}

DISTRIBUTE_INLINE std::string handshake_frame(HandshakeFrame type, std::string_view payload,
                                              uint16_t version) {
  return net::encode_frame(uint16_t(type), payload, version);
}

/// A token on one side only.
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
        net::printable(config.job), ", there ", net::printable(hello.job)));
  if (hello.server_type != config.self.type || hello.server_index != config.self.index)
    return absl::FailedPreconditionError(
        str_cat(hello.client.name(), " looks for ", hello.server_type, " ", hello.server_index,
                ", but this address belongs to ", config.self.name()));
  return absl::OkStatus();
}

}  // namespace distribute::net_internal

namespace distribute::net {

DISTRIBUTE_INLINE std::string TaskIdentity::name() const { return str_cat(type, " ", index); }

DISTRIBUTE_INLINE std::string HandshakeHello::encode() const {
  ByteWriter writer;
  writer.text(client.type).number(client.index).number(client.incarnation);
  writer.text(server_type).number(server_index).text(purpose).text(detail).text(job);
  writer.number(uint8_t(secured)).text(nonce);
  return writer.take();
}

DISTRIBUTE_INLINE absl::StatusOr<HandshakeHello> parse_hello(std::string_view payload) {
  using net_internal::kNameBytes;
  ByteReader reader(payload);
  HandshakeHello hello;
  hello.client.type = printable(reader.text(kNameBytes));
  hello.client.index = reader.number<int32_t>();
  hello.client.incarnation = reader.number<uint64_t>();
  hello.server_type = printable(reader.text(kNameBytes));
  hello.server_index = reader.number<int32_t>();
  hello.purpose = printable(reader.text(kNameBytes));
  hello.detail = reader.text(kNameBytes);
  hello.job = printable(reader.text(kNameBytes));
  hello.secured = reader.number<uint8_t>() != 0;
  hello.nonce = reader.text(net_internal::kNonceBytes);
  if (!reader.finished() || hello.nonce.size() != net_internal::kNonceBytes)
    return absl::InvalidArgumentError("the first message of the handshake is damaged");
  return hello;
}

DISTRIBUTE_INLINE std::string encode_refusal(const absl::Status& status, uint16_t version) {
  const auto text = status.message();
  const std::string sentence = printable({text.data(), text.size()}, 2000);
  ByteWriter writer;
  writer.number(int32_t(status.raw_code())).text(sentence);
  return net_internal::handshake_frame(HandshakeFrame::Refusal, writer.bytes(), version);
}

DISTRIBUTE_INLINE absl::Status parse_refusal(std::string_view payload) {
  ByteReader reader(payload);
  const auto code = reader.number<int32_t>();
  const std::string sentence = printable(reader.text(), 2100);
  if (!reader.finished() || code <= 0 || code > int(StatusCode::Unauthenticated))
    return absl::InvalidArgumentError("the other side's refusal is damaged");
  return make_status(StatusCode(code), sentence);
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
  const auto nonce = random_bytes(net_internal::kNonceBytes);
  if (!nonce.ok()) return nonce.status();
  transcript_ += frame.payload + *nonce;
  step_ = Step::Proof;
  return net_internal::handshake_frame(HandshakeFrame::Challenge, *nonce, config_->version);
}

DISTRIBUTE_INLINE absl::StatusOr<std::string> ServerHandshake::on_proof(const Frame& frame) {
  const auto wanted = net_internal::proof(config_->token, "client", transcript_);
  if (!wanted.ok()) return wanted.status();
  if (!equal_in_constant_time(*wanted, frame.payload))
    return absl::UnauthenticatedError(
        str_cat(hello_.client.name(),
                " does not know the token of this job: it belongs to another "
                "job, or DISTRIBUTE_JOB_TOKEN differs between the tasks"));
  absl::Status status = net_internal::check_target(hello_, *config_);
  if (status.ok() && admit_) status = admit_(hello_);
  if (!status.ok()) return status;
  ByteWriter welcome;
  welcome.number(config_->self.incarnation);
  const auto own = net_internal::proof(config_->token, "server", transcript_ + welcome.bytes());
  if (!own.ok()) return own.status();
  welcome.text(*own);
  step_ = Step::Finished;
  return net_internal::handshake_frame(HandshakeFrame::Welcome, welcome.bytes(), config_->version);
}

DISTRIBUTE_INLINE ClientHandshake::ClientHandshake(const HandshakeConfig& config,
                                                   HandshakeHello hello)
    : config_(&config), hello_(std::move(hello)) {
  hello_.client = config.self;
  hello_.job = config.job;
  hello_.secured = !config.token.empty();
}

DISTRIBUTE_INLINE absl::StatusOr<std::string> ClientHandshake::start() {
  auto nonce = random_bytes(net_internal::kNonceBytes);
  if (!nonce.ok()) return nonce.status();
  hello_.nonce = *std::move(nonce);
  const std::string hello = hello_.encode();
  transcript_ += hello;
  return net_internal::handshake_frame(HandshakeFrame::Hello, hello, config_->version);
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
  if (frame.payload.size() != net_internal::kNonceBytes)
    return absl::InvalidArgumentError("the challenge of the handshake is damaged");
  transcript_ += frame.payload;
  const auto own = net_internal::proof(config_->token, "client", transcript_);
  if (!own.ok()) return own.status();
  step_ = Step::Welcome;
  return net_internal::handshake_frame(HandshakeFrame::Proof, *own, config_->version);
}

DISTRIBUTE_INLINE absl::StatusOr<std::string> ClientHandshake::on_welcome(const Frame& frame) {
  ByteReader reader(frame.payload);
  server_incarnation_ = reader.number<uint64_t>();
  const std::string_view theirs = reader.text();
  const std::string incarnation = frame.payload.substr(0, sizeof(uint64_t));
  const auto wanted = net_internal::proof(config_->token, "server", transcript_ + incarnation);
  if (!wanted.ok()) return wanted.status();
  if (!reader.finished() || !equal_in_constant_time(*wanted, theirs))
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
