#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/threads.hpp>
#include <distribute/strategy/detail/replica_threads.hpp>
#include <distribute/strategy/detail/wait.hpp>

#include <cstdio>
#include <cstdlib>

#include <unistd.h>

namespace distribute::strategy_internal {

/// The argument of exit(). It is a plain number, so it outlives all static objects.
inline std::atomic<int> status_of_exit{0};

/// Runs before the destructors of static objects that were made before.
DISTRIBUTE_INLINE void note_exit(int status, void*) { status_of_exit = status; }

DISTRIBUTE_INLINE void ReplicaThreads::start() {
  for (int replica = int(threads_.size()) + 1; replica < count_; ++replica)
    threads_.push_back(base_internal::start_thread(str_cat("replica ", replica),
                                                   [this, replica] { work(replica); }));
}

DISTRIBUTE_INLINE void ReplicaThreads::work(int replica) {
  for (uint32_t run = 0;; ++run) {
    wait_while_equal(run_, run, count_);
    if (!job_) return;
    (*job_)(replica);
    if (busy_.fetch_sub(1) == 1) busy_.notify_one();
  }
}

DISTRIBUTE_INLINE void ReplicaThreads::run(const std::function<void(int)>& job) {
  // A thread that starts late finds run_ ahead of its own count and begins at once.
  if (int(threads_.size()) + 1 < count_) {
    ::on_exit(note_exit, nullptr);
    start();
  }
  running_ = true;
  job_ = &job;
  busy_ = uint32_t(count_ - 1);
  run_.fetch_add(1);
  run_.notify_all();
  job(0);
  for (uint32_t busy; (busy = busy_.load()) != 0;) wait_while_equal(busy_, busy, count_);
  running_ = false;
}

/// If exit() is called during a run it destroys a static strategy while its replicas compute and
/// wait for each other: they cannot be stopped, and the objects that they use must not be
/// destroyed.
DISTRIBUTE_INLINE ReplicaThreads::~ReplicaThreads() {
  if (running_ && !threads_.empty()) {
    std::fflush(nullptr);
    ::_exit(status_of_exit);
  }
  job_ = nullptr;
  run_.fetch_add(1);
  run_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

}  // namespace distribute::strategy_internal
