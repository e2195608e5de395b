#pragma once
#include <distribute/coordinator/detail/closure_queue.hpp>
#include <distribute/coordinator/detail/rpc_worker_link.hpp>
#include <distribute/rpc/job_task.hpp>

#include <utility>

namespace distribute::coordinator_internal {

inline constexpr const char* kServiceMethods[] = {"hello",   "run",    "make",
                                                  "release", "cancel", "finish"};

DISTRIBUTE_INLINE std::string service_method(const std::string& name) {
  return "coordinator/" + name;
}

DISTRIBUTE_INLINE RpcWorkerLink::RpcWorkerLink(std::shared_ptr<rpc::JobTask> task, std::string type,
                                               int index)
    : task_(std::move(task)), type_(std::move(type)), index_(index) {}

DISTRIBUTE_INLINE std::string RpcWorkerLink::name() const { return task_->describe(type_, index_); }

DISTRIBUTE_INLINE void RpcWorkerLink::connect(net::Deadline deadline) {
  Channels fresh{task_->connect(type_, index_, deadline), nullptr};
  fresh.controls = task_->connect(type_, index_, deadline);
  const std::lock_guard lock(mutex_);
  if (closed_) throw AbortedError("the coordinator has stopped");
  channels_ = std::move(fresh);
}

DISTRIBUTE_INLINE RpcWorkerLink::Channels RpcWorkerLink::channels() const {
  const std::lock_guard lock(mutex_);
  if (closed_ || !channels_.calls) throw AbortedError(name() + " is not connected");
  return channels_;
}

DISTRIBUTE_INLINE std::string RpcWorkerLink::call(const std::string& method,
                                                  std::string_view body) {
  return channels().calls->call(service_method(method), body, net::Deadline::never());
}

DISTRIBUTE_INLINE void RpcWorkerLink::control(const std::string& method, std::string_view body,
                                              net::Deadline deadline) {
  channels().controls->call(service_method(method), body, deadline);
}

DISTRIBUTE_INLINE void RpcWorkerLink::close() {
  Channels gone;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    gone = std::exchange(channels_, {});
  }
  if (gone.calls) gone.calls->close();
  if (gone.controls) gone.controls->close();
}

DISTRIBUTE_INLINE std::vector<std::unique_ptr<WorkerLink>> links_to_workers(
    const std::shared_ptr<rpc::JobTask>& task) {
  std::vector<std::unique_ptr<WorkerLink>> links;
  if (task->cluster().has_job("worker"))
    for (const int index : task->cluster().task_indices("worker"))
      links.push_back(std::make_unique<RpcWorkerLink>(task, "worker", index));
  if (links.empty()) throw InvalidArgumentError("There must be at least one worker.");
  return links;
}

DISTRIBUTE_INLINE ServiceMethods::ServiceMethods(std::shared_ptr<rpc::JobTask> task,
                                                 WorkerService& service, OnGreeting greeted)
    : task_(std::move(task)) {
  for (const std::string name : kServiceMethods) {
    const bool hello = name == "hello";
    task_->rpc().add(service_method(name), [&service, greeted, name, hello](const rpc::Call& call) {
      if (hello && greeted) greeted(call.shared_peer());  // also when it is turned away: it came
      try {
        return service.handle(name, call.body());
      } catch (const InvalidArgumentError&) {  // another program: no coordinator's return helps
        if (hello) service.stop(std::current_exception());
        throw;
      }
    });
  }
}

DISTRIBUTE_INLINE ServiceMethods::~ServiceMethods() {
  for (const std::string name : kServiceMethods) task_->rpc().remove(service_method(name));
}

}  // namespace distribute::coordinator_internal
