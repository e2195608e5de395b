#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/net/socket.hpp>

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace distribute::net {

DISTRIBUTE_INLINE Socket::Socket(int descriptor, std::string peer)
    : descriptor_(descriptor), peer_(std::move(peer)) {
  ::fcntl(descriptor_, F_SETFL, ::fcntl(descriptor_, F_GETFL) | O_NONBLOCK);
  ::fcntl(descriptor_, F_SETFD, FD_CLOEXEC);
  const int on = 1;  // otherwise small messages may wait 40 ms for an acknowledgement
  ::setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

DISTRIBUTE_INLINE Socket& Socket::operator=(Socket&& other) noexcept {
  if (this == &other) return *this;
  close();
  descriptor_ = std::exchange(other.descriptor_, -1);
  saw_end_ = other.saw_end_;
  layer_ = std::move(other.layer_);
  peer_ = std::move(other.peer_);
  return *this;
}

DISTRIBUTE_INLINE void Socket::close() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  layer_.reset();
}

DISTRIBUTE_INLINE void Socket::shutdown() const {
  if (descriptor_ >= 0) ::shutdown(descriptor_, SHUT_RDWR);
}

DISTRIBUTE_INLINE absl::Status Socket::wait(short events, Deadline deadline,
                                            const char* what) const {
  pollfd entry{descriptor_, events, 0};
  const int ready = ::poll(&entry, 1, deadline.left_ms());
  if (ready > 0 || (ready < 0 && errno == EINTR)) return absl::OkStatus();
  if (ready == 0 && !deadline.passed()) return absl::OkStatus();
  return absl::DeadlineExceededError(str_cat("the time to ", what, " ", peer_, " is over"));
}

DISTRIBUTE_INLINE absl::Status Socket::broken(bool by_end) const {
  return absl::UnavailableError(str_cat(peer_, by_end ? " has closed the connection" : ": ",
                                        by_end ? "" : std::strerror(errno)));
}

/// Adds the peer's name to an error.
DISTRIBUTE_INLINE absl::StatusOr<size_t> Socket::told(absl::StatusOr<size_t> result) const {
  if (result.ok()) return result;
  return layer_->has_ended() ? broken(true) : annotate(result.status(), peer_);
}

DISTRIBUTE_INLINE absl::StatusOr<size_t> Socket::read_some(std::span<std::byte> out,
                                                           std::span<std::byte> more) {
  if (out.empty() && more.empty()) return size_t{0};
  if (layer_) return told(layer_->read_some(out, more));
  iovec parts[2] = {{out.data(), out.size()}, {more.data(), more.size()}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  const ssize_t got = ::recvmsg(descriptor_, &message, 0);
  if (got > 0) return size_t(got);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return size_t{0};
  saw_end_ = got == 0;
  return broken(saw_end_);
}

DISTRIBUTE_INLINE absl::StatusOr<size_t> Socket::write_some(std::span<const std::byte> bytes,
                                                            std::span<const std::byte> more) {
  if (bytes.empty() && more.empty()) return size_t{0};
  if (layer_) return told(layer_->write_some(bytes, more));
  const auto part = [](std::span<const std::byte> span) {
    return iovec{const_cast<std::byte*>(span.data()), span.size()};
  };
  iovec parts[2] = {part(bytes), part(more)};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  const ssize_t sent = ::sendmsg(descriptor_, &message, MSG_NOSIGNAL);
  if (sent >= 0) return size_t(sent);
  if (errno == EAGAIN || errno == EINTR) return size_t{0};
  return broken(false);
}

/// Setting the option again sends what waits.
DISTRIBUTE_INLINE void Socket::push() {
  const int on = 1;
  ::setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

DISTRIBUTE_INLINE bool Socket::has_ended() const {
  char byte;
  if (saw_end()) return true;
  return !has_buffered() && ::recv(descriptor_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

DISTRIBUTE_INLINE std::optional<std::byte> Socket::peek_byte() const {
  std::byte byte{};
  const ssize_t got = ::recv(descriptor_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got == 1 ? std::optional(byte) : std::nullopt;
}

DISTRIBUTE_INLINE void Socket::end_writing() const {
  if (descriptor_ >= 0) ::shutdown(descriptor_, SHUT_WR);
}

DISTRIBUTE_INLINE absl::Status Socket::read(std::span<std::byte> out, Deadline deadline) {
  while (!out.empty()) {
    const auto got = read_some(out);
    if (!got.ok()) return got.status();
    out = out.subspan(*got);
    if (*got > 0) continue;
    if (const absl::Status ready = wait(POLLIN, deadline, "read from"); !ready.ok()) return ready;
  }
  return absl::OkStatus();
}

DISTRIBUTE_INLINE absl::Status Socket::write(std::span<const std::byte> bytes, Deadline deadline) {
  while (!bytes.empty()) {
    const auto sent = write_some(bytes);
    if (!sent.ok()) return sent.status();
    bytes = bytes.subspan(*sent);
    if (*sent > 0) continue;
    if (const absl::Status ready = wait(POLLOUT, deadline, "write to"); !ready.ok()) return ready;
  }
  return absl::OkStatus();
}

}  // namespace distribute::net
