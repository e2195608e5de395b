#pragma once
#include <distribute/base/error.hpp>
#include <distribute/cluster/detail/standstill.hpp>

#include <chrono>
#include <cmath>

namespace distribute::cluster_internal {

DISTRIBUTE_INLINE double Standstill::look(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  const double seconds = std::chrono::duration<double>(now - last_).count();
  last_ = now;
  if (seconds > limit_) {
    seconds_ = seconds;
    woke_ = now;
  }
  return seconds;
}

// A peer may be found lost before the thread that looks has woken up.
DISTRIBUTE_INLINE std::string Standstill::text(Clock::time_point now) const {
  const std::lock_guard lock(mutex_);
  const auto since = [now](Clock::time_point time) {
    return std::chrono::duration<double>(now - time).count();
  };
  const double seconds = since(last_) > limit_    ? since(last_)
                         : since(woke_) <= limit_ ? seconds_
                                                  : 0;
  if (seconds == 0) return "";
  return str_cat("; this task itself stood still for ", std::round(seconds),
                 " s before that, so the others took it for lost (DISTRIBUTE_LOST_AFTER): start it "
                 "again");
}

}  // namespace distribute::cluster_internal
