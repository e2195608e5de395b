#pragma once
#include <distribute/base/status.hpp>
#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/collective/shared_window.hpp>
#include <distribute/net/deadline.hpp>
#include <distribute/net/socket.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace distribute::collective {

/// An abstract address: no file, and only in this network namespace.
DISTRIBUTE_INLINE std::pair<sockaddr_un, socklen_t> abstract_address(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  return {address, socklen_t(offsetof(sockaddr_un, sun_path) + 1 + name.size())};
}

[[noreturn]] DISTRIBUTE_INLINE void throw_system(const char* what) {
  throw UnavailableError(concat(what, ": ", std::strerror(errno)));
}

/// Another user of this machine gets nothing.
DISTRIBUTE_INLINE bool is_same_user(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         peer.uid == ::geteuid();
}

DISTRIBUTE_INLINE void send_descriptor(int socket, int descriptor) {
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
  if (::sendmsg(socket, &message, MSG_NOSIGNAL) != 1) throw_system("handing over shared memory");
}

DISTRIBUTE_INLINE int receive_descriptor(int socket) {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (::recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1) throw_system("getting shared memory");
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (!header || header->cmsg_type != SCM_RIGHTS)
    throw UnavailableError("getting shared memory: no descriptor came");
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
  return descriptor;
}

DISTRIBUTE_INLINE void wait_readable(int socket, net::Deadline deadline) {
  pollfd entry{socket, POLLIN, 0};
  while (::poll(&entry, 1, deadline.left_ms()) <= 0)
    if (deadline.passed()) throw DeadlineExceededError("the tasks of this host did not come");
}

/// The first task's part: opens the door, then serves `guests`.
class WindowDoor {
 public:
  explicit WindowDoor(const std::string& name)
      : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "the tasks of this host") {
    const auto [address, size] = abstract_address(name);
    if (::bind(socket_.native(), reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
        ::listen(socket_.native(), 64) != 0)
      throw_system("opening a Unix socket");
  }
  void serve(int descriptor, int guests, net::Deadline deadline) const {
    while (guests > 0) {
      wait_readable(socket_.native(), deadline);
      const int raw = ::accept4(socket_.native(), nullptr, nullptr, SOCK_CLOEXEC);
      if (raw < 0) continue;
      const net::Socket guest(raw, "a task of this host");
      if (!is_same_user(raw)) continue;
      send_descriptor(raw, descriptor);
      --guests;
    }
  }

 private:
  net::Socket socket_;
};

DISTRIBUTE_INLINE int knock(const std::string& name, net::Deadline deadline) {
  const int raw = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const net::Socket socket(raw, "the first task of this host");
  const auto [address, size] = abstract_address(name);
  if (::connect(raw, reinterpret_cast<const sockaddr*>(&address), size) != 0)
    throw_system("the first task cannot be reached through a Unix socket");
  wait_readable(raw, deadline);
  if (!is_same_user(raw)) throw UnavailableError("the first task belongs to another user");
  return receive_descriptor(raw);
}

/// One task's part; throws where it does not work.
DISTRIBUTE_INLINE std::shared_ptr<Window> open_window(ClusterRuntime& runtime,
                                                      const std::string& name,
                                                      const std::vector<int>& tasks, int ranks) {
  if (tasks.size() == 1) return Window::in_process(ranks);
  const auto deadline = net::Deadline::after_seconds(10);
  const std::string key = concat(name, "/", tasks[0]);
  if (runtime.rank() != tasks[0])
    return Window::attach(knock(runtime.get(key, deadline), deadline), ranks);
  char prefix[64];
  std::snprintf(prefix, sizeof prefix, "distribute-%d-%016llx-%d", int(::getpid()),
                static_cast<unsigned long long>(runtime.incarnation()), ranks);
  const std::string unique = concat(prefix, "-", key).substr(0, 100);
  const WindowDoor door(unique);
  auto window = Window::create(ranks);
  runtime.set(key, unique);
  door.serve(window->descriptor(), int(tasks.size()) - 1, deadline);
  return window;
}

DISTRIBUTE_INLINE std::shared_ptr<Window> share_window(ClusterRuntime& runtime,
                                                       const std::string& name,
                                                       const std::vector<int>& tasks,
                                                       int ranks_per_task, std::string& reason) {
  std::shared_ptr<Window> window;
  std::string failure;
  try {
    window = open_window(runtime, "window/" + name, tasks, int(tasks.size()) * ranks_per_task);
  } catch (const Error& error) {
    runtime.throw_if_lost();
    failure = concat(runtime.describe(runtime.rank()), ": ", error.what());
  }
  for (const std::string& other : runtime.all_gather("window/" + name, failure))
    if (!other.empty()) {
      reason = other;
      return nullptr;
    }
  return window;
}

}  // namespace distribute::collective
