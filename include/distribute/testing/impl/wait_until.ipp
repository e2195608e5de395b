#pragma once
#include <distribute/base/error.hpp>
#include <distribute/net/deadline.hpp>
#include <distribute/testing/thread_cluster.hpp>

#include <chrono>
#include <thread>

namespace distribute::testing {

DISTRIBUTE_INLINE void wait_until(const std::function<bool()>& predicate, const std::string& what,
                                  double seconds) {
  const auto deadline = net::Deadline::after_seconds(seconds);
  while (!predicate()) {
    if (deadline.passed())
      throw DeadlineExceededError(str_cat("waited ", seconds, " s until ", what));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace distribute::testing
