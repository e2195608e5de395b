#pragma once
#include <distribute/base/error.hpp>
#include <distribute/cluster/half_open.hpp>

#include <array>

#include <poll.h>
#include <sys/socket.h>

namespace distribute::cluster_internal {

DISTRIBUTE_INLINE HalfOpen::HalfOpen(net::Socket socket, const net::HandshakeConfig& config,
                                     net::ServerHandshake::Admit admit, net::Deadline deadline)
    : socket_(std::move(socket)),
      version_(config.version),
      handshake_(config, std::move(admit)),
      reader_(net::kHandshakeFrameBytes, config.version),
      deadline_(deadline) {}

DISTRIBUTE_INLINE void HalfOpen::advance() {
  if (state_ == State::Proving) read_frames();
  if (!answers_.empty()) write_answers();
  if (state_ == State::Proving && handshake_.finished() && answers_.empty())
    state_ = State::Accepted;
  if (state_ == State::Refusing) discard_input();
  if (state_ == State::Proving && deadline_.passed())
    close(absl::DeadlineExceededError("it has not proved to belong to the job in time"));
  if (state_ == State::Refusing && deadline_.passed()) state_ = State::Closed;
}

DISTRIBUTE_INLINE void HalfOpen::read_frames() {
  while (!handshake_.finished()) {
    const auto got = socket_.read_some(reader_.space());
    if (!got.ok()) return close(got.status());
    if (*got == 0 && !reader_.complete()) return;
    const absl::Status status = reader_.filled(*got);
    if (!status.ok()) return refuse(status);
    if (!reader_.complete()) continue;
    auto answer = handshake_.on_frame(reader_.take());
    if (!answer.ok()) return refuse(answer.status());
    answers_ += *answer;
  }
}

DISTRIBUTE_INLINE void HalfOpen::write_answers() {
  const auto sent = socket_.write_some(std::as_bytes(std::span(answers_)));
  if (!sent.ok()) return close(sent.status());
  answers_.erase(0, *sent);
  if (answers_.empty() && state_ == State::Refusing) ::shutdown(socket_.native(), SHUT_WR);
}

/// Closing a socket with unread input would take the refusal away from the other side.
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
  answers_ = net::encode_refusal(reason, version_);
  state_ = State::Refusing;
  deadline_ = deadline_.earlier(net::Deadline::after_seconds(1));
}

DISTRIBUTE_INLINE void HalfOpen::close(const absl::Status& reason) {
  if (reason_.ok()) reason_ = reason;
  state_ = State::Closed;
}

DISTRIBUTE_INLINE short HalfOpen::events() const {
  return short(answers_.empty() ? POLLIN : POLLIN | POLLOUT);
}

DISTRIBUTE_INLINE std::string HalfOpen::description() const {
  const net::TaskIdentity& who = handshake_.hello().client;
  return who.type.empty() ? socket_.peer() : concat(who.name(), " at ", socket_.peer());
}

DISTRIBUTE_INLINE net::Socket HalfOpen::take_socket() {
  const std::string name = description();
  socket_.set_peer(name);
  return std::move(socket_);
}

}  // namespace distribute::cluster_internal
