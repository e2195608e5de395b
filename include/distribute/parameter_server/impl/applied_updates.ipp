#pragma once
#include <distribute/parameter_server/applied_updates.hpp>

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

}  // namespace distribute::parameter_server
