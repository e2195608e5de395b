#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/base/threads.hpp>
#include <distribute/cluster/detail/cluster_metrics.hpp>
#include <distribute/cluster/detail/half_open.hpp>
#include <distribute/cluster/detail/task_server.hpp>
#include <distribute/net/job_token.hpp>

#include <algorithm>

#include <poll.h>

namespace distribute {

DISTRIBUTE_INLINE TaskServer::TaskServer(net::Listener listener, net::HandshakeConfig config,
                                         ClusterOptions options)
    : listener_(std::move(listener)), config_(std::move(config)), options_(std::move(options)) {
  throw_if_error(
      net::check_exposure(listener_.address(), config_.authenticates(), options_.insecure));
}

DISTRIBUTE_INLINE void TaskServer::start() {
  if (!thread_.joinable())
    thread_ = base_internal::start_thread("the task's port", [this] { run(); });
}

DISTRIBUTE_INLINE TaskServer::~TaskServer() {
  stopping_ = true;
  wake_up_.signal();
  if (thread_.joinable()) thread_.join();
}

DISTRIBUTE_INLINE void TaskServer::serve(const std::string& purpose, Handler handler, Admit admit) {
  const std::lock_guard lock(mutex_);
  services_[purpose] = {std::move(handler), std::move(admit)};
}

DISTRIBUTE_INLINE void TaskServer::stop_serving(const std::string& purpose) {
  const std::lock_guard lock(mutex_);
  services_.erase(purpose);
}

DISTRIBUTE_INLINE void TaskServer::run() {
  std::vector<pollfd> polled;
  while (!stopping_) {
    const bool accepting = Clock::now() >= accept_again_;
    polled.assign(
        {{wake_up_.native(), POLLIN, 0}, {accepting ? listener_.native() : -1, POLLIN, 0}});
    for (const auto& connection : half_open_)
      polled.push_back({connection->native(), connection->events(), 0});
    ::poll(polled.data(), polled.size(), accepting ? poll_timeout() : 100);
    try {
      if (polled[1].revents) accept_waiting();
      advance_all();
    } catch (const std::bad_alloc&) {  // as when descriptors run out
      push_out_oldest("this task has no descriptor left");
      accept_again_ = Clock::now() + std::chrono::milliseconds(100);
    }
  }
}

DISTRIBUTE_INLINE int TaskServer::poll_timeout() const {
  int timeout = -1;
  for (const auto& connection : half_open_) {
    const int left = connection->deadline().left_ms();
    timeout = timeout < 0 ? left : std::min(timeout, left);
  }
  return timeout;
}

DISTRIBUTE_INLINE void TaskServer::accept_waiting() {
  for (int i = 0; i < 64; ++i) {
    auto socket = listener_.accept_now();
    if (!socket.ok()) {
      tell_full(socket.status());
      push_out_oldest();
      accept_again_ = Clock::now() + std::chrono::milliseconds(100);
      return;
    }
    if (!*socket) return;
    if (half_open_.size() >= size_t(options_.max_unauthenticated)) push_out_oldest();
    half_open_.push_back(std::make_unique<cluster_internal::HalfOpen>(
        *std::move(socket), config_,
        [this](const net::HandshakeHello& hello) { return admit(hello); },
        net::Deadline::after_seconds(options_.handshake_timeout)));
  }
}

/// Logs from time to time that there is no descriptor, as this lasts.
DISTRIBUTE_INLINE void TaskServer::tell_full(const absl::Status& why) {
  if (Clock::now() < next_full_) return;
  options_.print(str_cat(config_.self.name(), " takes no connection now: ", why.message()));
  next_full_ = Clock::now() + std::chrono::seconds(10);
}

DISTRIBUTE_INLINE void TaskServer::push_out_oldest(std::string_view why) {
  if (half_open_.empty()) return;
  count_refused(*half_open_.front(), why);
  half_open_.erase(half_open_.begin());
}

DISTRIBUTE_INLINE void TaskServer::advance_all() {
  using State = cluster_internal::HalfOpen::State;
  for (const auto& connection : half_open_) {
    const State before = connection->state();
    connection->advance();
    if (connection->state() == State::Accepted) hand_over(*connection);
    const bool refused =
        connection->state() == State::Refusing || connection->state() == State::Closed;
    if (before == State::Proving && refused && !net::is_not_served(connection->reason()))
      count_refused(*connection);
  }
  std::erase_if(half_open_, [](const auto& connection) {
    return connection->state() == State::Accepted || connection->state() == State::Closed;
  });
}

DISTRIBUTE_INLINE absl::Status TaskServer::admit(const net::HandshakeHello& hello) {
  const std::lock_guard lock(mutex_);
  const auto service = services_.find(hello.purpose);
  if (service == services_.end())
    return net::not_served(
        str_cat(config_.self.name(), " does not serve \"", hello.purpose, "\" now"));
  return service->second.admit ? service->second.admit(hello) : absl::OkStatus();
}

DISTRIBUTE_INLINE void TaskServer::hand_over(cluster_internal::HalfOpen& connection) {
  const std::lock_guard lock(mutex_);
  const auto service = services_.find(connection.hello().purpose);
  if (service == services_.end()) return;
  try {
    service->second.handler({connection.take_socket(), connection.hello()});
  } catch (const std::exception& error) {  // such as no thread for it: the other side sees the end
    count_refused(connection, error.what());
  }
}

DISTRIBUTE_INLINE void TaskServer::count_refused(const cluster_internal::HalfOpen& connection,
                                                 std::string_view why) {
  ++refused_;
  cluster_internal::cluster_metrics().refused_connections.increment_by();
  ++unreported_;
  if (Clock::now() < next_report_) return;
  const std::string_view reason = connection.reason().ok()
                                      ? why
                                      : std::string_view(connection.reason().message().data(),
                                                         connection.reason().message().size());
  options_.print(
      str_cat(config_.self.name(), " refused ", connection.description(), ": ", reason,
              unreported_ > 1 ? str_cat(" (and ", unreported_ - 1, " others before)") : ""));
  next_report_ = Clock::now() + std::chrono::seconds(1);
  unreported_ = 0;
}

}  // namespace distribute
