#pragma once
/// The thread that sends functions to one worker, and handles its loss.

#include <distribute/base/config.hpp>
#include <distribute/coordinator/detail/closure_queue.hpp>
#include <distribute/coordinator/detail/worker_link.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace distribute::coordinator_internal {

class WorkerPool;
struct Outcome;

/// Sends functions to one worker. It lives as long as its pool.
class WorkerThread {
 public:
  WorkerThread(WorkerPool& pool, int worker, std::unique_ptr<WorkerLink> link);
  ~WorkerThread() { join(); }
  WorkerThread(const WorkerThread&) = delete;
  WorkerThread& operator=(const WorkerThread&) = delete;

  void start();
  /// Closes the connection, which ends the thread, when the pool stops.
  void close() { link_->close(); }
  void join();
  /// Asks the running function to end. The thread notices errors itself.
  void cancel_current();
  void finish();

  std::string name() const { return link_->name(); }
  /// Returns "worker 1: train_step for 12 s"; "" when nothing runs.
  std::string doing() const;
  bool busy() const { return last_id_ > done_id_; }

 private:
  void run();
  bool connect(double patience);
  bool greet_once();
  void delay_start() const;
  bool process(const ClosureQueue::Taken& taken);
  Outcome run_remotely(const Closure& closure);
  void settle(const ClosureQueue::Taken& taken, const Outcome& outcome);
  void fail(const ClosureQueue::Taken& taken, const std::exception_ptr& error);
  void give_back(const ClosureQueue::Taken& taken);
  void cancelled(const ClosureQueue::Taken& taken);
  bool recover(const std::string& why);
  bool stopping() const;

  WorkerPool& pool_;
  const int worker_;
  std::unique_ptr<WorkerLink> link_;
  uint64_t generation_ = 0;
  std::atomic<uint64_t> last_id_{0}, done_id_{0};
  mutable std::mutex mutex_;  // guards the next two members
  std::string label_;
  std::chrono::steady_clock::time_point since_{};
  std::thread thread_;
};

}  // namespace distribute::coordinator_internal
