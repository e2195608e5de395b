#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/threads.hpp>
#include <distribute/testing/thread_cluster.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace distribute::testing_internal {

/// The state that the threads of one run share.
struct ThreadRun {
  std::mutex mutex;  // guards what follows
  std::condition_variable ended;
  std::vector<bool> running;
  int left = 0;
  int failed_rank = -1;
  std::exception_ptr failure;
};

DISTRIBUTE_INLINE void run_rank(ThreadRun& run, int rank, const std::function<void(int)>& fn,
                                const std::function<void()>& on_failure) {
  bool first = false;
  try {
    fn(rank);
  } catch (...) {  // stored, and thrown to the caller
    const std::lock_guard lock(run.mutex);
    first = !run.failure;
    if (first) run.failure = std::current_exception(), run.failed_rank = rank;
  }
  if (first && on_failure) on_failure();
  const std::lock_guard lock(run.mutex);
  run.running[size_t(rank)] = false;
  if (--run.left == 0) run.ended.notify_all();
}

[[noreturn]] DISTRIBUTE_INLINE void rethrow_with_rank(const ThreadRun& run) {
  const std::string rank = str_cat("rank ", run.failed_rank, ": ");
  try {
    std::rethrow_exception(run.failure);
  } catch (const Error& error) {
    throw_error(error.code(), rank + error.what());
  } catch (const std::exception& error) {
    throw UnknownError(rank + error.what());
  }
}

/// Lists the running ranks as "1, 3".
DISTRIBUTE_INLINE std::string running_ranks(const ThreadRun& run) {
  std::string ranks;
  for (size_t rank = 0; rank < run.running.size(); ++rank)
    if (run.running[rank]) ranks += (ranks.empty() ? "" : ", ") + std::to_string(rank);
  return ranks;
}

[[noreturn]] DISTRIBUTE_INLINE void abort_stuck(const ThreadRun& run, double seconds) {
  const auto tell = [](const auto&... words) {
    log(LogSeverity::Fatal, "testing", str_cat("run_on_threads: ", words...));
  };
  tell("after ", seconds, " s these ranks have not returned: ", running_ranks(run));
  try {
    if (run.failure) rethrow_with_rank(run);
  } catch (const std::exception& error) {
    tell("the first failure was ", error.what());
  } catch (...) {  // the exception has no text
    tell("rank ", run.failed_rank, " failed before");
  }
  std::abort();
}

}  // namespace distribute::testing_internal

namespace distribute::testing {

/// Starts the thread of a rank; if that fails, the rank fails.
DISTRIBUTE_INLINE void start_rank(std::vector<std::thread>& threads,
                                  testing_internal::ThreadRun& run, int rank,
                                  const std::function<void(int)>& fn,
                                  const std::function<void()>& on_failure) {
  try {
    threads.push_back(base_internal::start_thread(
        str_cat("rank ", rank),
        [&run, &fn, &on_failure, rank] { testing_internal::run_rank(run, rank, fn, on_failure); }));
  } catch (const ResourceExhaustedError& refused) {
    testing_internal::run_rank(
        run, rank, [&](int) { throw refused; }, on_failure);
  }
}

DISTRIBUTE_INLINE void run_on_threads(int ranks, const std::function<void(int)>& fn,
                                      const ThreadClusterOptions& options) {
  using namespace testing_internal;
  if (ranks < 1)
    throw InvalidArgumentError(str_cat("a cluster has at least one rank, not ", ranks));
  ThreadRun run;
  run.left = ranks;
  run.running.assign(size_t(ranks), true);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) start_rank(threads, run, rank, fn, options.on_failure);
  {
    std::unique_lock lock(run.mutex);
    if (!run.ended.wait_for(lock, std::chrono::duration<double>(options.deadline_seconds),
                            [&] { return run.left == 0; }))
      abort_stuck(run, options.deadline_seconds);
  }
  for (std::thread& thread : threads) thread.join();
  if (run.failure) rethrow_with_rank(run);
}

}  // namespace distribute::testing
