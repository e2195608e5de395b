#pragma once
/// A connection to a worker in another process, and the worker's end of it.

#include <distribute/base/config.hpp>
#include <distribute/coordinator/detail/worker_link.hpp>
#include <distribute/coordinator/detail/worker_service.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace distribute::rpc {
class JobTask;
class Peer;
class RpcChannel;
}  // namespace distribute::rpc

namespace distribute::coordinator_internal {

class RpcWorkerLink final : public WorkerLink {
 public:
  RpcWorkerLink(std::shared_ptr<rpc::JobTask> task, std::string type, int index);
  DISTRIBUTE_INLINE std::string name() const override;
  DISTRIBUTE_INLINE void connect(net::Deadline deadline) override;
  DISTRIBUTE_INLINE std::string call(const std::string& method, std::string_view body) override;
  DISTRIBUTE_INLINE void control(const std::string& method, std::string_view body,
                                 net::Deadline deadline) override;
  DISTRIBUTE_INLINE void close() override;

 private:
  struct Channels {
    std::shared_ptr<rpc::RpcChannel> calls, controls;
  };
  Channels channels() const;

  const std::shared_ptr<rpc::JobTask> task_;
  const std::string type_;
  const int index_;
  mutable std::mutex mutex_;  // guards the next two members
  Channels channels_;
  bool closed_ = false;
};

/// Returns links to all tasks of job "worker".
/// Throws  InvalidArgumentError when there is none.
std::vector<std::unique_ptr<WorkerLink>> links_to_workers(
    const std::shared_ptr<rpc::JobTask>& task);

/// Lets other tasks call the service's methods, as "coordinator/run" and so on, while it lives. The
/// last task that greets the service is its coordinator.
class ServiceMethods {
 public:
  using OnGreeting = std::function<void(const std::shared_ptr<rpc::Peer>&)>;
  ServiceMethods(std::shared_ptr<rpc::JobTask> task, WorkerService& service, OnGreeting greeted);
  ~ServiceMethods();
  ServiceMethods(const ServiceMethods&) = delete;
  ServiceMethods& operator=(const ServiceMethods&) = delete;

 private:
  std::shared_ptr<rpc::JobTask> task_;
};

}  // namespace distribute::coordinator_internal
