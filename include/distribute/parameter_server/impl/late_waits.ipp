#pragma once
#include <distribute/base/error.hpp>
#include <distribute/cluster/detail/line_times.hpp>
#include <distribute/parameter_server/detail/late_waits.hpp>

#include <cmath>
#include <utility>
#include <vector>

namespace distribute::parameter_server {

struct LateWait {
  using Clock = std::chrono::steady_clock;

  LateWait(LateWaits::What the_what, double the_limit)
      : what(std::move(the_what)), limit(the_limit) {}
  double seconds() const { return std::chrono::duration<double>(Clock::now() - began).count(); }

  const LateWaits::What what;
  const double limit;
  const Clock::time_point began = Clock::now();
  double next_line = cluster_internal::next_line_after(0);  // used by the thread of LateWaits
};

DISTRIBUTE_INLINE LateWaits::Wait::Wait(LateWaits& all, double limit, What what) : all_(all) {
  auto wait = std::make_shared<LateWait>(std::move(what), limit);
  const std::lock_guard lock(all_.mutex_);
  if (!all_.watch_) all_.watch_.emplace("long waits for other tasks", [&all] { all.look(); });
  place_ = all_.waits_.insert(all_.waits_.end(), std::move(wait));
}

DISTRIBUTE_INLINE LateWaits::Wait::~Wait() {
  const std::lock_guard lock(all_.mutex_);
  all_.waits_.erase(place_);
}

DISTRIBUTE_INLINE void LateWaits::look() {
  std::vector<std::shared_ptr<LateWait>> late;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& wait : waits_)
      if (wait->seconds() >= wait->next_line) late.push_back(wait);
  }
  for (const auto& wait : late) tell(*wait);
}

/// Says nothing when the question fails: the wait itself then fails, too, and says why.
DISTRIBUTE_INLINE void LateWaits::tell(LateWait& wait) const {
  const double seconds = wait.seconds();
  wait.next_line = cluster_internal::next_line_after(seconds);
  std::string what;
  try {
    what = wait.what();
  } catch (const Error&) {
    return;
  }
  if (what.empty()) return;
  task_->options().print(str_cat(task_->self().text(), " has waited for ", std::floor(seconds),
                                 " s for ", what, ". It ends after ", wait.limit, " s"));
}

}  // namespace distribute::parameter_server
