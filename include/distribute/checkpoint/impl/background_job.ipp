#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/limits.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/base/threads.hpp>
#include <distribute/checkpoint/detail/background_job.hpp>
#include <distribute/strategy/detail/all_workers.hpp>

#include <algorithm>
#include <cstdio>
#include <utility>

#include <pthread.h>
#include <sched.h>

namespace distribute::checkpoint_internal {

DISTRIBUTE_INLINE BackgroundJob::~BackgroundJob() {
  try {
    wait();
  } catch (...) {
    const auto [code, message] = strategy_internal::describe_failure(std::current_exception());
    log_warning("checkpoint", str_cat("a checkpoint was not written: ", message));
  }
}

/// SCHED_IDLE: the thread, and those that it starts, run only on idle cores. Unlike a thread of the
/// lowest priority it gives the core at once to a thread of training that has waited. Every process
/// may ask for it; back to SCHED_OTHER takes CAP_SYS_NICE or RLIMIT_NICE, without which nothing
/// happens.
DISTRIBUTE_INLINE void set_policy(pthread_t thread, int policy) {
  const sched_param none{};
  (void)::pthread_setschedparam(thread, policy, &none);
}

DISTRIBUTE_INLINE void BackgroundJob::start(std::function<void()> job) {
  if (pending_) throw FailedPreconditionError("the job in the background has not been waited for");
  if (!job) {
    pending_ = true;
    return;
  }
  constexpr double kShare = 1.0 / 64;
  share_ = std::make_shared<CpuShare>(kShare * core_limits().usable());
  thread_ = base_internal::start_thread("writing a checkpoint in the background",
                                        [this, job = std::move(job)] { run(job); });
  pending_ = true;
  set_policy(thread_.native_handle(), SCHED_IDLE);
}

DISTRIBUTE_INLINE void BackgroundJob::run(const std::function<void()>& job) {
  set_intra_op_threads(1);
  const CpuShareScope limited(share_);
  try {
    job();
  } catch (...) {
    error_ = std::current_exception();
  }
}

DISTRIBUTE_INLINE void BackgroundJob::wait() {
  pending_ = false;
  if (thread_.joinable()) {
    share_->lift();  // the result is wanted now
    set_policy(thread_.native_handle(), SCHED_OTHER);
    thread_.join();
  }
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

}  // namespace distribute::checkpoint_internal
