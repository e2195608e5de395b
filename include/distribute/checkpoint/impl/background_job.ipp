#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/checkpoint/background_job.hpp>
#include <distribute/strategy/all_workers.hpp>

#include <cstdio>
#include <utility>

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace distribute::checkpoint_internal {

DISTRIBUTE_INLINE BackgroundJob::~BackgroundJob() {
  try {
    wait();
  } catch (...) {
    const auto [code, message] = strategy_internal::describe_failure(std::current_exception());
    log_warning("checkpoint", concat("a checkpoint was not written: ", message));
  }
}

DISTRIBUTE_INLINE void BackgroundJob::start(std::function<void()> job) {
  if (pending_) throw FailedPreconditionError("the job in the background has not been waited for");
  pending_ = true;
  if (job) thread_ = std::thread([this, job = std::move(job)] { run(job); });
}

/// On Linux a thread has a priority of its own; without the right to set it nothing is lost.
DISTRIBUTE_INLINE void BackgroundJob::run(const std::function<void()>& job) {
  (void)::setpriority(PRIO_PROCESS, id_t(::syscall(SYS_gettid)), 19);
  set_intra_op_threads(1);
  try {
    job();
  } catch (...) {
    error_ = std::current_exception();
  }
}

DISTRIBUTE_INLINE void BackgroundJob::wait() {
  pending_ = false;
  if (thread_.joinable()) thread_.join();
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

}  // namespace distribute::checkpoint_internal
