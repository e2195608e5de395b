#pragma once
/// Workers of a coordinator as threads of the test: they run functions, die, and come back.

#include <distribute/coordinator/cluster_coordinator.hpp>
#include <distribute/coordinator/detail/worker_pool.hpp>
#include <distribute/coordinator/detail/worker_service.hpp>
#include <distribute/strategy/one_device_strategy.hpp>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace thread_workers {

using namespace distribute;                        // NOLINT: tests only
using namespace distribute::coordinator_internal;  // NOLINT

/// One worker: a service with the thread that serves, as long as it lives.
class Worker {
 public:
  Worker(int index, WorkerServiceOptions options)
      : name_("worker " + std::to_string(index)), options_(std::move(options)) {
    options_.name = name_;
  }
  ~Worker() { kill(); }

  void start() {
    const std::lock_guard lock(mutex_);
    service_ = std::make_shared<WorkerService>(options_);
    thread_ = std::thread([service = service_] { service->serve(); });
    changed_.notify_all();
  }
  /// Calls fail at once; the function that runs goes on without a coordinator.
  void kill() {
    std::shared_ptr<WorkerService> gone;
    {
      const std::lock_guard lock(mutex_);
      gone = std::exchange(service_, nullptr);
      changed_.notify_all();
    }
    if (!gone) return;
    gone->cancel_running();
    gone->stop();
    thread_.join();
  }
  void restart() { kill(), start(); }

  const std::string& name() const { return name_; }
  std::shared_ptr<WorkerService> service() const {
    const std::lock_guard lock(mutex_);
    return service_;
  }
  void check(const std::shared_ptr<WorkerService>& one) const {
    const std::lock_guard lock(mutex_);
    if (!one || one != service_) throw UnavailableError(name_ + " is gone");
  }

 private:
  const std::string name_;
  WorkerServiceOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<WorkerService> service_;
  std::thread thread_;
};

class Link final : public WorkerLink {
 public:
  explicit Link(std::shared_ptr<Worker> worker) : worker_(std::move(worker)) {}
  std::string name() const override { return worker_->name() + " (thread)"; }
  void connect(net::Deadline) override {
    if (closed_) throw AbortedError("closed");
    auto now = worker_->service();
    worker_->check(now);
    const std::lock_guard lock(mutex_);
    service_ = std::move(now);
  }
  std::string call(const std::string& method, std::string_view body) override {
    const auto service = reached();
    std::string answer;
    try {
      answer = service->handle(method, body);
    } catch (const CancelledError& error) {
      throw UnavailableError(error.what());
    }
    worker_->check(service);  // an answer of the dead does not arrive
    return answer;
  }
  void control(const std::string& method, std::string_view body, net::Deadline) override {
    reached()->handle(method, body);
  }
  void close() override {
    closed_ = true;
    const std::lock_guard lock(mutex_);
    if (service_) service_->cancel_running();
  }

 private:
  std::shared_ptr<WorkerService> reached() const {
    if (closed_) throw AbortedError("closed");
    const std::lock_guard lock(mutex_);
    worker_->check(service_);
    return service_;
  }
  std::shared_ptr<Worker> worker_;
  mutable std::mutex mutex_;
  std::shared_ptr<WorkerService> service_;
  std::atomic<bool> closed_{false};
};

/// A coordinator with `count` of them.
struct Cluster {
  explicit Cluster(int count, CoordinatorOptions options = {}, WorkerServiceOptions service = {}) {
    for (int i = 0; i < count; ++i) {
      workers.push_back(std::make_shared<Worker>(i, service));
      workers.back()->start();
    }
    coordinator = std::make_unique<ClusterCoordinator>(core(std::move(options)));
  }
  std::shared_ptr<CoordinatorCore> core(CoordinatorOptions options) {
    if (!options.log) options.log = [this](const std::string& line) { log(line); };
    return CoordinatorCore::of(strategy, [&] {
      std::vector<std::unique_ptr<WorkerLink>> links;
      for (const auto& worker : workers) links.push_back(std::make_unique<Link>(worker));
      auto pool = std::make_shared<WorkerPool>(std::move(links), options);
      pool->start();
      made = pool;
      return std::make_shared<CoordinatorCore>(strategy, pool);
    });
  }
  WorkerPool& pool() { return *made.lock(); }
  void log(const std::string& line) {
    const std::lock_guard lock(log_mutex);
    lines += line + "\n";
  }
  std::string logged() {
    const std::lock_guard lock(log_mutex);
    return lines;
  }

  OneDeviceStrategy strategy;
  std::weak_ptr<WorkerPool> made;
  std::mutex log_mutex;
  std::string lines;
  std::vector<std::shared_ptr<Worker>> workers;
  std::unique_ptr<ClusterCoordinator> coordinator;
};

}  // namespace thread_workers
