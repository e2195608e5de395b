#pragma once
/// Threads: how they start, which share of the cores they have, how their work is cancelled, and
/// writes to a closed pipe.

#include <distribute/base/config.hpp>

#include <signal.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace distribute::base_internal {

/// Starts a thread that runs `body`; `purpose`, such as "reading ahead", names it in messages. An
/// exception that leaves `body` ends the process with an error that names the purpose and with
/// exit_status(error), as threads that wait for this one would wait for ever.
/// Throws  ResourceExhaustedError that names the purpose and the limits when no thread can be made.
std::thread start_thread(std::string purpose, std::function<void()> body);

/// Starts up to `count` threads with the same body, for work that fewer threads can do as well: it
/// stops when no thread can be made.
void start_helpers(std::vector<std::thread>& threads, int count, const std::string& purpose,
                   const std::function<void()>& body);

}  // namespace distribute::base_internal

namespace distribute {

/// Counts the CPU time of the threads that belong to it, and lets them sleep if that is more than
/// `cores` cores had given since it began. Thread-safe.
class CpuShare {
 public:
  using Seconds = std::chrono::duration<double>;
  explicit CpuShare(double cores) : cores_(cores) {}
  CpuShare(const CpuShare&) = delete;
  CpuShare& operator=(const CpuShare&) = delete;

  /// Adds CPU time that a thread has used under this share.
  void count(Seconds cpu_time);
  /// Sleeps until the counted time is no more than the share.
  void pause();
  /// Removes the limit; sleeping threads wake up.
  void lift();
  Seconds counted() const;

 private:
  const double cores_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable lifts_;
  Seconds counted_{0};
  bool lifted_ = false;
};

/// Assigns the calling thread to a share, or to none (null), while it lives; from then on its CPU
/// time counts. A thread that it starts can pass current() on.
class [[nodiscard]] CpuShareScope {
 public:
  explicit CpuShareScope(std::shared_ptr<CpuShare> share);
  ~CpuShareScope();
  CpuShareScope(const CpuShareScope&) = delete;
  CpuShareScope& operator=(const CpuShareScope&) = delete;

  /// Returns the calling thread's share; null if there is none.
  static std::shared_ptr<CpuShare> current();
  /// Counts the time of the thread, and pauses; work of any length calls it from time to time.
  static void pause();

 private:
  void count();

  std::shared_ptr<CpuShare> share_;
  CpuShareScope* outer_;
  CpuShare::Seconds counted_;  // of the thread's clock
};

/// Any thread sets it to end the work.
using CancellationFlag = std::atomic<bool>;

/// Lets `flag`, which must live as long, cancel the calling thread's work until the end of the
/// scope; null protects the work from cancellation.
/// Source  tf.cancellation.CancellationManagerContext
class [[nodiscard]] CancellationScope {
 public:
  explicit CancellationScope(const CancellationFlag* flag);
  ~CancellationScope();
  CancellationScope(const CancellationScope&) = delete;
  CancellationScope& operator=(const CancellationScope&) = delete;

 private:
  const CancellationFlag* outer_;
};

bool is_cancelled();  // whether this thread's work must end

/// For long loops; it is also called when the next element of a dataset is read.
/// Throws  CancelledError when the calling thread's work is cancelled.
void throw_if_cancelled();

}  // namespace distribute

namespace distribute::base_internal {

/// Blocks SIGPIPE for this thread while it lives: the system call returns EPIPE. It is for writes
/// without MSG_NOSIGNAL, such as those of OpenSSL inside of libcurl. One thread.
class PipeSignalBlock {
 public:
  PipeSignalBlock();
  /// Discards a signal that has come meanwhile.
  ~PipeSignalBlock();
  PipeSignalBlock(const PipeSignalBlock&) = delete;

 private:
  sigset_t before_;
};

}  // namespace distribute::base_internal
