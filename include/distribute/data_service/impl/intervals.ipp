#pragma once
#include <distribute/data_service/detail/intervals.hpp>

#include <algorithm>

namespace distribute::data::service_internal {

DISTRIBUTE_INLINE void Intervals::add(int64_t begin, int64_t end) {
  if (begin >= end) return;
  if (!limits_.empty() && limits_.back() == begin) {  // the usual case: the next number
    limits_.back() = end;
    return;
  }
  std::vector<int64_t> merged;
  for (size_t i = 0; i + 1 < limits_.size(); i += 2) {
    const int64_t from = limits_[i], to = limits_[i + 1];
    if (to < begin || from > end) {
      merged.insert(merged.end(), {from, to});
    } else {
      begin = std::min(begin, from);
      end = std::max(end, to);
    }
  }
  auto at = merged.begin();
  while (at != merged.end() && *at < begin) at += 2;
  merged.insert(at, {begin, end});
  limits_ = std::move(merged);
}

DISTRIBUTE_INLINE void Intervals::add(const Intervals& other) {
  for (size_t i = 0; i + 1 < other.limits_.size(); i += 2)
    add(other.limits_[i], other.limits_[i + 1]);
}

DISTRIBUTE_INLINE bool Intervals::contains(int64_t number) const {
  // Inside an interval an odd number of limits is at or below the number.
  return (std::upper_bound(limits_.begin(), limits_.end(), number) - limits_.begin()) % 2 == 1;
}

DISTRIBUTE_INLINE int64_t Intervals::count() const {
  int64_t count = 0;
  for (size_t i = 0; i + 1 < limits_.size(); i += 2) count += limits_[i + 1] - limits_[i];
  return count;
}

}  // namespace distribute::data::service_internal
