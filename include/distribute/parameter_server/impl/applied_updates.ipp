#pragma once
#include <distribute/parameter_server/detail/applied_updates.hpp>

namespace distribute::parameter_server {

DISTRIBUTE_INLINE bool AppliedUpdates::add(const UpdateOrigin& origin,
                                           const StoredVariable* variable, int part) {
  if (origin.function == 0) return true;
  const std::lock_guard lock(mutex_);
  const auto [place, is_new] = known_.emplace(origin, variable, part);
  if (!is_new) return false;
  by_age_.push_back(place);
  if (by_age_.size() > capacity_) {
    known_.erase(by_age_.front());
    by_age_.pop_front();
  }
  return true;
}

DISTRIBUTE_INLINE bool AppliedUpdates::contains(const UpdateOrigin& origin,
                                                const StoredVariable* variable) const {
  if (origin.function == 0) return false;
  const std::lock_guard lock(mutex_);
  return known_.contains({origin, variable, 0});
}

DISTRIBUTE_INLINE AppliedUpdates::Applying::Applying(AppliedUpdates& all,
                                                     const UpdateOrigin& origin)
    : all_(all), origin_(origin) {
  if (origin.function == 0) return;
  const std::lock_guard lock(all_.mutex_);
  ++all_.under_way_[origin];
}

DISTRIBUTE_INLINE AppliedUpdates::Applying::~Applying() {
  if (origin_.function == 0) return;
  const std::lock_guard lock(all_.mutex_);
  const auto place = all_.under_way_.find(origin_);
  if (--place->second > 0) return;
  all_.under_way_.erase(place);
  all_.ended_.notify_all();
}

DISTRIBUTE_INLINE void AppliedUpdates::wait_until_applied(const UpdateOrigin& origin) {
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [&] { return !under_way_.contains(origin); });
}

}  // namespace distribute::parameter_server
