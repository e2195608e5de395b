#pragma once
/// Runs one job at a time beside the training, such as writing a checkpoint.

#include <distribute/base/config.hpp>
#include <distribute/base/threads.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <thread>

namespace distribute::checkpoint_internal {

/// Runs a job on its own thread, only while a core is idle (SCHED_IDLE), with one core for its
/// operations and, where it pauses (CpuShareScope), at most 1/64 of the machine's time, so that the
/// training is hardly slowed down. wait() lifts these limits. Thread-compatible.
class BackgroundJob {
 public:
  BackgroundJob() = default;
  BackgroundJob(const BackgroundJob&) = delete;
  BackgroundJob& operator=(const BackgroundJob&) = delete;
  /// Waits for the job; an error that no call has thrown becomes a warning on stderr.
  ~BackgroundJob();

  /// Throws  FailedPreconditionError while an earlier job has not been waited for.
  void start(std::function<void()> job);
  /// True from start() to wait().
  bool pending() const { return pending_; }
  /// Waits for the job, if there is one, and throws what it threw.
  void wait();

 private:
  void run(const std::function<void()>& job);

  bool pending_ = false;
  std::shared_ptr<CpuShare> share_;
  std::thread thread_;
  std::exception_ptr error_;  // written by the thread until it is joined
};

}  // namespace distribute::checkpoint_internal
