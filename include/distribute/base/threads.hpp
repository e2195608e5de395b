#pragma once
/// Threads that end the process with an error where they fail, and their share of the cores.

#include <distribute/base/config.hpp>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace distribute::base_internal {

/// A thread that runs `body`; `purpose` says in messages what it is for: "reading ahead". An
/// exception that leaves `body` ends the process with an error that names the purpose and with
/// exit_status(error): those that wait for the thread would wait for ever.
/// Throws  ResourceExhaustedError that names the purpose and the limits when there is no thread to
///         be had.
std::thread start_thread(std::string purpose, std::function<void()> body);

/// Up to `count` threads with the same body, for work that fewer can do as well: ends at the first
/// refusal.
void start_helpers(std::vector<std::thread>& threads, int count, const std::string& purpose,
                   const std::function<void()>& body);

}  // namespace distribute::base_internal

namespace distribute {

/// Counts the CPU time of the threads that work under it, and lets them sleep where that is more
/// than `cores` cores had given since it began. Thread-safe.
class CpuShare {
 public:
  using Seconds = std::chrono::duration<double>;
  explicit CpuShare(double cores) : cores_(cores) {}
  CpuShare(const CpuShare&) = delete;
  CpuShare& operator=(const CpuShare&) = delete;

  /// Adds CPU time that a thread has used under this share.
  void count(Seconds cpu_time);
  /// Sleeps until the time counted so far is no more than the share.
  void pause();
  /// No limit from now on; sleeping threads wake up.
  void lift();
  Seconds counted() const;

 private:
  const double cores_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable lifts_;
  Seconds counted_{0};
  bool lifted_ = false;
};

/// The calling thread works under a share, or under none (null), while this lives; from then on its
/// CPU time counts. A thread that it starts takes current() over.
class [[nodiscard]] CpuShareScope {
 public:
  explicit CpuShareScope(std::shared_ptr<CpuShare> share);
  ~CpuShareScope();
  CpuShareScope(const CpuShareScope&) = delete;
  CpuShareScope& operator=(const CpuShareScope&) = delete;

  /// The calling thread's share; null: none.
  static std::shared_ptr<CpuShare> current();
  /// For work of any length, now and then: counts what the thread has done, and pauses.
  static void pause();

 private:
  void count();

  std::shared_ptr<CpuShare> share_;
  CpuShareScope* outer_;
  CpuShare::Seconds counted_;  // of the thread's clock
};

}  // namespace distribute
