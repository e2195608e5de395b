#pragma once
#include <distribute/base/error.hpp>
#include <distribute/net/socket.hpp>

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace distribute::net {

DISTRIBUTE_INLINE Socket::Socket(int descriptor, std::string peer)
    : descriptor_(descriptor), peer_(std::move(peer)) {
  ::fcntl(descriptor_, F_SETFL, ::fcntl(descriptor_, F_GETFL) | O_NONBLOCK);
  ::fcntl(descriptor_, F_SETFD, FD_CLOEXEC);
}

DISTRIBUTE_INLINE Socket& Socket::operator=(Socket&& other) noexcept {
  if (this == &other) return *this;
  close();
  descriptor_ = std::exchange(other.descriptor_, -1);
  peer_ = std::move(other.peer_);
  return *this;
}

DISTRIBUTE_INLINE void Socket::close() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
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
  return absl::DeadlineExceededError(concat("the time to ", what, " ", peer_, " is over"));
}

DISTRIBUTE_INLINE absl::Status Socket::read(std::span<std::byte> out, Deadline deadline) {
  while (!out.empty()) {
    const ssize_t got = ::recv(descriptor_, out.data(), out.size(), 0);
    if (got > 0) {
      out = out.subspan(size_t(got));
    } else if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
      if (const absl::Status ready = wait(POLLIN, deadline, "read from"); !ready.ok()) return ready;
    } else {
      return absl::UnavailableError(concat(peer_, got == 0 ? " has closed the connection" : ": ",
                                           got == 0 ? "" : std::strerror(errno)));
    }
  }
  return absl::OkStatus();
}

DISTRIBUTE_INLINE absl::Status Socket::write(std::span<const std::byte> bytes, Deadline deadline) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes = bytes.subspan(size_t(sent));
    } else if (errno == EAGAIN || errno == EINTR) {
      if (const absl::Status ready = wait(POLLOUT, deadline, "write to"); !ready.ok()) return ready;
    } else {
      return absl::UnavailableError(concat(peer_, ": ", std::strerror(errno)));
    }
  }
  return absl::OkStatus();
}

}  // namespace distribute::net
