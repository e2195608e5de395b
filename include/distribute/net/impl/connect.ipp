#pragma once
#include <distribute/base/detail/descriptors.hpp>
#include <distribute/base/error.hpp>
#include <distribute/net/address.hpp>
#include <distribute/net/socket.hpp>

#include <cerrno>
#include <thread>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/system_error.hpp>

namespace distribute::net_internal {

/// Makes the error of a connection. If this process has no descriptor left, it is one that a
/// further attempt cannot mend.
DISTRIBUTE_INLINE absl::Status connect_error(const std::string& name, const asio::error_code& why) {
  if (why.value() == EMFILE || why.value() == ENFILE)
    return absl::ResourceExhaustedError(
        str_cat("connecting to ", name, ": ", base_internal::system_error_text(why.value())));
  return absl::UnavailableError(str_cat(name, ": ", why.message()));
}

/// `numeric` is one address of the host `name`.
DISTRIBUTE_INLINE absl::StatusOr<net::Socket> connect_numeric(const net::Address& numeric,
                                                              const std::string& name,
                                                              net::Deadline deadline) {
  asio::io_context context;
  asio::ip::tcp::socket socket(context);
  asio::error_code result = asio::error::would_block;
  const asio::ip::tcp::endpoint endpoint(asio::ip::make_address(numeric.host),
                                         asio::ip::port_type(numeric.port));
  socket.async_connect(endpoint, [&](const asio::error_code& error) { result = error; });
  context.run_for(deadline.left());
  if (result == asio::error::would_block) {
    asio::error_code ignored;
    socket.close(ignored);
    context.run();
    return absl::DeadlineExceededError(str_cat("the time to connect to ", name, " is over"));
  }
  asio::error_code error;
  // The system may give a port of the ephemeral range without a listener to this very socket.
  if (!result && socket.local_endpoint(error) == socket.remote_endpoint(error))
    result = asio::error::connection_refused;
  if (result) return connect_error(name, result);
  return net::Socket(socket.release(), name);
}

}  // namespace distribute::net_internal

namespace distribute::net {

/// Tries once. Asio throws when it lacks a descriptor for itself; that is an error here.
DISTRIBUTE_INLINE absl::StatusOr<Socket> try_to_connect(const Address& address, Deadline deadline) {
  const auto found = resolve(address, deadline);
  if (!found.ok()) return found.status();
  absl::StatusOr<Socket> socket = absl::UnavailableError("");
  for (size_t i = 0; i < found->size(); ++i) {
    // An address that drops packets must leave time for the next one.
    const auto share = deadline.left() / int64_t(found->size() - i);
    socket = net_internal::connect_numeric((*found)[i], address.text(), Deadline::after(share));
    if (socket.ok()) break;
  }
  return socket;
}

DISTRIBUTE_INLINE absl::StatusOr<Socket> connect(const Address& address, Deadline deadline) {
  try {
    return try_to_connect(address, deadline);
  } catch (const asio::system_error& error) {
    return net_internal::connect_error(address.text(), error.code());
  }
}

DISTRIBUTE_INLINE absl::StatusOr<Socket> connect_patiently(
    const Address& address, Deadline deadline,
    const std::function<bool(const absl::Status&)>& keep_trying) {
  std::chrono::milliseconds pause{5};
  for (;;) {
    auto socket = connect(address, deadline.earlier(Deadline::after_seconds(5)));
    if (socket.ok() || socket.status().code() == absl::StatusCode::kResourceExhausted)
      return socket;
    if (keep_trying && !keep_trying(socket.status())) return socket;
    if (deadline.left() <= pause) {
      const auto text = socket.status().message();
      return absl::DeadlineExceededError(
          str_cat("could not connect to ", address.text(),
                  " in time; the last try said: ", std::string(text.data(), text.size())));
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds(250));
  }
}

}  // namespace distribute::net
