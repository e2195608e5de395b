#pragma once
#include <distribute/base/detail/descriptors.hpp>
#include <distribute/base/error.hpp>
#include <distribute/net/address.hpp>
#include <distribute/net/socket.hpp>

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/ip/v6_only.hpp>

namespace distribute::net_internal {

DISTRIBUTE_INLINE absl::Status bind_error(const net::Address& wanted, const asio::error_code& e) {
  const char* cure = "";
  if (e == asio::error::address_in_use)
    cure =
        "; another process, perhaps of an earlier run, listens there: end it or give this task "
        "another port";
  else if (e.value() == EADDRNOTAVAIL)
    cure =
        "; the address is not one of this machine: start the task on the machine that the "
        "cluster names, or name the address to listen on in DISTRIBUTE_BIND_ADDRESS";
  else if (e.value() == EMFILE || e.value() == ENFILE)
    return absl::ResourceExhaustedError(str_cat("cannot listen on ", wanted.text(), ": ",
                                                base_internal::system_error_text(e.value())));
  else if (e == asio::error::access_denied)
    cure = "; ports below 1024 belong to the system";
  return absl::FailedPreconditionError(str_cat("cannot listen on ", wanted.text(), " (port ",
                                               wanted.port, "): ", e.message(), cure));
}

DISTRIBUTE_INLINE int listen_on(const net::Address& numeric, asio::error_code& error) try {
  asio::io_context context;
  asio::ip::tcp::acceptor acceptor(context);
  const asio::ip::tcp::endpoint endpoint(asio::ip::make_address(numeric.host),
                                         asio::ip::port_type(numeric.port));
  acceptor.open(endpoint.protocol(), error);
  if (!error && endpoint.address().is_v6()) acceptor.set_option(asio::ip::v6_only(true), error);
  // Connections of an earlier run that are still closing do not make the port "in use".
  if (!error) acceptor.set_option(asio::ip::tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  return error ? -1 : acceptor.release();
} catch (const asio::system_error& failed) {  // no descriptor for asio itself
  error = failed.code();
  return -1;
}

}  // namespace distribute::net_internal

namespace distribute::net {

DISTRIBUTE_INLINE Listener& Listener::operator=(Listener&& other) noexcept {
  if (this == &other) return *this;
  close();
  descriptor_ = std::exchange(other.descriptor_, -1);
  address_ = std::move(other.address_);
  return *this;
}

DISTRIBUTE_INLINE void Listener::close() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

DISTRIBUTE_INLINE absl::StatusOr<Listener> Listener::listen(const Address& wanted,
                                                            const Address& numeric) {
  asio::error_code error;
  Listener result;
  result.descriptor_ = net_internal::listen_on(numeric, error);
  if (error) return net_internal::bind_error(wanted, error);
  ::fcntl(result.descriptor_, F_SETFL, ::fcntl(result.descriptor_, F_GETFL) | O_NONBLOCK);
  ::fcntl(result.descriptor_, F_SETFD, FD_CLOEXEC);
  auto bound = local_address(result.descriptor_);
  if (!bound.ok()) return bound.status();
  result.address_ = *std::move(bound);
  return result;
}

DISTRIBUTE_INLINE absl::StatusOr<Listener> Listener::bind(const Address& address,
                                                          Deadline deadline) {
  const auto found = resolve(address, deadline);
  if (!found.ok()) return found.status();
  return listen(address, found->front());
}

DISTRIBUTE_INLINE absl::StatusOr<Listener> Listener::bind_for_others(const Address& address,
                                                                     Deadline deadline) {
  const auto found = resolve(address, deadline);
  if (!found.ok()) return found.status();
  if (address.is_loopback()) return listen(address, found->front());
  for (const Address& numeric : *found)
    if (!numeric.is_loopback()) return listen(address, numeric);
  // Further loopback addresses, such as 127.0.0.2, are chosen on purpose: one host plays several.
  const std::string& host = found->front().host;
  if (host != "127.0.1.1" && host != "127.0.0.1" && host != "::1")
    return listen(address, found->front());
  const bool v6 = host.find(':') != std::string::npos;
  return listen(address, {v6 ? "::" : "0.0.0.0", address.port});
}

DISTRIBUTE_INLINE absl::StatusOr<Socket> Listener::accept_now() {
  const int descriptor = ::accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (descriptor >= 0) {
    const auto peer = remote_address(descriptor);
    return Socket(descriptor, peer.ok() ? peer->text() : "a task that has gone");
  }
  if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
    return absl::ResourceExhaustedError(
        str_cat("accept on ", address_.text(), ": ", base_internal::system_error_text(errno)));
  if (errno == EBADF || errno == EINVAL || errno == ENOTSOCK)
    return absl::UnavailableError(str_cat("the listener on ", address_.text(), " is closed"));
  return Socket();  // no connection, or one that was closed meanwhile
}

DISTRIBUTE_INLINE absl::StatusOr<Socket> Listener::accept(Deadline deadline) {
  for (;;) {
    auto socket = accept_now();
    if (!socket.ok() || *socket) return socket;
    if (deadline.passed())
      return absl::DeadlineExceededError(
          str_cat("no task connected to ", address_.text(), " in time"));
    pollfd entry{descriptor_, POLLIN, 0};
    ::poll(&entry, 1, deadline.left_ms());
  }
}

}  // namespace distribute::net
