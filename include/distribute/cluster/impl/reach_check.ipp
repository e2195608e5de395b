#pragma once
#include <distribute/base/threads.hpp>
#include <distribute/cluster/detail/reach_check.hpp>

#include <algorithm>
#include <utility>

namespace distribute::cluster_internal {

inline constexpr const char* kLookAtOthers = "a look at who can be reached";

DISTRIBUTE_INLINE void ReachCheck::begin(std::vector<int> ranks, double seconds, Try try_once,
                                         Done done) {
  if (stopping_ || running_.exchange(true)) return;
  for (std::thread& thread : thread_) thread.join();
  thread_.clear();
  base_internal::start_helpers(thread_, 1, kLookAtOthers,
                               [this, ranks = std::move(ranks), seconds,
                                try_once = std::move(try_once), done = std::move(done)] {
                                 const UnreachedRanks unreached = look(ranks, seconds, try_once);
                                 running_ = false;
                                 if (!stopping_) done(unreached);
                               });
  if (thread_.empty()) running_ = false;
}

DISTRIBUTE_INLINE void ReachCheck::stop() {
  stopping_ = true;
  for (std::thread& thread : thread_) thread.join();
  thread_.clear();
}

/// Checks several tasks at a time, as each that does not answer takes the whole time.
DISTRIBUTE_INLINE UnreachedRanks ReachCheck::look(const std::vector<int>& ranks, double seconds,
                                                  const Try& try_once) const {
  constexpr int kThreads = 32;
  std::vector<char> reached(ranks.size());
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < ranks.size(); i = next++)
      reached[i] = char(reaches(ranks[i], seconds, try_once));
  };
  std::vector<std::thread> helpers;
  base_internal::start_helpers(helpers, std::min(kThreads, int(ranks.size()) - 1), kLookAtOthers,
                               work);
  work();
  for (std::thread& helper : helpers) helper.join();
  UnreachedRanks unreached;
  for (size_t i = 0; i < ranks.size(); ++i)
    if (!reached[i]) unreached.push_back(ranks[i]);
  return unreached;
}

/// Connects anew at each try, as the system repeats ever more rarely within one.
DISTRIBUTE_INLINE bool ReachCheck::reaches(int rank, double seconds, const Try& try_once) const {
  const auto deadline = net::Deadline::after_seconds(seconds);
  while (!stopping_ && !deadline.passed()) {
    if (try_once(rank, deadline.earlier(net::Deadline::after_seconds(1)))) return true;
    const auto pause = deadline.earlier(net::Deadline::after_seconds(0.1));
    std::this_thread::sleep_for(pause.left());
  }
  return stopping_;
}

}  // namespace distribute::cluster_internal
