#pragma once
/// This process's tasks in a data service, and calls to the dispatcher that outlast its restart.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/cluster/cluster_options.hpp>
#include <distribute/net/deadline.hpp>
#include <distribute/net/message.hpp>
#include <distribute/net/socket.hpp>
#include <distribute/rpc/job_task.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

namespace distribute::data::service_internal {

/// Listens at options.bind_address, else at host:port, 0: any.
net::Listener open_port(const std::string& host, int port, const ClusterOptions& options);
/// Starts a task of the service on an open port.
std::shared_ptr<rpc::JobTask> start_task(const std::string& type, int index, net::Listener listener,
                                         const ClusterOptions& options);
/// Starts one that only dials, with a number drawn at random.
std::shared_ptr<rpc::JobTask> start_client(const ClusterOptions& options);

/// Calls methods of the dispatcher, one at a time; more callers have more of these. Thread-safe.
class DispatcherCalls {
 public:
  DispatcherCalls(std::shared_ptr<rpc::JobTask> task, std::string dispatcher, double timeout)
      : task_(std::move(task)), dispatcher_(std::move(dispatcher)), timeout_(timeout) {}

  /// Throws  what the method throws; DeadlineExceededError with the address when the dispatcher is
  ///         away for longer than the timeout; CancelledError after stop().
  template <typename Answer, typename Request>
  Answer call(const std::string& method, const Request& request) {
    return value_or_throw(
        net::parse_message<Answer>(call_bytes(method, net::encode_message(request)), "answer"));
  }
  void stop();

 private:
  std::string call_bytes(const std::string& method, const std::string& body);
  std::shared_ptr<rpc::RpcChannel> channel();

  std::shared_ptr<rpc::JobTask> task_;
  const std::string dispatcher_;
  const double timeout_;
  std::mutex mutex_;  // guards the two below
  std::shared_ptr<rpc::RpcChannel> channel_;
  bool stopped_ = false;
};

}  // namespace distribute::data::service_internal
