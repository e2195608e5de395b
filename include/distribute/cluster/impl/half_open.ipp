#pragma once
#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/cluster/detail/half_open.hpp>
#include <distribute/net/detail/encrypt.hpp>
#include <distribute/net/detail/tls_handshake.hpp>

#include <array>

#include <poll.h>

namespace distribute::cluster_internal {

DISTRIBUTE_INLINE HalfOpen::HalfOpen(net::Socket socket, const net::HandshakeConfig& config,
                                     net::ServerHandshake::Admit admit, net::Deadline deadline)
    : config_(config),
      socket_(std::move(socket)),
      handshake_(config, std::move(admit)),
      reader_(net::kHandshakeFrameBytes, config.version),
      deadline_(deadline) {}

DISTRIBUTE_INLINE HalfOpen::~HalfOpen() = default;

DISTRIBUTE_INLINE void HalfOpen::advance() {
  if (state_ == State::Proving && !begun_) begin();
  if (state_ == State::Proving && tls_) encrypt();
  if (state_ == State::Proving && begun_ && !tls_) read_frames();
  if (!answers_.empty()) write_answers();
  if (state_ == State::Proving && handshake_.finished() && answers_.empty())
    state_ = State::Accepted;
  if (state_ == State::Refusing) discard_input();
  if (state_ == State::Proving && deadline_.passed())
    close(absl::DeadlineExceededError("it has not proved to belong to the job in time"));
  if (state_ == State::Refusing && deadline_.passed()) state_ = State::Closed;
}

/// Whether the other side encrypts shows in its first byte.
DISTRIBUTE_INLINE void HalfOpen::begin() {
  const auto first = socket_.peek_byte();
  begun_ = first.has_value() || socket_.has_ended();
  if (!first || *first != net::kTlsFirstByte) return;
  if (config_.tls) {
    tls_ = std::make_unique<net::TlsHandshake>(config_.tls, net::TlsHandshake::Role::Server,
                                               socket_.native());
    return;
  }
  refuse(annotate(net::one_side_encrypts(config_.self.name(), "the connecting task"),
                  "this is TLS and not a message of this library"));
}

DISTRIBUTE_INLINE void HalfOpen::encrypt() {
  const absl::Status status = tls_->advance();
  if (!status.ok()) {  // the other side has got TLS's own word for it
    refuse(status);
    answers_.clear();
    tls_.reset();
    socket_.end_writing();
  } else if (tls_->finished()) {
    socket_.secure(tls_->take_layer());
    handshake_.bind(socket_.layer()->binding());
    tls_.reset();
  }
}

DISTRIBUTE_INLINE absl::Status HalfOpen::check_plain(const net::Frame& first) const {
  if (!config_.tls || socket_.layer()) return absl::OkStatus();
  const auto hello = net::parse_hello(first.payload);
  return net::one_side_encrypts(hello.ok() ? hello->client.name() : "the connecting task",
                                config_.self.name());
}

DISTRIBUTE_INLINE void HalfOpen::read_frames() {
  while (!handshake_.finished()) {
    const auto got = socket_.read_some(reader_.space());
    if (!got.ok()) return close(got.status());
    if (*got == 0 && !reader_.complete()) return;
    const absl::Status status = reader_.filled(*got);
    if (!status.ok()) {
      const uint16_t theirs = reader_.refused_version();
      return theirs && theirs != config_.version ? refuse_version(theirs) : refuse(status);
    }
    if (!reader_.complete()) continue;
    const net::Frame frame = reader_.take();
    if (const absl::Status plain = check_plain(frame); !plain.ok()) return refuse(plain);
    auto answer = handshake_.on_frame(frame);
    if (!answer.ok()) return refuse(answer.status());
    answers_ += *answer;
  }
}

DISTRIBUTE_INLINE void HalfOpen::write_answers() {
  const auto sent = socket_.write_some(std::as_bytes(std::span(answers_)));
  if (!sent.ok()) return close(sent.status());
  answers_.erase(0, *sent);
  if (answers_.empty() && state_ == State::Refusing) socket_.end_writing();
}

/// Reads and drops input, as closing a socket with unread input would discard the refusal.
DISTRIBUTE_INLINE void HalfOpen::discard_input() {
  std::array<std::byte, 4096> buffer;
  for (;;) {
    const auto got = socket_.read_some(buffer);
    if (got.ok() && *got == 0) return;
    if (got.ok()) discarded_ += *got;
    if (!got.ok() || discarded_ > 65536) {
      state_ = State::Closed;
      return;
    }
  }
}

DISTRIBUTE_INLINE void HalfOpen::refuse(const absl::Status& reason) {
  reason_ = reason;
  answers_ = net::encode_refusal(reason, config_.version);
  state_ = State::Refusing;
  deadline_ = deadline_.earlier(net::Deadline::after_seconds(1));
}

/// Refuses in the other side's version, which is the only one that it can read.
DISTRIBUTE_INLINE void HalfOpen::refuse_version(uint16_t theirs) {
  refuse(absl::FailedPreconditionError(str_cat(
      config_.self.name(), " runs distribute ", kVersion, " with protocol version ",
      config_.version, " and was asked in version ", theirs, ": run the same build in all tasks")));
  answers_ = net::encode_refusal(reason_, theirs);
}

DISTRIBUTE_INLINE void HalfOpen::close(const absl::Status& reason) {
  if (reason_.ok()) reason_ = reason;
  state_ = State::Closed;
}

DISTRIBUTE_INLINE short HalfOpen::events() const {
  if (tls_) return tls_->events();
  return short(answers_.empty() ? POLLIN : POLLIN | POLLOUT);
}

DISTRIBUTE_INLINE std::string HalfOpen::description() const {
  if (!taken_.empty()) return taken_;
  const net::TaskIdentity& who = handshake_.hello().client;
  return who.type.empty() ? socket_.peer() : str_cat(who.name(), " at ", socket_.peer());
}

DISTRIBUTE_INLINE net::Socket HalfOpen::take_socket() {
  taken_ = description();
  socket_.set_peer(taken_);
  return std::move(socket_);
}

}  // namespace distribute::cluster_internal
