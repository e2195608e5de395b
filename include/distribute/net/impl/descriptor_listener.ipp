#pragma once
#include <distribute/base/detail/descriptors.hpp>
#include <distribute/base/error.hpp>
#include <distribute/net/detail/descriptor_listener.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace distribute::net {

/// Makes an abstract address, which has no file and exists only in this network namespace.
DISTRIBUTE_INLINE std::pair<sockaddr_un, socklen_t> abstract_address(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const size_t size = std::min(name.size(), sizeof address.sun_path - 1);
  std::memcpy(address.sun_path + 1, name.data(), size);
  return {address, socklen_t(offsetof(sockaddr_un, sun_path) + 1 + size)};
}

DISTRIBUTE_INLINE absl::Status system_error(const char* what, int number = errno) {
  return absl::UnavailableError(str_cat(what, ": ", base_internal::system_error_text(number)));
}

/// Whether the other process belongs to the same user; other users are refused.
DISTRIBUTE_INLINE bool is_same_user(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         peer.uid == ::geteuid();
}

DISTRIBUTE_INLINE absl::Status wait_readable(int socket, Deadline deadline) {
  pollfd entry{socket, POLLIN, 0};
  while (::poll(&entry, 1, deadline.left_ms()) <= 0)
    if (deadline.passed())
      return absl::DeadlineExceededError("the other process of this host did not come");
  return absl::OkStatus();
}

DISTRIBUTE_INLINE absl::StatusOr<DescriptorListener> DescriptorListener::open(
    const std::string& name) {
  const int raw = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (raw < 0) return system_error("opening a Unix socket");
  Socket socket(raw, "the processes of this host");
  const auto [address, size] = abstract_address(name);
  if (::bind(socket.native(), reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      ::listen(socket.native(), 64) != 0)
    return system_error("opening a Unix socket");
  return DescriptorListener(std::move(socket));
}

DISTRIBUTE_INLINE absl::StatusOr<Socket> DescriptorListener::accept(Deadline deadline) const {
  constexpr int kPauseMs = 20;
  for (;;) {
    const absl::Status ready = wait_readable(socket_.native(), deadline);
    if (!ready.ok()) return ready;
    const int raw = ::accept4(socket_.native(), nullptr, nullptr, SOCK_CLOEXEC);
    if (raw < 0) {  // such as no descriptor: the client stays in the queue
      if (deadline.passed()) return system_error("waiting for a process of this host");
      ::poll(nullptr, 0, kPauseMs);
      continue;
    }
    Socket client(raw, "a process of this host");
    if (is_same_user(raw)) return client;
  }
}

/// Returns 0 or errno. It repeats the attempt while the listener's queue is full, as ::poll does
/// not report that.
DISTRIBUTE_INLINE int connect_by_name(int socket, const std::string& name, Deadline deadline) {
  const auto [address, size] = abstract_address(name);
  constexpr int kPauseMs = 20;
  for (;;) {
    if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), size) == 0) return 0;
    const int number = errno;
    if ((number != EAGAIN && number != EINTR) || deadline.passed()) return number;
    ::poll(nullptr, 0, std::min(kPauseMs, deadline.left_ms()));
  }
}

DISTRIBUTE_INLINE absl::StatusOr<Socket> connect_to_descriptors(const std::string& name,
                                                                Deadline deadline) {
  const int raw = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (raw < 0) return system_error("opening a Unix socket");
  Socket socket(raw, "a process of this host");
  const int number = connect_by_name(raw, name, deadline);
  if (number == EAGAIN || number == EINTR)
    return absl::DeadlineExceededError("a process of this host has not taken the connection");
  if (number != 0)
    return system_error("a process of this host cannot be reached by a Unix socket", number);
  if (!is_same_user(raw)) return absl::UnavailableError("the process belongs to another user");
  return socket;
}

DISTRIBUTE_INLINE absl::Status send_descriptor(const Socket& socket, int descriptor) {
  char byte = 1;
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  if (::sendmsg(socket.native(), &message, MSG_NOSIGNAL) == 1) return absl::OkStatus();
  return system_error("handing over shared memory");
}

DISTRIBUTE_INLINE absl::StatusOr<int> receive_descriptor(const Socket& socket, Deadline deadline) {
  const absl::Status ready = wait_readable(socket.native(), deadline);
  if (!ready.ok()) return ready;
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (::recvmsg(socket.native(), &message, MSG_CMSG_CLOEXEC) != 1)
    return system_error("getting shared memory");
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (!header || header->cmsg_type != SCM_RIGHTS)
    return absl::UnavailableError("getting shared memory: no descriptor came");
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
  return descriptor;
}

}  // namespace distribute::net
