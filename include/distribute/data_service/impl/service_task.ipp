#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/cluster/cluster_role.hpp>
#include <distribute/data_service/data_service.hpp>
#include <distribute/data_service/detail/service_messages.hpp>
#include <distribute/data_service/detail/service_task.hpp>
#include <distribute/net/job_token.hpp>

#include <algorithm>

namespace distribute::data::service {

DISTRIBUTE_INLINE ClusterOptions reader_cluster_options() {
  constexpr const char* kVariable = "DISTRIBUTE_DATA_SERVICE_TOKEN";
  ClusterOptions options = ClusterOptions::from_environment();
  const std::string token = Environment().text(kVariable);
  throw_if_error(net::check_job_token(token, kVariable));
  if (!token.empty()) options.job_token = token;
  return options;
}

}  // namespace distribute::data::service

namespace distribute::data::service_internal {

DISTRIBUTE_INLINE net::Listener open_port(const std::string& host, int port,
                                          const ClusterOptions& options) {
  const std::string& bound = options.bind_address;
  const auto address =
      value_or_throw(net::parse_address(bound.empty() ? str_cat(host, ":", port) : bound));
  const auto deadline = net::Deadline::after_seconds(options.startup_timeout);
  return value_or_throw(options.job_token.empty()
                            ? net::Listener::bind(address, deadline)
                            : net::Listener::bind_for_others(address, deadline));
}

DISTRIBUTE_INLINE std::shared_ptr<rpc::JobTask> start_task(const std::string& type, int index,
                                                           net::Listener listener,
                                                           const ClusterOptions& options) {
  ClusterSpec::Jobs jobs;
  jobs[type] = JobTasks(std::map<int, std::string>{{index, listener.address().text()}});
  return rpc::JobTask::start({.cluster = ClusterSpec(jobs),
                              .type = type,
                              .index = index,
                              .options = options,
                              .service = kServiceName,
                              .announced = type != kClientType},
                             std::move(listener));
}

DISTRIBUTE_INLINE std::shared_ptr<rpc::JobTask> start_client(const ClusterOptions& options) {
  constexpr uint64_t kMostIndex = INT32_MAX;
  const int index = int(value_or_throw(net::random_number()) % kMostIndex);
  ClusterOptions own = options;
  own.bind_address.clear();  // nothing dials it
  return start_task(kClientType, index, open_port("127.0.0.1", 0, own), own);
}

DISTRIBUTE_INLINE std::shared_ptr<rpc::RpcChannel> DispatcherCalls::channel() {
  // Short tries, so that stop() need not wait long.
  constexpr double kTry = 0.5;
  const net::Deadline deadline = net::Deadline::after_seconds(timeout_);
  const ClusterOptions& options = task_->options();
  auto report = net::Deadline::after_seconds(options.report_interval);
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (stopped_) throw CancelledError("calls of the dispatcher have ended");
      if (channel_ && channel_->usable()) return channel_;
    }
    try {
      auto made = task_->connect(ClusterMember{kDispatcherType, 0, dispatcher_},
                                 deadline.earlier(net::Deadline::after_seconds(kTry)));
      const std::lock_guard lock(mutex_);
      channel_ = std::move(made);
    } catch (const DeadlineExceededError& error) {
      if (deadline.passed()) throw;
      if (!report.passed()) continue;
      options.print(error.what());
      report = net::Deadline::after_seconds(options.report_interval);
    }
  }
}

DISTRIBUTE_INLINE std::string DispatcherCalls::call_bytes(const std::string& method,
                                                          const std::string& body) {
  for (;;) {
    const auto now = channel();
    try {
      return now->call(method, body, net::Deadline::never());
    } catch (const UnavailableError&) {  // it may come back; a method may be called twice
      if (now->usable()) throw;
    }
  }
}

DISTRIBUTE_INLINE void DispatcherCalls::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  if (channel_) channel_->close();
}

}  // namespace distribute::data::service_internal
