#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/cluster/detail/own_port.hpp>
#include <distribute/net/address.hpp>
#include <distribute/net/deadline.hpp>
#include <distribute/net/socket.hpp>

#include <algorithm>
#include <chrono>
#include <thread>

namespace distribute::cluster_internal {

/// Whether other hosts may connect: with a token, or where the user allows it without.
DISTRIBUTE_INLINE bool may_be_seen(const ClusterOptions& options) {
  return !options.job_token.empty() || options.insecure;
}

DISTRIBUTE_INLINE absl::StatusOr<net::Listener> bind_own_port(const net::Address& address,
                                                              const ClusterOptions& options,
                                                              net::Deadline deadline) {
  return may_be_seen(options) ? net::Listener::bind_for_others(address, deadline)
                              : net::Listener::bind(address, deadline);
}

DISTRIBUTE_INLINE void tell_about_loopback_name(const std::string& task, const net::Address& wanted,
                                                const net::Listener& listener,
                                                const ClusterOptions& options) {
  const std::string& host = listener.address().host;
  const bool everywhere = (host == "0.0.0.0" || host == "::") && wanted.host != host;
  const bool inside = !wanted.is_loopback() && listener.address().is_loopback();
  if (everywhere)
    options.print(str_cat(task, ": \"", wanted.host,
                          "\" is a loopback address on this host (/etc/hosts), so the task listens "
                          "on all addresses of the host; DISTRIBUTE_BIND_ADDRESS can name one"));
  else if (inside && listener.address().host != wanted.host)
    options.print(
        str_cat(task, ": \"", wanted.host, "\" is ", host,
                " on this host (/etc/hosts), and without a job token tasks of other hosts "
                "may not come in"));
}

DISTRIBUTE_INLINE net::Listener open_own_port(const std::string& task, const std::string& address,
                                              const ClusterOptions& options) {
  const auto parsed = value_or_throw(
      net::parse_address(options.bind_address.empty() ? address : options.bind_address));
  const auto deadline = net::Deadline::after_seconds(options.startup_timeout);
  const auto interval = net::seconds(options.report_interval);
  auto next_report = net::Deadline::Clock::now() + interval;
  std::chrono::milliseconds pause{20};
  for (;;) {
    auto listener = bind_own_port(parsed, options, deadline);
    const bool may_come = listener.status().code() == absl::StatusCode::kUnavailable;
    if (!may_come || deadline.left() <= pause) {
      throw_if_error(annotate(listener.status(), task));
      tell_about_loopback_name(task, parsed, *listener, options);
      return *std::move(listener);
    }
    if (net::Deadline::Clock::now() >= next_report) {
      options.print(str_cat(task,
                            " waits for its own name: ", std::string(listener.status().message()),
                            "; DISTRIBUTE_BIND_ADDRESS can name the address to listen on"));
      next_report += interval;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds(1000));
  }
}

/// Returns one of the addresses if it certainly belongs to another host; names may not be known
/// yet.
DISTRIBUTE_INLINE std::string address_elsewhere(const net::Address& address) {
  constexpr double kPatienceSeconds = 2;
  const auto found = net::resolve(address, net::Deadline::after_seconds(kPatienceSeconds));
  if (!found.ok()) return "";
  for (const net::Address& numeric : *found)
    if (net::is_of_this_host(numeric)) return "";
  return found->front().host;
}

DISTRIBUTE_INLINE void check_loopback(const ClusterTasks& tasks, const ClusterOptions& options) {
  const ClusterMember *inside = nullptr, *outside = nullptr;
  for (const ClusterMember& member : tasks.members) {
    const auto address = net::parse_address(member.address);
    if (!address.ok()) continue;  // not known yet
    const ClusterMember*& first = address->is_loopback() ? inside : outside;
    if (!first || &member == &tasks.self()) first = &member;
  }
  if (!inside || !outside) return;
  const std::string cure =
      "; write the name or address by which the other tasks know its host, in all tasks alike";
  const std::string elsewhere =
      inside == &tasks.self() ? address_elsewhere(*net::parse_address(outside->address)) : "";
  if (!elsewhere.empty())
    throw InvalidArgumentError(str_cat(inside->text(), " has a loopback address, so ",
                                       outside->text(), ", which is on another host (", elsewhere,
                                       "), cannot reach it", cure));
  options.print(str_cat("warning: ", inside->text(),
                        " has a loopback address, which only tasks of ",
                        "its own host can reach, and ", outside->text(), " has none", cure));
}

}  // namespace distribute::cluster_internal
