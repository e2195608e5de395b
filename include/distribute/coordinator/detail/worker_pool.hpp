#pragma once
/// All workers of a coordinator: the queue, the resources on the workers, and a thread for each.

#include <distribute/base/config.hpp>
#include <distribute/coordinator/cluster_coordinator.hpp>
#include <distribute/coordinator/detail/closure_queue.hpp>
#include <distribute/coordinator/detail/outcome.hpp>
#include <distribute/coordinator/detail/worker_link.hpp>
#include <distribute/coordinator/detail/worker_service.hpp>

#include <condition_variable>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace distribute::coordinator_internal {

class WorkerThread;

/// Runs closures on workers. Thread-safe.
class WorkerPool {
 public:
  /// `functions` are borrowed; null stands for this process's.
  WorkerPool(std::vector<std::unique_ptr<WorkerLink>> links, CoordinatorOptions options,
             const Registry* functions = nullptr);
  /// Stops all threads; closures that are queued or in flight are cancelled.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Connects to all workers, and prints the missing ones.
  /// Blocks  until all are there, or CoordinatorOptions::min_workers.
  /// Throws  UnavailableError that names the missing; InvalidArgumentError when a worker has
  ///          registered other functions.
  void start();
  /// Queues a closure.
  /// Throws  InvalidArgumentError for per-worker values that are not one per worker; as
  ///          ClosureQueue::put.
  void schedule(ClosurePtr closure);
  ClosureQueue& queue() { return *queue_; }
  int num_workers() const { return int(threads_.size()); }
  /// Returns the number of workers that are connected now.
  int num_live_workers() const;

  /// Makes a resource on every worker, and again on one that has started anew.
  std::shared_ptr<const WorkerResource> make_resource(const std::string& label, Recipe recipe,
                                                      std::shared_ptr<const WorkerResource> base);

  /// Makes every further call throw `error`, when nothing can continue.
  void break_for_good(std::exception_ptr error) { queue_->break_for_good(std::move(error)); }
  /// Tells the workers that the job is done; nothing may be scheduled afterwards.
  void finish();

 private:
  friend class WorkerThread;
  /// The workers' threads call these:
  void on_connected(int worker);
  void on_refused(std::exception_ptr error);
  void on_given_up(const std::string& why);
  void forget_resources(int worker, const std::exception_ptr& why);
  void rebuild_resources(int worker);
  /// Whether an error of a parameter server, or a deadline, counts as temporary.
  bool ignore(const Outcome& outcome);

  static void release(ClosureQueue& queue, const WorkerResource& gone);
  ClosurePtr closure_for(const std::shared_ptr<const WorkerResource>& resource, int worker) const;
  std::string missing() const;
  bool enough() const;
  bool all_settled() const;
  void cancel_in_flight();
  void watch();
  std::string in_flight() const;

  const CoordinatorOptions options_;
  const Registry& functions_;
  const uint64_t session_;
  const std::shared_ptr<ClosureQueue> queue_;
  mutable std::mutex mutex_;  // guards the rest
  std::condition_variable changed_;
  std::vector<bool> connected_;
  std::exception_ptr refused_;
  int given_up_ = 0;
  std::string given_up_why_;
  bool stopping_ = false;
  uint64_t next_serial_ = 1;
  std::vector<std::weak_ptr<const WorkerResource>> resources_;  // in the order they were made
  std::map<int, int> ps_failures_;                              // by number of the server
  int timeouts_ = 0;
  std::vector<std::unique_ptr<WorkerThread>> threads_;
  std::thread watchdog_;
};

}  // namespace distribute::coordinator_internal
