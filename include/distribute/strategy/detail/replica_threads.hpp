#pragma once
/// Threads of a strategy's local replicas, kept between runs.

#include <distribute/base/config.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace distribute::strategy_internal {

/// One thread for each replica except the first, which runs on the caller's thread. Threads start
/// at the first run; one run at a time. If exit() in a run destroys this object, the process ends
/// immediately with exit's status.
class ReplicaThreads {
 public:
  explicit ReplicaThreads(int count) : count_(count) {}
  ~ReplicaThreads();
  ReplicaThreads(const ReplicaThreads&) = delete;
  ReplicaThreads& operator=(const ReplicaThreads&) = delete;

  /// Calls job(replica) for all replicas at the same time. `job` must not throw.
  /// Blocks  until all have returned.
  void run(const std::function<void(int)>& job);

 private:
  void start();
  void work(int replica);

  const int count_;
  std::vector<std::thread> threads_;
  const std::function<void(int)>* job_ = nullptr;  // null: the threads end
  std::atomic<bool> running_{false};
  alignas(64) std::atomic<uint32_t> run_{0};  // number of the run; published after job_
  alignas(64) std::atomic<uint32_t> busy_{0};
};

}  // namespace distribute::strategy_internal
