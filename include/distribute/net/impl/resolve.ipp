#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/threads.hpp>
#include <distribute/net/address.hpp>

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/ip/udp.hpp>

namespace distribute::net_internal {

/// The state that is shared with the resolving thread. The system's resolver has no deadline, so
/// the thread may outlive the call.
struct Resolution {
  std::mutex mutex;  // guards the rest
  std::condition_variable ready;
  bool done = false;
  asio::error_code error;
  std::vector<net::Address> found;
};

DISTRIBUTE_INLINE void ask_system(const std::shared_ptr<Resolution>& to,
                                  const net::Address& address) {
  asio::io_context context;
  asio::ip::tcp::resolver resolver(context);
  asio::error_code error;
  std::vector<net::Address> found;
  for (const auto& entry : resolver.resolve(address.host, std::to_string(address.port), error)) {
    const net::Address numeric{entry.endpoint().address().to_string(), address.port};
    if (std::find(found.begin(), found.end(), numeric) == found.end()) found.push_back(numeric);
  }
  std::stable_partition(found.begin(), found.end(), [](const net::Address& a) {
    return a.host.find(':') == std::string::npos;
  });
  const std::lock_guard lock(to->mutex);
  to->error = error;
  to->found = std::move(found);
  to->done = true;
  to->ready.notify_all();
}

}  // namespace distribute::net_internal

namespace distribute::net {

DISTRIBUTE_INLINE absl::StatusOr<std::vector<Address>> resolve(const Address& address,
                                                               Deadline deadline) {
  asio::error_code not_numeric;
  asio::ip::make_address(address.host, not_numeric);
  if (!not_numeric) return std::vector<Address>{address};
  const auto state = std::make_shared<net_internal::Resolution>();
  try {
    base_internal::start_thread("looking up host names", [state, address] {
      net_internal::ask_system(state, address);
    }).detach();
  } catch (const ResourceExhaustedError& refused) {
    return absl::ResourceExhaustedError(refused.what());
  }
  std::unique_lock lock(state->mutex);
  if (!state->ready.wait_until(lock, deadline.when(), [&] { return state->done; }))
    return absl::DeadlineExceededError(
        str_cat("no answer about the host name \"", address.host, "\" in time"));
  if (state->error || state->found.empty())
    return absl::UnavailableError(str_cat("the host name \"", address.host, "\" is not known",
                                          state->error ? ": " + state->error.message() : ""));
  return state->found;
}

DISTRIBUTE_INLINE bool is_of_this_host(const Address& numeric) {
  asio::io_context context;
  asio::ip::udp::socket socket(context);
  asio::error_code error;
  const asio::ip::udp::endpoint any_port(asio::ip::make_address(numeric.host, error), 0);
  if (!error) socket.open(any_port.protocol(), error);
  if (!error) socket.bind(any_port, error);
  return !error;
}

}  // namespace distribute::net
