#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/cluster/detail/own_port.hpp>
#include <distribute/net/address.hpp>
#include <distribute/net/deadline.hpp>
#include <distribute/net/listener.hpp>

#include <algorithm>
#include <chrono>
#include <thread>

namespace distribute::cluster_internal {

DISTRIBUTE_INLINE net::Listener open_own_port(const std::string& task, const std::string& address,
                                              const ClusterOptions& options) {
  const auto parsed = value_or_throw(
      net::parse_address(options.bind_address.empty() ? address : options.bind_address));
  const auto deadline = net::Deadline::after_seconds(options.startup_timeout);
  const auto interval = net::seconds(options.report_interval);
  auto next_report = net::Deadline::Clock::now() + interval;
  std::chrono::milliseconds pause{20};
  for (;;) {
    auto listener = net::Listener::bind(parsed, deadline);
    const bool may_come = listener.status().code() == absl::StatusCode::kUnavailable;
    if (!may_come || deadline.left() <= pause) {
      throw_if_error(annotate(listener.status(), task));
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

}  // namespace distribute::cluster_internal
